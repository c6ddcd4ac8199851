/*
 * Working memory of looks. Each worker counts in a histogram of its own, in 32 bits; at
 * the end of the look all are added to the sketch.
 */
#ifndef BY_SKETCH_SCRATCH_H
#define BY_SKETCH_SCRATCH_H

#include "stats/sketch_path.h"

/* Neighbouring values count in different tables, so that equal ones do not wait for each other. */
#define BY_SKETCH_TABLES 2u

struct by_sketch_worker {
    bool used; /* in this round */
    struct by_sketch_part part;
    bool counted;               /* something in the tables */
    struct by_sketch_plan plan; /* top -1: none yet */
    float *buffer;              /* a piece as floats */
    /* [BY_SKETCH_TABLE] each, zero when not in use. */
    uint32_t *tables[BY_SKETCH_TABLES], *spare;
    uint32_t *memory; /* of all of them */
};

struct by_sketch_scratch {
    const struct by_sketch_path *path;
    size_t round; /* values between two flushes: few enough for 32 bits */
    unsigned worker_count;
    struct by_sketch_worker workers[];
};

/* Less work than this goes the plain way, which touches less memory. */
#define BY_SKETCH_SMALL 2048u

void by_sketch_worker_reset(struct by_sketch_worker *worker, bool clear);
/* One piece; low_top: the top that is known to come at least. */
void by_sketch_worker_look(struct by_sketch_worker *worker, const struct by_sketch_path *path,
                           const float *values, size_t count, int low_top);
/* Which rows have something, and then adding them to a sketch that was prepared for them. */
void by_sketch_worker_touched(struct by_sketch_worker *worker, by_sketch_touched touched);
void by_sketch_worker_flush(struct by_sketch_worker *worker, struct by_sketch *sketch);

#endif
