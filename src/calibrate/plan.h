/*
 * What a calibration looks at, and in which passes over the samples.
 *
 * Tiles of moments are numbered through all layers, in their order. A pass takes a run of
 * them; sketches, and counts of gathers, belong to the first. A layer's means come with its
 * first tile.
 */
#ifndef BY_CALIBRATE_PLAN_H
#define BY_CALIBRATE_PLAN_H

#include "calibrate/calibrate.h"

struct by_calibrate_pass {
    size_t begin, end; /* tiles, numbered through */
};

struct by_calibrate_plan {
    struct by_target *targets;
    size_t target_count;
    struct by_moments_layer *layers;
    size_t layer_count;
    size_t *first_tile; /* of each layer, and after the last */
    bool per_channel;
    const struct by_vote_levels *votes; /* of the options */
    size_t vote_count;
    uint64_t sketch_bytes; /* about what sketches and channels come to */
    struct by_calibrate_pass *passes;
    size_t pass_count;
};

/* Without passes. */
int by_calibrate_plan_make(struct by_calibrate_plan *plan, const struct baryon_graph *graph,
                           const struct by_calibrate_options *options, struct baryon_error *err);
void by_calibrate_plan_release(struct by_calibrate_plan *plan);

size_t by_calibrate_plan_tiles(const struct by_calibrate_plan *plan); /* of all layers */
/* Keeps the first `fixed` passes and divides what they leave, so that each pass stays
 * below the memory as far as one tile does. */
int by_calibrate_plan_divide(struct by_calibrate_plan *plan, size_t fixed, uint64_t memory,
                             struct baryon_error *err);
/* A pass that is given: from where the last one ends. */
int by_calibrate_plan_add_pass(struct by_calibrate_plan *plan, size_t end,
                               struct baryon_error *err);
/* The layer's own tiles [*first, *end) of a pass; false when it has no part in it. */
bool by_calibrate_plan_part(const struct by_calibrate_plan *plan, size_t pass, size_t layer,
                            size_t *first, size_t *end);
/* Memory that a pass takes, about. */
uint64_t by_calibrate_plan_bytes(const struct by_calibrate_plan *plan, size_t pass);

#endif
