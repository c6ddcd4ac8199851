/* A histogram for the terminal: bars of the share of values, one line each. */
#ifndef BY_CLI_HISTOGRAM_H
#define BY_CLI_HISTOGRAM_H

#include "cli/out.h"
#include "stats/histogram.h"

#define BY_HISTOGRAM_STEPS 24

/* logarithmic: bars as long as the logarithm of the counts. */
void by_histogram_draw(struct by_out *out, const struct by_histogram *histogram, bool logarithmic);

#endif
