/*
 * What the files of this folder share.
 *
 *   choose.c    which samples, how many
 *   compare.c   sums of one output of one sample
 *   quality.c   what stays from before; the order of things
 *   run.c       both models on the samples
 *   show.c      some of these samples again, for a report
 *   details.c   layers and tensors, for a report
 *   cause.c     what to blame and to try, below BY_QUALITY_GOOD
 *   shared.c    parts of outputs that are lost in a scale that they share
 *   text.c      sentences
 */
#ifndef BY_QUALITY_INTERNAL_H
#define BY_QUALITY_INTERNAL_H

#include "evaluate/evaluate.h"
#include "quality/quality.h"
#include "trial/float_outputs.h"

/* With more nodes no cause is looked for: opening the models that this takes is most of its time.
 */
#define BY_QUALITY_EXPLAINED 1500
#define BY_QUALITY_DETAILED  5000 /* nor figures of layers, where a report asks for them */

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
    struct by_selects selects; /* of the float model, as far as the written one has the same */
    struct by_float_outputs outputs; /* each part of which has figures */
    const char **written_names;
    size_t port_count;
    struct by_fitted fitted;
    struct by_quality_sums *sums; /* parts of outputs, out->count for each sample */
    size_t run_count, shown;      /* samples that ran, and that were shown to look for the cause */
    double begin;
};

int by_quality_run_samples(struct by_quality_job *job, struct baryon_error *err);

/* What both models make of a sample. Whatever the result, by_quality_end_both() is required. */
struct by_quality_runs {
    struct by_run *reference, *written;
    struct by_arena arena;
};
int by_quality_run_both(const struct by_quality_job *job, const struct by_array *arrays,
                        struct by_quality_runs *runs, struct baryon_error *err);
void by_quality_end_both(struct by_quality_runs *runs);

/* --- show.c --- */

/* Samples that ran, to whoever wants to see them. */
int by_quality_show(struct by_quality_job *job, struct baryon_error *err);

/* --- cause.c --- */

/* Sets cause and next, as far as they can be found. */
int by_quality_find_cause(struct by_quality_job *job, struct baryon_error *err);

/* Sets both where a part of an output is lost in the scale of what joins the parts; in shared.c. */
int by_quality_find_shared(struct by_quality_job *job, struct baryon_error *err);

/* A judge on the first samples that ran. */
int by_quality_judge(struct by_quality_job *job, size_t samples, struct by_judge **judge,
                     struct baryon_error *err);
/* The quantization as it was before emission. */
struct by_quantization by_quality_before(const struct by_quality_job *job);

/* --- details.c --- */

/* Layers and tensors, to whoever wants them. */
int by_quality_find_details(struct by_quality_job *job, struct baryon_error *err);

/* What to try next for a model of that SQNR, in the arena or static. samples: the run had some to
 * calibrate on. */
const char *by_quality_next(const struct by_recipe *recipe, enum by_blame blame, double sqnr,
                            bool samples, struct by_arena *arena);

#endif
