/* Computes random numbers from a seed and an index, the same on every machine. */
#include "base/rng.h"

#include <math.h>

#define GOLDEN 0x9e3779b97f4a7c15u

/* The finishing step of SplitMix64 (variant 13 of Stafford's mixers). */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A SplitMix64 sequence whose start is hashed from seed and stream, read at `index`. */
uint64_t by_rng_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t start = mix(mix(seed + GOLDEN) ^ (stream * 0xd1342543de82ef95u + 1));
    return mix(start + (index + 1) * GOLDEN);
}

double by_rng_unit(uint64_t seed, uint64_t stream, uint64_t index)
{
    return (double)(by_rng_bits(seed, stream, index) >> 11) * 0x1p-53;
}

/*
 * log and cos of our own: those of the C library differ in the last bit from one
 * machine to the next, and the same seed has to give the same data everywhere.
 */
static double portable_log(double x)
{
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0.70710678118654752) {
        m *= 2;
        exponent--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int k = 23; k >= 1; k -= 2)
        sum = sum * square + 1.0 / k;
    return 2 * s * sum + exponent * 0.69314718055994531;
}

/* Taylor series around 0, for |x| <= pi / 4; `first` is the power it begins with. */
static double series(double x, int first)
{
    double square = x * x, sum = 1;
    for (int k = first + 18; k > first; k -= 2)
        sum = 1 - square / (k * (k - 1)) * sum;
    return first ? x * sum : sum;
}

/* cos(2 pi turn) for turn in [0, 1). */
static double portable_cos_turn(double turn)
{
    int eighth = (int)(turn * 8);
    int quarter = ((eighth + 1) / 2) & 3;
    double angle = (turn - (eighth + 1) / 2 * 0.25) * 6.28318530717958648;
    double value = quarter & 1 ? series(angle, 1) : series(angle, 0);
    return quarter == 1 || quarter == 2 ? -value : value;
}

double by_rng_normal(uint64_t seed, uint64_t stream, uint64_t index)
{
    double radius = 1 - by_rng_unit(seed, stream, index);
    double turn = by_rng_unit(mix(~seed), stream, index);
    return sqrt(-2 * portable_log(radius)) * portable_cos_turn(turn);
}

int64_t by_rng_range(uint64_t seed, uint64_t stream, uint64_t index, int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    if (!span)
        return (int64_t)by_rng_bits(seed, stream, index);
    /* The high half of bits * span; the few low halves that would favour some are drawn again. */
    uint64_t unfair = (0 - span) % span;
    for (;; seed = mix(seed + GOLDEN)) {
        __extension__ unsigned __int128 product =
            (unsigned __int128)by_rng_bits(seed, stream, index) * span;
        if ((uint64_t)product >= unfair)
            return (int64_t)((uint64_t)low + (uint64_t)(product >> 64));
    }
}
