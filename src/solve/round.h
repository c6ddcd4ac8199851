/*
 * One layer's rounding: integers whose outputs are nearest to those of the float layer, for what
 * the layer reads in the quantized model, and the bias with them. The layer is a target, arrays
 * alone (solve/round_target.h); samples are added to its moments (solve/round_moments.h).
 */
#ifndef BY_ROUND_H
#define BY_ROUND_H

#include "solve/round_behind.h"

struct by_round_options {
    /* Of what the layer is to give, the share that its float weights give on what it reads now;
     * the rest is what it gave in the float model. The mean of it, which the bias takes, is all of
     * what the layer gave, but where weights have steps of their own (held). */
    double mix;
    double damping;    /* share of the mean of the Gram matrix's diagonal */
    bool free;         /* integers may leave the two next to the weights */
    bool fixed_biases; /* are not solved, and what the activation after sees does not count */
    bool gptq;         /* begin with its integers, which may be far from the weights */
    unsigned starts;   /* of descent, the best of which counts; 0 is 1 */
    uint64_t lots;     /* the seed of further starts */
    /* Iterations of the relaxation that there is in place of descent; 0: descent. */
    unsigned relaxation;
    /* Shows the layer all samples again; NULL: what the activation after sees does not count. */
    int (*look)(void *context, struct by_round_behind *behind, struct baryon_error *err);
    void *context;
    bool scales; /* are solved as well, where the target says which belong together */
};

/* Weights and biases as one of the models has them. by_round_choice_release() frees it. */
struct by_round_choice {
    int32_t *integers; /* [groups][outs][columns] */
    float *scales;     /* [groups][outs][spans]; NULL: those of the target */
    float *weights;    /* what they mean, in the same order */
    float *biases;     /* [groups * outs]; NULL: the layer has none */
};

void by_round_choice_release(struct by_round_choice *choice);
/* The float weights and biases themselves; no integers. */
int by_round_exact(const struct by_round_target *target, struct by_round_choice *choice,
                   struct baryon_error *err);
/* Nearest integers, biases as they are. */
int by_round_nearest(const struct by_round_target *target, struct by_round_choice *choice,
                     struct baryon_error *err);
/* By descent, from the nearest integers or those of GPTQ, or by relaxation. moments: finished,
 * centred where the layer has a bias; they are used up. scaled: the same with other scales, where
 * options ask for them; else it may be NULL and stays as it is. Biases are those that the target's
 * round_biases() makes, but for fine ones of `scaled`: their steps follow from its scales, which
 * the caller has to take over first. Same integers for any number of threads. */
int by_round_solve(const struct by_round_target *target, struct by_round_moments *moments,
                   const struct by_round_options *options, struct by_pool *pool,
                   struct by_round_choice *choice, struct by_round_choice *scaled,
                   struct baryon_error *err);

/* Squared errors of choices, added up sample by sample. */
struct by_round_errors {
    const struct by_round_choice *choices;
    size_t count;
    double *noise; /* by choice */
    double signal; /* energy of the output */
    /* Changes what is read, all of it by itself; padding has to stay zero. NULL: it is as given. */
    void (*edit)(void *context, float *x, size_t count);
    void *context;
};

int by_round_errors_look(struct by_round_errors *errors, struct by_round_scratch *scratch,
                         const struct by_round_target *target, const struct by_array *x,
                         const struct by_array *y, uint64_t sample, struct baryon_error *err);
/* All samples that are kept (solve/round_rows.h). */
int by_round_errors_look_kept(struct by_round_errors *errors, struct by_round_scratch *scratch,
                              const struct by_round_target *target, struct baryon_error *err);

#endif
