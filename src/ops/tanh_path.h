/*
 * The ways to compute tanh of floats, for the chooser and for the test that compares them. To add
 * one: a row here and in tanh.c, and a file of its own that compiles to nothing where the
 * processor has another architecture.
 *
 * Vectors follow the method of fdlibm in single precision, by which most C libraries compute tanhf.
 * Others round better, or fuse multiplications with additions: so a way is taken only where it
 * gives what tanhf gives.
 */
#ifndef BY_OPS_TANH_PATH_H
#define BY_OPS_TANH_PATH_H

#include "ops/tanh.h"

#include <stdbool.h>

struct by_tanh_path {
    const char *name;
    bool (*supported)(void); /* by the processor that runs */
    void (*tanh)(float *values, size_t count);
};

/* Best first; the last one calls the C library. */
const struct by_tanh_path *const *by_tanh_paths(size_t *count);
/* Whether it gives the same bits as the C library for some thousand values. */
bool by_tanh_agrees(const struct by_tanh_path *path);
const struct by_tanh_path *by_tanh_path_chosen(void);

extern const struct by_tanh_path by_tanh_vector;
#if defined(__x86_64__)
extern const struct by_tanh_path by_tanh_avx512, by_tanh_avx2;
#endif

#endif
