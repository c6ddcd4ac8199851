/*
 * The ways to look at a run of values, for the chooser and for the test that compares them. To
 * add one: a row here and in weights_plain.c, and a file of its own that compiles to nothing where
 * the processor has another architecture.
 *
 * Sums are of doubles in BY_WEIGHT_LANES lanes, value i in lane i mod 16, joined as a tree: all
 * paths give the same bits.
 */
#ifndef BY_WEIGHTS_PATH_H
#define BY_WEIGHTS_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BY_WEIGHT_LANES 16

/* Added to and taken from a float of less than 2^22, it leaves the nearest integer, ties to even.
 */
#define BY_WEIGHT_ROUNDER 12582912.0f

/* Levels of up to 16 bits: their distances from the zero point are exact in float. */
struct by_weight_grid {
    float scale;
    float low, high; /* levels less the zero point; 0 is among them */
    int32_t zero;
};

struct by_weight_path {
    const char *name;
    bool (*supported)(void); /* by the processor that runs */
    /* False when a value is not finite; count > 0. */
    bool (*extremes)(const float *values, size_t count, float *min, float *max);
    /* Squared errors of the nearest levels. */
    double (*error)(const float *values, size_t count, const struct by_weight_grid *grid);
    void (*round)(const float *values, size_t count, const struct by_weight_grid *grid,
                  int32_t *out);
    /* What the nearest levels mean, -0 as 0; NaN becomes the least one. out may be where the values
     * are. */
    void (*there_and_back)(const float *values, size_t count, const struct by_weight_grid *grid,
                           float *out);
    /* Each value with a scale and a zero point of its own. */
    void (*round_each)(const float *values, size_t count, const float *scales, const float *zeros,
                       float qmin, float qmax, int32_t *out);
};

/* Best first; the last one is the reference, which every processor supports. */
const struct by_weight_path *const *by_weight_paths(size_t *count);
const struct by_weight_path *by_weight_path_chosen(void);
double by_weight_join(const double lanes[BY_WEIGHT_LANES]);

extern const struct by_weight_path by_weight_vector;
#if defined(__x86_64__)
extern const struct by_weight_path by_weight_avx512, by_weight_avx2;
#endif

#endif
