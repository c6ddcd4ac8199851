/*
 * How far a model's outputs are from those of a reference, on held-out samples.
 *
 * SQNR of an output: energy of the reference over energy of the difference, over all samples, in
 * dB. Outputs of float types count; those whose shapes differ count as lost (0 dB).
 */
#ifndef BY_TRIAL_JUDGE_H
#define BY_TRIAL_JUDGE_H

#include "base/decibels.h"
#include "base/par.h"
#include "engine/parked.h"
#include "input/input.h"
#include "trial/joined.h"

struct by_judged_output {
    const char *name; /* lives in the judge */
    double signal, noise;
    double sqnr;
};

#define BY_JUDGED_MOST 16

struct by_judgement {
    double sqnr; /* mean over the outputs, dB */
    size_t count;
    struct by_judged_output outputs[BY_JUDGED_MOST]; /* the first ones */
};

struct by_judge_options {
    const char *data;                        /* as by_input_open() takes it */
    const struct by_input_callback *samples; /* instead of a path; NULL: none */
    struct by_input_options input;
    struct by_session_options session;
    struct by_session
        *reference;     /* an open one, the caller's, of one thread; NULL: opens its own */
    size_t look, aside; /* so many samples are for looking at, so many after them judge */
    size_t most;        /* that judge, when more are taken later */
    uint64_t skip;      /* so many samples of the data come before the first one */
    /* None is for looking at: the last ones judge, a quarter of all at most, and the others are
     * left to whoever reads them as well; of a single sample none. */
    bool last;
    /* Of fewer samples than that a quarter judges, as far as that is no more. */
    bool shares;
    /* What outputs that saturate are computed from judges as further outputs. */
    bool unsaturated;
    struct by_depot *depot; /* where samples and references wait; NULL: in memory */
};

struct by_judge;

/* Reads the samples and keeps them; those that are not there or bad are left out. Where none is
 * left to judge, those to look at do. All sessions have one thread, so that what comes out does not
 * depend on how many there are. */
int by_judge_open(struct by_judge **judge, struct baryon_model *reference,
                  const struct by_judge_options *options, struct baryon_error *err);
void by_judge_close(struct by_judge *judge);
/* With `last`: so many samples of the data come before those that judge; 0: all judge. */
uint64_t by_judge_before(const struct by_judge *judge);
size_t by_judge_looks(const struct by_judge *judge);          /* samples to look at */
bool by_judge_looks_are_first(const struct by_judge *judge);  /* none was left out before them */
size_t by_judge_count(const struct by_judge *judge);          /* samples that judge */
uint64_t by_judge_sample_bytes(const struct by_judge *judge); /* of the first one's inputs */

/* Samples to look at as a source; one for each reader, and of a judge with a depot one at a time.
 */
struct by_judge_reader {
    const struct by_judge *judge;
    size_t next;
};
void by_judge_read(const struct by_judge *judge, struct by_judge_reader *reader,
                   struct by_input_callback *callback);
/* Inputs of any sample that is kept: those to look at, and after them those that judge. The first
 * function is for judges with a depot, the other for those without. */
size_t by_judge_kept(const struct by_judge *judge);
const struct by_parked *by_judge_parked(const struct by_judge *judge, size_t sample, size_t *count);
const struct by_array *by_judge_inputs(const struct by_judge *judge, size_t sample, size_t *count);

/* Reads further samples until so many judge, as far as there are; before the references end. */
int by_judge_more(struct by_judge *judge, size_t count, struct baryon_error *err);

/* What follows may be done for several samples at once. */

/* Runs the reference on a sample that judges and keeps its outputs: once, before others. */
int by_judge_reference(struct by_judge *judge, size_t sample, struct baryon_error *err);
/* The reference's memory is given back, when nothing else is done. */
void by_judge_end_references(struct by_judge *judge);
/* A model to be judged, with the reference's inputs and outputs; it may be freed then. often: in
 * dozens of runs, for which the runtime packs weights. */
int by_judge_session(const struct by_judge *judge, struct baryon_model *model, bool often,
                     struct by_session **session, struct baryon_error *err);
/* What such a session gives, of a graph with the reference's inputs and outputs; NULL: nothing
 * makes it. values: room for its outputs and BY_JUDGE_MORE more. How many they are. */
#define BY_JUDGE_MORE 16
size_t by_judge_values(const struct by_judge *judge, struct baryon_graph *graph,
                       struct baryon_value **values);
/* What one sample says. more: an input of the session that samples do not have, or NULL. */
int by_judge_run(const struct by_judge *judge, struct by_session *session,
                 const struct by_array *more, size_t sample, struct by_judgement *judgement,
                 struct baryon_error *err);
/* The same of outputs that some model gave for it, in the reference's order. */
int by_judge_outputs(const struct by_judge *judge, size_t sample, const struct by_array *outputs,
                     size_t count, struct by_judgement *judgement, struct baryon_error *err);
/* Values of those outputs that are judged by themselves: an output, or a part of it. */
struct by_judge_piece {
    const struct by_array *array;
    struct by_joined_blocks blocks;
    size_t row; /* of a Softmax, whose mean does not count; 0: values as they are */
};
/* Takes the mean of each row from its values. */
void by_judge_centre(double *values, size_t size, size_t row);
/* In the order of a judgement; pieces: room for BY_JUDGED_MOST. */
size_t by_judge_pieces(const struct by_judge *judge, size_t sample, const struct by_array *outputs,
                       size_t count, struct by_judge_piece *pieces);
/* All samples that judge, side by side: the reference, whose memory is given back then, and a
 * model; each has room for by_judge_count() judgements. */
int by_judge_references(struct by_judge *judge, struct by_pool *pool, struct baryon_error *err);
/* Refuses a reference that has run and has no output of floats: no measure can compare it. */
int by_judge_require_floats(const struct by_judge *judge, struct baryon_error *err);
int by_judge_model(const struct by_judge *judge, struct baryon_model *model, struct by_pool *pool,
                   struct by_judgement *each, struct baryon_error *err);
/* What several samples say together, dB. */
double by_judge_sqnr(const struct by_judgement *judgements, size_t samples);
/* The same of the worst output. */
double by_judge_worst(const struct by_judgement *judgements, size_t samples);

/* Whether all outputs are finite where the reference's are. */
bool by_judge_is_finite(const struct by_judgement *judgements, size_t samples);

/* How much better one model is than another, on all samples together, and the standard error of
 * that: what it becomes without one sample or another tells how much hangs on single ones. */
struct by_gain {
    double decibels, error;
};

struct by_gain by_judge_gain(const struct by_judgement *one, const struct by_judgement *other,
                             size_t samples);
/* How much better single samples say it is, in the mean: each has one voice, that with the greatest
 * error too, which decides nearly alone over all samples together. */
struct by_gain by_judge_usual_gain(const struct by_judgement *one, const struct by_judgement *other,
                                   size_t samples);

#endif
