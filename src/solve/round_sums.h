/* Sums of floats in doubles, in lanes: the same bits with any vectors. */
#ifndef BY_ROUND_SUMS_H
#define BY_ROUND_SUMS_H

#include <stddef.h>

#define BY_ROUND_LANES 8

static inline double by_round_join(const double lanes[BY_ROUND_LANES])
{
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

/* Of the values and of their squares. */
static inline void by_round_sums(const float *values, size_t count, double *sum, double *squares)
{
    double sums[BY_ROUND_LANES] = {0}, square[BY_ROUND_LANES] = {0};
    size_t i = 0;
    for (; i + BY_ROUND_LANES <= count; i += BY_ROUND_LANES)
        for (size_t k = 0; k < BY_ROUND_LANES; k++) {
            const double value = (double)values[i + k];
            sums[k] += value;
            square[k] += value * value;
        }
    for (; i < count; i++) {
        sums[i % BY_ROUND_LANES] += (double)values[i];
        square[i % BY_ROUND_LANES] += (double)values[i] * (double)values[i];
    }
    *sum = by_round_join(sums);
    *squares = by_round_join(square);
}

/* Of the squares of given + more - wanted. */
static inline double by_round_distance(const float *given, const float *wanted, double more,
                                       size_t count)
{
    double sums[BY_ROUND_LANES] = {0};
    size_t i = 0;
    for (; i + BY_ROUND_LANES <= count; i += BY_ROUND_LANES)
        for (size_t k = 0; k < BY_ROUND_LANES; k++) {
            const double error = (double)given[i + k] + more - (double)wanted[i + k];
            sums[k] += error * error;
        }
    for (; i < count; i++) {
        const double error = (double)given[i] + more - (double)wanted[i];
        sums[i % BY_ROUND_LANES] += error * error;
    }
    return by_round_join(sums);
}

#endif
