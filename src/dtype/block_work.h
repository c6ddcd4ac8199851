/*
 * What is done with all blocks of an array: it may lie in any way, each block is done once, on
 * whichever thread.
 */
#ifndef BY_BLOCK_WORK_H
#define BY_BLOCK_WORK_H

#include "dtype/block_plain.h"
#include "dtype/path.h"

struct by_block_work {
    const struct by_dtype *dtype;
    const struct by_block_cast *cast;
    struct by_block_extent extent;
    struct by_block_grid grid;              /* of what is rounded or encoded in vectors */
    const struct by_block_meaning *meaning; /* of what is decoded in vectors */
    const float *in;
    float *out, *steps;
    uint8_t *codes, *scales;
    const uint8_t *from_codes, *from_scales;
    const struct by_block_acts *acts; /* the rest is set by by_block_run() */
    size_t chunks;                    /* of columns, each of the blocks that begin in one row */
};

/* A block: its elements, and the places of its first one and of itself in the array. */
struct by_block_at {
    struct by_block_place place;
    size_t value, block;
};

/* value: the first one; block: the first one, those of neighbours follow. */
struct by_block_acts {
    void (*plain)(const struct by_block_work *work, const struct by_block_at *at);
    /* `count` neighbours along the axis. */
    void (*line)(const struct by_block_work *work, size_t value, size_t count, size_t block);
    /* One block of each of `columns` neighbours. */
    void (*columns)(const struct by_block_work *work, size_t value, size_t rows, size_t columns,
                    size_t block);
};

/* The extent is there. */
int by_block_run(struct by_block_work *work, const struct by_block_acts *acts, bool fast,
                 const struct by_team *team, struct baryon_error *err);

#endif
