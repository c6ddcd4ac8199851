/* What descent and GPTQ share: the grid that integers lie on, and blocks of columns. */
#ifndef BY_DESCENT_INTERNAL_H
#define BY_DESCENT_INTERNAL_H

#include "solve/descent.h"

static inline size_t by_descent_scale_index(const struct by_descent *problem, size_t out,
                                            size_t column)
{
    return out * problem->groups + column / problem->group;
}

static inline int32_t by_descent_zero(const struct by_descent *problem, size_t scale_index)
{
    return problem->zeros ? problem->zeros[scale_index] : 0;
}

static inline size_t by_descent_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many scales the weight is from zero, cut to the levels. */
float by_descent_level(const struct by_descent *problem, float weight, size_t scale_index);
/* The values of the integers of an output. */
void by_descent_values(const struct by_descent *problem, size_t out, const int32_t *integers,
                       double *values);

#endif
