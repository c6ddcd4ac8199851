/*
 * Random numbers by counter: number `index` of stream (seed, stream) is a pure
 * function, so that any thread may draw any number and the result is the same.
 */
#ifndef BY_RNG_H
#define BY_RNG_H

#include <stdint.h>

uint64_t by_rng_bits(uint64_t seed, uint64_t stream, uint64_t index);
/* In [0, 1), 53 bits. */
double by_rng_unit(uint64_t seed, uint64_t stream, uint64_t index);
/* Standard normal (Box-Muller). */
double by_rng_normal(uint64_t seed, uint64_t stream, uint64_t index);
/* In [low, high], both ends possible, without bias. */
int64_t by_rng_range(uint64_t seed, uint64_t stream, uint64_t index, int64_t low, int64_t high);

#endif
