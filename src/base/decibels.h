/* Signal-to-noise ratios. */
#ifndef BY_DECIBELS_H
#define BY_DECIBELS_H

#include <math.h>

#define BY_SQNR_MAX 150.0 /* dB, of equal outputs */

/* Energy of what is wanted over that of the difference, dB; a difference that is not finite: 0. */
static inline double by_decibels(double signal, double noise)
{
    if (noise <= 0)
        return BY_SQNR_MAX;
    if (signal <= 0 || !isfinite(noise) || !isfinite(signal))
        return 0;
    return fmin(10 * log10(signal / noise), BY_SQNR_MAX);
}

#endif
