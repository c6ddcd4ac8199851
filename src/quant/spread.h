/* How far apart the scales of a weight's channels may be. */
#ifndef BY_SPREAD_H
#define BY_SPREAD_H

#include "quant/plan.h"

struct by_spread_bound {
    double ratio;  /* greatest by smallest of a weight; what is within stays as it is */
    double least;  /* else those below this one get it */
    bool adaptive; /* or, where that is more, what keeps the ratio */
};

/* Of weights of Conv, ConvTranspose and Gemm with a scale for each channel. The greatest scale of a
 * weight stays. */
int by_bound_spread(struct by_quant_plan *plan, const struct by_spread_bound *bound,
                    struct baryon_error *err);

#endif
