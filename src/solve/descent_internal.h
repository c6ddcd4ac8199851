/* What descent and GPTQ share: the grid that integers lie on, and blocks of columns. */
#ifndef BY_DESCENT_INTERNAL_H
#define BY_DESCENT_INTERNAL_H

#include "solve/descent.h"

#include <math.h>

static inline size_t by_descent_scale_index(const struct by_descent *problem, size_t out,
                                            size_t column)
{
    return out * problem->groups + column / problem->group;
}

static inline int32_t by_descent_zero(const struct by_descent *problem, size_t scale_index)
{
    return problem->zeros ? problem->zeros[scale_index] : 0;
}

/* The integer without its zero, or its level in the table. */
static inline double by_descent_number(const struct by_descent *problem, size_t scale_index,
                                       int32_t integer)
{
    const struct by_descent_grid *grid = problem->grid;
    if (grid && grid->table)
        return (double)grid->table[integer - problem->low];
    return (double)integer - by_descent_zero(problem, scale_index);
}

static inline float by_descent_offset(const struct by_descent *problem, size_t scale_index)
{
    const struct by_descent_grid *grid = problem->grid;
    return grid && grid->offsets ? grid->offsets[scale_index] : 0;
}

/* Rounded like the value of a block. */
static inline float by_descent_value(const struct by_descent *problem, size_t scale_index,
                                     int32_t integer)
{
    return (float)by_descent_number(problem, scale_index, integer) * problem->scales[scale_index] +
           by_descent_offset(problem, scale_index);
}

/* Of cross, or what stands for it. */
static inline float by_descent_aim(const struct by_descent *problem, size_t place)
{
    const float *aim = problem->cross ? problem->cross : problem->pull;
    return aim ? aim[place] : 0;
}

/* A step has to gain this share of what it costs by itself: less is noise of the gradient. */
#define BY_DESCENT_MARGIN 0x1p-10f

static inline size_t by_descent_min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The level, or of the two next to the weight's the one that is nearer to it. */
static inline float by_descent_near(float weight, float level)
{
    return fminf(fmaxf(level, floorf(weight)), ceilf(weight));
}

/* The integer whose value is nearest; of equally near ones the even one, of a table the lower one.
 */
int32_t by_descent_pick(const struct by_descent *problem, size_t scale_index, float value);
/* How many scales the weight is from zero, cut to the levels. */
float by_descent_level(const struct by_descent *problem, float weight, size_t scale_index);
/* How many levels an integer of the output may go down and up, as a value; below 0: none. Of a
 * table: how far the next ones are. */
void by_descent_room(const struct by_descent *problem, size_t out, size_t column, int32_t integer,
                     float *down, float *up);
/* The values of the integers of an output. */
void by_descent_values(const struct by_descent *problem, size_t out, const int32_t *integers,
                       double *values);
/* How much more error(w) the integers `to` have than `from`, of a few outputs from `first` on:
 * [count][columns] each. `room` is for two doubles for each of these. */
void by_descent_changes(const struct by_descent *problem, size_t first, size_t count,
                        const int32_t *from, const int32_t *to, double *room, double *changes);
/* The outputs that it takes at once, for which a row of gram is used while it is in the cache. */
#define BY_DESCENT_FEW 16

#endif
