/* What a measurement found, for programs. */
#ifndef BY_API_QUALITY_H
#define BY_API_QUALITY_H

#include "api/api.h"
#include "quality/quality.h"

/* Takes inner over, whatever comes out. */
int by_api_quality_make(struct baryon_quality **out, struct by_quality *inner,
                        struct baryon_error *err);

#endif
