/*
 * The ways to convert 16-bit floats, for the chooser and for the test that
 * compares them. To add one: a row here and in half.c, and a file of its own that
 * compiles to nothing where the processor has another architecture.
 */
#ifndef BY_HALF_PATH_H
#define BY_HALF_PATH_H

#include "base/half.h"

#include <stdbool.h>

struct by_half_path {
    const char *name;
    bool (*supported)(void); /* by the processor that runs */
    void (*f16_to_f32)(float *out, const uint16_t *in, size_t count);
    void (*f32_to_f16)(uint16_t *out, const float *in, size_t count);
    void (*bf16_to_f32)(float *out, const uint16_t *in, size_t count);
    void (*f32_to_bf16)(uint16_t *out, const float *in, size_t count);
    void (*extremes)(const uint16_t *in, size_t count, int16_t *least, int16_t *most);
};

/* For paths: the extremes of lanes, and those with more values. */
void by_half_extremes_join(const int16_t *leasts, const int16_t *mosts, size_t lanes,
                           int16_t *least, int16_t *most);
void by_half_extremes_more(const uint16_t *in, size_t count, int16_t *least, int16_t *most);

/* Best first; the last one is the reference, which every processor supports. */
const struct by_half_path *const *by_half_paths(size_t *count);

#if defined(__x86_64__)
extern const struct by_half_path by_half_avx512, by_half_avx2;
#elif defined(__aarch64__)
extern const struct by_half_path by_half_neon;
#endif

#endif
