/* Prints the quality of a written model. */
#ifndef BY_QUALITY_VIEW_H
#define BY_QUALITY_VIEW_H

#include "cli/out.h"
#include "quality/quality.h"

void by_quality_view(const struct by_quality *quality, struct by_out *out);

#endif
