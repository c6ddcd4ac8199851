/*
 * What the files of a calibration share.
 */
#ifndef BY_CALIBRATE_INTERNAL_H
#define BY_CALIBRATE_INTERNAL_H

#include "calibrate/keep.h"
#include "calibrate/plan.h"
#include "calibrate/watch.h"

struct by_calibration {
    struct baryon_model *model;
    const struct by_calibrate_options *options;
    struct by_calibrate_plan plan;
    struct by_watch *watch;
    size_t port_count;
    unsigned threads;     /* that may work */
    uint64_t activations; /* bytes that a run holds at once, UINT64_MAX: not known from the model */
    bool side_by_side;    /* threads do a sample each; else they share one */
    unsigned lanes;       /* samples at once, as the first pass has found; 0: not found yet */
    struct by_input *input;
    struct by_stats_key key;
    struct by_sample_range range;
    struct by_keep keep;
    struct by_calibrate_report report;
};

/* --- calibrate.c --- */

uint64_t by_calibration_memory(const struct by_calibration *calibration);
/* True when the statistics cover all samples of the calibration, and no others. */
bool by_calibration_covered(const struct by_calibration *calibration, const struct by_stats *stats);

/* --- pass.c --- */

/* The first pass makes *result, later ones join it; later passes may have become others. */
int by_calibration_pass(struct by_calibration *calibration, size_t pass, struct by_stats **result,
                        struct baryon_error *err);

/* --- stage.c --- */

/* Runs the samples of a pass that the statistics do not cover. */
int by_calibration_stage(struct by_calibration *calibration, size_t pass, struct by_stats *stats,
                         struct baryon_error *err);

#endif
