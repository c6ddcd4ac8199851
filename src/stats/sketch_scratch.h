/*
 * Working memory of looks. Each worker counts in a histogram of its own, in 32 bits; at
 * the end of the look all are added to the sketch.
 */
#ifndef BY_SKETCH_SCRATCH_H
#define BY_SKETCH_SCRATCH_H

#include "stats/sketch_path.h"

struct by_sketch_worker {
    bool used;                  /* in this round */
    struct by_sketch_part part; /* its zeros: less than none by what counts as zero but is not */
    struct by_sketch_plan plan; /* top -1: none yet */
    float *buffer;              /* a span as floats */
    float *clean;               /* a piece without NaN and infinity */
    struct by_sketch_tables tables; /* zero when not in use */
    uint32_t *spare;
    uint32_t *memory; /* of all of them */
};

struct by_sketch_scratch {
    const struct by_sketch_path *path;
    size_t round; /* values between two flushes: few enough for 32 bits */
    unsigned worker_count;
    struct by_sketch_worker workers[];
};

/* Less work than this goes the plain way, which touches less memory. */
#define BY_SKETCH_SMALL 384u

void by_sketch_worker_reset(struct by_sketch_worker *worker, bool clear);
/* One span; low_top: the top that is known to come at least. */
void by_sketch_worker_look(struct by_sketch_worker *worker, const struct by_sketch_path *path,
                           const float *values, size_t count, int low_top);
/* After all spans: completes part. */
void by_sketch_worker_end(struct by_sketch_worker *worker);
/* Rows with something in them that the sketch has not; then adding to a sketch that has them. */
void by_sketch_worker_touched(struct by_sketch_worker *worker, const struct by_sketch *sketch,
                              by_sketch_touched touched);
void by_sketch_worker_flush(struct by_sketch_worker *worker, const struct by_sketch_path *path,
                            struct by_sketch *sketch);

#endif
