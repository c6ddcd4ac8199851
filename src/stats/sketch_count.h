/*
 * Counting bins, for the vector paths that find 16 at once. Whoever includes this says TARGET, the
 * attribute of the functions, and gets INLINE besides.
 */
#ifndef BY_SKETCH_COUNT_H
#define BY_SKETCH_COUNT_H

#include "stats/sketch_path.h"

#include <string.h>

#define INLINE TARGET static inline __attribute__((always_inline))

INLINE void count_four(uint32_t *even, uint32_t *odd, uint64_t bins)
{
    even[(uint16_t)bins]++;
    odd[(uint16_t)(bins >> 16)]++;
    even[(uint16_t)(bins >> 32)]++;
    odd[bins >> 48]++;
}

INLINE void count_sixteen(uint32_t *even, uint32_t *odd, const uint16_t *bins)
{
    uint64_t four[4];
    memcpy(four, bins, sizeof four);
    for (size_t i = 0; i < 4; i++)
        count_four(even, odd, four[i]);
}

/* Bins that are counted while those of the next run are found: vectors and increments go to
 * different parts of the processor, and what is read was written long before. */
struct waiting {
    _Alignas(32) uint16_t bins[BY_SKETCH_RUN];
    size_t count;
};

INLINE void count_waiting(uint32_t *even, uint32_t *odd, const struct waiting *waiting, size_t from)
{
    for (size_t i = from; i < waiting->count; i += 16)
        count_sixteen(even, odd, waiting->bins + i);
}

#endif
