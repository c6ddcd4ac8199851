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

#define BY_WEIGHT_LANES   16
#define BY_WEIGHT_STRETCH 64 /* values between two looks whether a sum is at its limit */

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
    /* Squared errors of the nearest levels; when they come to `limit`, it is enough to say so. */
    double (*error)(const float *values, size_t count, const struct by_weight_grid *grid,
                    double limit);
    double (*energy)(const float *values, size_t count);
    /* Squares of (a - b) * scale. */
    double (*distance)(const float *a, const float *b, size_t count, float scale);
    /* The greatest magnitude of finite values. */
    float (*peak)(const float *values, size_t count);
    void (*divide)(const float *values, size_t count, float scale, float *out);
    void (*round)(const float *values, size_t count, const struct by_weight_grid *grid,
                  int32_t *out);
    /* The same as bytes; levels with a sign are in two's complement. */
    void (*codes)(const float *values, size_t count, const struct by_weight_grid *grid,
                  uint8_t *out);
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
