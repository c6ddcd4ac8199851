/*
 * What the files of this folder share.
 *
 *   choose.c    which samples, how many
 *   compare.c   sums of one output of one sample
 *   quality.c   what stays from before; the order of things
 *   run.c       both models on the samples
 *   cause.c     what to blame and to try, below BY_QUALITY_GOOD
 *   text.c      sentences
 */
#ifndef BY_QUALITY_INTERNAL_H
#define BY_QUALITY_INTERNAL_H

#include "evaluate/evaluate.h"
#include "quality/quality.h"

/* --- choose.c --- */

struct by_quality_choice {
    uint64_t first, count;
    bool seen;
};

/* total: samples that there are; calibrated: so many of them, the first, calibration read, of which
 * `good` were fit for it. */
struct by_quality_choice by_quality_choose(uint64_t total, uint64_t calibrated, uint64_t good);
/* Samples beyond those of calibration that are asked for. */
uint64_t by_quality_wanted(uint64_t calibrated);
/* How many to have run next, when `done` have, of `count`. */
size_t by_quality_batch(size_t done, size_t count);
/* No more samples are needed. */
bool by_quality_is_sure(const struct by_gain *sqnr);

/* --- compare.c --- */

struct by_quality_sums {
    double signal, noise;
    uint64_t rows, same, nonfinite;
    bool reshaped;
};

int by_quality_compare(const struct by_array *want, const struct by_array *got,
                       struct by_quality_sums *sums, struct baryon_error *err);
/* One output over so many samples, which are `stride` sums apart. */
void by_quality_add_up(const struct by_quality_sums *sums, size_t samples, size_t stride,
                       struct by_quality_output *output);

/* --- run.c --- */

struct by_quality_job {
    const struct by_quality_run *run;
    const struct by_quantization *q;
    struct by_quality *out;
    struct by_draft exact; /* of the float model, without a plan */
    uint64_t activations;  /* bytes that a run of it holds; UINT64_MAX: unknown */
    struct by_session *reference, *written;
    struct by_input *input;
    const char **names; /* outputs of float types */
    size_t port_count, name_count;
    struct by_fitted fitted;
    struct by_quality_sums *sums; /* outputs by samples */
    size_t run_count, shown;      /* samples that ran, and that were shown to look for the cause */
    double begin;
};

int by_quality_run_samples(struct by_quality_job *job, struct baryon_error *err);

/* --- cause.c --- */

/* Sets cause and next, as far as they can be found. */
int by_quality_find_cause(struct by_quality_job *job, struct baryon_error *err);

/* What to try next, in the arena or static. samples: the run had some to calibrate on. */
const char *by_quality_next(const struct by_recipe *recipe, enum by_blame blame, bool samples,
                            struct by_arena *arena);

#endif
