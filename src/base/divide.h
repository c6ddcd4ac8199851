/* Division of signed numbers, rounded up and down; the divisor is positive. */
#ifndef BY_DIVIDE_H
#define BY_DIVIDE_H

#include <stdint.h>

static inline int64_t by_divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

static inline int64_t by_divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

#endif
