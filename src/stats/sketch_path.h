/*
 * The ways to look at a piece, for the chooser and for the test that compares them. To
 * add one: a row here and in sketch_path.c, and a file of its own that compiles to nothing where
 * the processor has another architecture.
 */
#ifndef BY_SKETCH_PATH_H
#define BY_SKETCH_PATH_H

#include "stats/sketch_part.h"

/* Bins of one sign at most: 239 rows of 16, 12 of 128, 2048 + 1024 + 512 + 256. */
#define BY_SKETCH_BINS 9216u

/*
 * Where bins are while a tensor is looked at: rows one behind the other from exponent 0 on,
 * negative values BY_SKETCH_BINS above positive ones.
 */
struct by_sketch_plan {
    int top;
    uint16_t base[BY_SKETCH_EXPONENTS];
    uint8_t shift[BY_SKETCH_EXPONENTS]; /* of the fraction's 23 bits */
};

struct by_sketch_path {
    const char *name;
    bool (*supported)(void); /* by the processor that runs */
    void (*measure)(const float *values, size_t count, struct by_sketch_piece *piece);
    /*
     * The bin of each value, of those that are zero or not finite bin 0. May leave out some of
     * the latter; returns how many bins it wrote. No finite value is above the plan's top.
     */
    size_t (*place)(const struct by_sketch_plan *plan, const float *values, size_t count,
                    uint16_t *bins);
    /* Least and greatest finite value of both what is there and values. */
    void (*range)(const float *values, size_t count, float *min, float *max);
    /* The same for each place by itself. */
    void (*ranges)(const float *values, size_t count, float *min, float *max);
};

/* Best first; the last one is plain, which every processor supports. */
const struct by_sketch_path *const *by_sketch_paths(size_t *count);
const struct by_sketch_path *by_sketch_path_chosen(void);

size_t by_sketch_place_plain(const struct by_sketch_plan *plan, const float *values, size_t count,
                             uint16_t *bins);
void by_sketch_range_plain(const float *values, size_t count, float *min, float *max);
void by_sketch_ranges_plain(const float *values, size_t count, float *min, float *max);

#endif
