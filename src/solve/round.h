/*
 * One layer's rounding: integers whose outputs are nearest to those of the float layer, for what
 * the layer reads in the quantized model, and the bias with them.
 */
#ifndef BY_ROUND_H
#define BY_ROUND_H

#include "solve/round_behind.h"

struct by_round_options {
    /* Of what the layer is to give, the share that its float weights give on what it reads now;
     * the rest is what it gave in the float model. */
    double mix;
    /* Of the mean of it, too, which the bias takes: else that is all of what the layer gave. */
    bool mixes_means;
    double damping;    /* share of the mean of the Gram matrix's diagonal */
    bool free;         /* integers may leave the two next to the weights */
    bool fixed_biases; /* are not solved, and what the activation behind sees does not count */
    bool gptq;         /* begin with its integers, which may be far from the weights */
    unsigned starts;   /* of descent, the best of which counts; 0 is 1 */
    uint64_t lots;     /* the seed of further starts */
    /* Iterations of the relaxation that there is in place of descent; 0: descent. */
    unsigned relaxation;
    /* Shows the layer all samples again; NULL: what the activation behind sees does not count. */
    int (*look)(void *context, struct by_round_behind *behind, struct baryon_error *err);
    void *context;
    bool scales; /* those of weights are solved as well */
};

/* Weights and biases as one of the models has them. by_round_choice_release() frees it. */
struct by_round_choice {
    int32_t *integers; /* [groups][outs][columns] */
    float *scales;     /* [groups][outs][groups of columns]; NULL: those of the plan */
    float *weights;    /* what they mean, in the same order */
    float *biases;     /* [groups * outs]; NULL: the layer has none */
};

void by_round_choice_release(struct by_round_choice *choice);
/* False where the weight's parameters are none that its columns can be rounded with. */
bool by_round_can(const struct by_quant_plan *plan, const struct by_round_layer *layer);
/* Its weights become floats of fewer bits or blocks: the plan keeps values for them. */
bool by_round_has_grid(const struct by_quant_plan *plan, const struct by_round_layer *layer);
/* False where such weights have NaN or infinity, beside which nothing else counts. */
int by_round_is_finite(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                       bool *finite, struct baryon_error *err);
/* The float weights and biases themselves; no integers. */
int by_round_exact(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                   struct by_round_choice *choice, struct baryon_error *err);
/* Nearest integers, biases as they are. */
int by_round_nearest(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                     struct by_pool *pool, struct by_round_choice *choice,
                     struct baryon_error *err);
/* By descent, from the nearest integers or those of GPTQ, or by relaxation. moments: finished,
 * centred where the layer has a bias; they are used up. scaled: the same with other scales, where
 * options ask for them; else it may be NULL and stays as it is. */
int by_round_solve(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                   struct by_round_moments *moments, const struct by_round_options *options,
                   struct by_pool *pool, struct by_round_choice *choice,
                   struct by_round_choice *scaled, struct baryon_error *err);

/* Biases become what they are going to be. by_round_solve() has done it, but for those whose scales
 * follow from scales of the choice, which the plan has to have first. */
int by_round_quantize_biases(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                             struct by_pool *pool, float *biases, struct baryon_error *err);

/* Squared errors of choices, added up sample by sample. */
struct by_round_errors {
    const struct by_round_choice *choices;
    size_t count;
    double *noise; /* by choice */
    double signal; /* energy of the output */
};

int by_round_errors_look(struct by_round_errors *errors, struct by_round_scratch *scratch,
                         const struct by_round_layer *layer, const struct by_array *x,
                         const struct by_array *y, uint64_t sample, struct baryon_error *err);

/* Scales that a choice has, if it has any. */
size_t by_round_scale_count(const struct by_quant_plan *plan, const struct by_round_layer *layer);
/* The choice's scales in the order of the weight's parameters. */
void by_round_scales(const struct by_quant_plan *plan, const struct by_round_layer *layer,
                     const struct by_round_choice *choice, float *scales);
/* The plan's row and the float model's bias become the choice's. */
int by_round_take(struct by_quant_plan *plan, const struct by_round_layer *layer,
                  const struct by_round_choice *choice, struct by_pool *pool,
                  struct baryon_error *err);

#endif
