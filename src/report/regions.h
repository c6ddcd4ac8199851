/*
 * Boxes around the regions of a map: of a text detector for example, whose one output [1, 1, H, W]
 * or [1, H, W] says for each place whether something is there.
 *
 * Such a map has the sides of the picture or a fraction of them and values from 0 to 1, of which
 * half are below 0.1 and nine tenths below 0.1 or above 0.9. A region are places of at least 0.3
 * that touch, by a side or a corner. Its score is the mean of its values; less than 0.5, and
 * regions of less than three places a side, are left out.
 */
#ifndef BY_REPORT_REGIONS_H
#define BY_REPORT_REGIONS_H

#include "array/array.h"
#include "report/boxes.h"

/* values: of the output; width, height: of the input. */
bool by_regions_is_map(const struct by_array *output, const double *values, size_t count,
                       size_t width, size_t height);
/* The largest first; at most BY_BOXES_MOST. */
int by_regions_read(const struct by_array *output, const double *values, struct by_box *boxes,
                    size_t *count, struct baryon_error *err);

#endif
