/* For Windows: math.h, and what glibc has more. */
#ifndef BY_PORT_MATH_H
#define BY_PORT_MATH_H

#include_next <math.h>

static inline double exp10(double x)
{
    return pow(10, x);
}

#endif
