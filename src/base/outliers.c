/* Chooses how many outliers to split off. */
#include "base/outliers.h"

#include <math.h>

#define LEAST  3.0 /* dB that the best number has to gain: half a bit */
#define SPARED 0.5 /* dB: items that gain no more than this together stay */

static double gain_of(double before, double after)
{
    return before > 0 && after > 0 ? 10 * log10(before / after) : 0;
}

size_t by_outliers_count(double (*noise)(const void *context, size_t count), const void *context,
                         size_t items, double *decibels)
{
    const double before = noise(context, 0);
    double best = 0, gain = 0;
    size_t count = 0;
    for (size_t i = 1; i <= items / BY_OUTLIERS_SHARE; i++)
        best = fmax(best, gain_of(before, noise(context, i)));
    while (best >= LEAST && gain < best - SPARED)
        gain = gain_of(before, noise(context, ++count));
    if (decibels)
        *decibels = gain;
    return count;
}
