/*
 * Sums of doubles without rounding, so that their order does not matter: a fixed-point
 * number wide enough for every double and 2^32 of them. Only its value is rounded.
 */
#ifndef BY_EXACT_H
#define BY_EXACT_H

#include "base/mem.h"

#define BY_EXACT_WORDS 34

/* Two's complement, the lowest word first, in units of 2^-1074. All zero is zero. */
struct by_exact {
    uint64_t words[BY_EXACT_WORDS];
};

/* value must be finite. */
void by_exact_add(struct by_exact *sum, double value);
void by_exact_merge(struct by_exact *sum, const struct by_exact *other);
/* Rounded to nearest, half to even; infinite beyond the range of doubles. */
double by_exact_value(const struct by_exact *sum);

#endif
