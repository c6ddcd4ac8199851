/*
 * Calibration as a whole: samples go once through the model, statistics come out.
 *
 *   plan what is looked at -> open the session with taps -> for each sample: run, note
 *   -> checkpoint now and then -> merge waves -> statistics
 */
#ifndef BY_CALIBRATE_H
#define BY_CALIBRATE_H

#include "input/input.h"
#include "stats/stats.h"

struct by_calibrate_progress {
    const char *stage;    /* "calibrate", "calibrate, pass 2 of 3" */
    uint64_t done, total; /* samples of this stage, taken up ones too */
    const char *sample;   /* the last one's name */
    double seconds;       /* since the stage began */
    double model_seconds; /* of them, inside the runtime and our taps */
};

struct by_calibrate_options {
    enum by_target_choice targets;
    bool per_channel;
    bool moments;
    uint64_t max_memory;    /* for statistics while they are gathered; 0: a default */
    uint64_t shard, shards; /* this part of the samples, from 0; shards 0: all */
    struct by_session_options session;
    struct by_input_options input;
    const char *checkpoint; /* path kept up to date and taken up again; NULL: none */
    double checkpoint_seconds;
    /* Called after every sample, and asked whether to stop: true ends with
     * BARYON_ERR_CANCELLED after the checkpoint was written. May be NULL. */
    bool (*progress)(void *context, const struct by_calibrate_progress *progress);
    void *context;
    const struct by_log *log;
};

/* data: as by_input_open() takes it. The model must be linked and inferred. */
int by_calibrate(struct by_stats **stats, struct baryon_model *model, const char *data,
                 const struct by_calibrate_options *options, struct baryon_error *err);

#endif
