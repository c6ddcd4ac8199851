/*
 * The ways to sum squared errors over a block of bins, for the chooser and for the test that
 * compares them. To add one: a row here and in bins_squares.c, and a file of its own that compiles
 * to nothing where the processor has another architecture.
 *
 * Bin i of a block counts in lane i mod BY_SQUARES_LANES; lanes are joined as a tree: all paths
 * give the same bits.
 */
#ifndef BY_BINS_SQUARES_PATH_H
#define BY_BINS_SQUARES_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define BY_SQUARES_BLOCK 128
#define BY_SQUARES_LANES 8

/* Added to and taken from a double of less than 2^51, it leaves the nearest integer, ties to even.
 */
#define BY_SQUARES_ROUNDER 0x1.8p52

struct by_squares_block {
    const double *low, *high, *count, *per_width;
};

struct by_squares_grid {
    double scale, per_scale;
    double least, most; /* levels less the zero point */
};

struct by_squares_path {
    const char *name;
    bool (*supported)(void); /* by the processor that runs */
    /* In squares of the scale. */
    double (*sum)(const struct by_squares_block *block, const struct by_squares_grid *grid);
};

/* Best first; the last one is the reference, which every processor supports. */
const struct by_squares_path *const *by_squares_paths(size_t *count);
double by_squares_join(const double lanes[BY_SQUARES_LANES]);

extern const struct by_squares_path by_squares_vector;
#if defined(__x86_64__)
extern const struct by_squares_path by_squares_avx512, by_squares_avx2;
#endif

#endif
