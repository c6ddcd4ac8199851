/*
 * Calibration as a whole: samples go once through the model, statistics come out.
 *
 *   plan what is looked at -> open the session with taps -> for each sample: run, note
 *   -> checkpoint now and then -> further passes for moments that memory had no room for
 *
 * The result does not depend on threads, on the memory allowed, on how samples were split, nor
 * on interruptions. A sample is in the statistics wholly or not at all: what fails in
 * between ends the calibration, and the checkpoint holds what was whole.
 */
#ifndef BY_CALIBRATE_H
#define BY_CALIBRATE_H

#include "input/input.h"
#include "stats/stats.h"

struct by_stats_store;

#define BY_CALIBRATE_MEMORY (UINT64_C(1) << 30) /* the default of max_memory */

struct by_calibrate_progress {
    const char *stage;    /* "calibrate", "calibrate, pass 2 of 3" */
    const char *unit;     /* of what is counted; NULL: samples */
    uint64_t done, total; /* samples of this stage, taken up ones too */
    uint64_t before;      /* of them, those that were taken up from a checkpoint */
    const char *sample;   /* the last one's name, NULL at the beginning of a stage */
    double seconds;       /* since the stage began */
    double model_seconds; /* of them, inside the runtime and our taps */
    double share; /* of the work that is done, where things are not alike; 0: by their number */
    bool keeps;   /* stopping here loses nothing: the same run goes on */
};

struct by_calibrate_options {
    enum by_target_choice targets;
    const char *const *names; /* not NULL: these values instead of `targets` */
    size_t name_count;
    bool per_channel;
    bool means; /* of channels of what layers with weights read, which corrects their biases */
    bool moments;
    const struct by_vote_levels *votes; /* what each sample votes for: calib/votes.h */
    size_t vote_count;
    uint64_t max_memory;    /* for statistics while they are gathered; 0: the default */
    uint64_t shard, shards; /* this part of the samples, from 0; shards 0: all */
    bool spare_shards;      /* there may be more than samples: the last ones have none */
    unsigned lanes; /* samples at once, as a calibration of a model like it found; 0: not known */
    struct by_gate *gate; /* that each run passes, with others of the caller's; NULL: none */
    struct by_session_options session;
    struct by_input_options input;
    const struct by_input_callback *samples; /* instead of a path; with NULL: none */
    const char *model, *data;                /* for people: what the statistics are of */
    /* Path kept up to date and taken up again; further passes have it with "2", "3", ...
     * after it. NULL: none. */
    const char *checkpoint;
    double checkpoint_seconds;
    bool restart; /* an old checkpoint is removed, not taken up */
    /* Statistics of the first samples, gathered elsewhere: where they are of the same model and
     * settings they are taken, *begun becomes NULL, and calibration goes on after them. That
     * those are the samples is for the caller to know. NULL: none. */
    struct by_stats **begun;
    /* Gets statistics of all samples but the last ones: a quarter of all, `aside` at most. NULL
     * comes out where there are several passes, or what was taken up reaches further. NULL: not
     * wanted. */
    struct by_stats **part;
    uint64_t aside;
    /* What earlier calibrations of the same samples gathered, which is taken from there, and what
     * this one does, which goes there; without moments, shards and checkpoints (calibrate/store.h).
     * NULL: none. */
    struct by_stats_store *store;
    uint64_t first; /* samples that this calibration has, of those of the store; 0: all of them */
    /* Called when a stage begins and after every sample, in their order, and asked whether to stop:
     * true ends with BARYON_ERR_CANCELLED after the samples in hand were finished and the
     * checkpoint was written. May be NULL. */
    bool (*progress)(void *context, const struct by_calibrate_progress *progress);
    void *context;
    const struct by_log *log;
};

/* What a calibration took, for reports. */
struct by_calibrate_report {
    uint64_t samples;  /* run by us, in the first pass */
    uint64_t taken_up; /* of the first pass, from a checkpoint or what was begun */
    size_t passes;
    double seconds, model_seconds;
    uint64_t memory; /* most that statistics took, bytes */
    unsigned lanes;  /* samples at once; 0: one, since there is one thread, or since it takes all */
};

/* A calibration that is about to begin: everything is open and known, no sample was run. */
struct by_calibration;

/* data: as by_input_open() takes it. Samples of a callback are counted first, where their number is
 * not known, which takes reading all of them. The model must be linked and inferred; it and all
 * that options point to must outlive the calibration. */
int by_calibration_open(struct by_calibration **calibration, struct baryon_model *model,
                        const char *data, const struct by_calibrate_options *options,
                        struct baryon_error *err);
void by_calibration_close(struct by_calibration *calibration);

const struct by_stats_key *by_calibration_key(const struct by_calibration *calibration);
/* The samples that it covers; none for a spare shard, which must not be run. */
struct by_sample_range by_calibration_range(const struct by_calibration *calibration);
const struct by_input *by_calibration_input(const struct by_calibration *calibration);
const struct by_ort *by_calibration_ort(const struct by_calibration *calibration);
/* True when statistics are what this calibration would give. */
bool by_calibration_matches(const struct by_calibration *calibration, const struct by_stats *stats);
/* True when they are of all samples, whatever this calibration's shard is. */
bool by_calibration_matches_all(const struct by_calibration *calibration,
                                const struct by_stats *stats);

/* Once. Statistics may lie in the checkpoint's files, so those are removed when the
 * statistics were saved: by_calibrate_clean(). */
int by_calibration_run(struct by_calibration *calibration, struct by_stats **stats,
                       struct by_calibrate_report *report, struct baryon_error *err);
int by_calibrate_clean(const char *checkpoint, struct baryon_error *err);

/* Whether statistics are of that model and settings, and of nothing but the first samples, so that
 * a calibration can go on after them. */
int by_calibrate_is_begun(const struct by_stats *begun, struct baryon_model *model,
                          const struct by_calibrate_options *options, bool *is_begun,
                          struct baryon_error *err);
/* All of it. report may be NULL. */
int by_calibrate(struct by_stats **stats, struct baryon_model *model, const char *data,
                 const struct by_calibrate_options *options, struct by_calibrate_report *report,
                 struct baryon_error *err);

#endif
