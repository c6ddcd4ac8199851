/*
 * A tensor on the host: type, shape and elements, of nobody's graph.
 */
#ifndef BY_ARRAY_H
#define BY_ARRAY_H

#include "array/elem.h"

#define BY_RANK_MAX     16
#define BY_ELEMENTS_MAX (1ull << 48)

/* Product of dims; fails on negative ones, rank over 16, more than 2^48 elements. */
int by_dims_count(const int64_t *dims, size_t rank, size_t *count, struct baryon_error *err);

/*
 * Strings: data is an array of const char * and size is its size; a NUL inside a string ends it.
 * Types under a byte are packed, the first element in the low bits.
 */
struct by_array {
    const char *name;
    int64_t elem;
    size_t rank;
    int64_t dims[BY_RANK_MAX];
    const void *data; /* may be NULL when size is 0 */
    size_t size;      /* bytes */
};

#endif
