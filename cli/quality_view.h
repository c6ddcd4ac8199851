/* Prints the quality of a written model. */
#ifndef BY_QUALITY_VIEW_H
#define BY_QUALITY_VIEW_H

#include "base/json.h"
#include "cli/out.h"
#include "quality/quality.h"

void by_quality_view(const struct by_quality *quality, struct by_out *out);
/* A member of an object. */
void by_quality_json(const struct by_quality *quality, struct by_json *json);

#endif
