/*
 * Biases take over what rounding weights does to the mean of a layer's result. The errors of a
 * channel's rounded weights times the mean of what they are multiplied with is a constant; it goes
 * into the bias, and only what varies around it is left. Edits biases of the float model.
 */
#ifndef BY_BIAS_CORRECT_H
#define BY_BIAS_CORRECT_H

#include "base/par.h"
#include "ir/tensor.h"
#include "quant/plan.h"

/* A value that layers read. Means of its channels (axis 1) are the caller's to fill in, and sizes
 * that the model leaves open as far as samples tell them. */
struct by_bias_input {
    const char *name;
    size_t channels;
    double *means;
    size_t rank;               /* 0: unknown */
    int64_t dims[BY_RANK_MAX]; /* -1: open */
};

struct by_bias_layer {
    struct baryon_node *node;
    size_t weight, bias; /* rows; bias BY_NO_ROW: it stays float */
    size_t input;        /* place among the inputs */
};

struct by_bias_job {
    struct by_arena arena;
    struct by_bias_input *inputs;
    size_t input_count;
    struct by_bias_layer *layers;
    size_t layer_count;
};

/* Of so many outputs, and theirs alone: nobody else reads it, and nobody can give another one. */
bool by_bias_is_own(const struct baryon_value *bias, size_t outs);
/* Layers with weights of 8 bits or less and a bias of their own. Whatever comes out,
 * by_bias_close() goes with it. */
int by_bias_survey(struct by_quant_plan *plan, struct by_bias_job *job, struct baryon_error *err);
/* The plan has its final parameters. Biases with scales of their own get new ones, which rules of
 * hardware have to look at again. */
int by_bias_correct(struct by_quant_plan *plan, const struct by_bias_job *job, struct by_pool *pool,
                    struct baryon_error *err);
void by_bias_close(struct by_bias_job *job);

#endif
