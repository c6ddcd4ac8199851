/*
 * How many outliers to split off. Items stand by falling peaks; without the first `count` of them
 * rounding the others makes less noise.
 */
#ifndef BY_OUTLIERS_H
#define BY_OUTLIERS_H

#include <stddef.h>

#define BY_OUTLIERS_SHARE 32 /* no more than one of so many items */

/* The fewest whose gain comes within half a decibel of that of the best number; 0 where the best
 * gains less than half a bit. noise: of all items, where so many are split off. *decibels: what
 * they gain; NULL: not asked. */
size_t by_outliers_count(double (*noise)(const void *context, size_t count), const void *context,
                         size_t items, double *decibels);

#endif
