/*
 * Values between layers that leave float16, as samples show them: which they are, and nodes that
 * stay float32 for them.
 */
#ifndef BY_CONVERT_RANGE_H
#define BY_CONVERT_RANGE_H

#include "calibrate/calibrate.h"
#include "convert/convert.h"

struct by_convert_range {
    const char *stats; /* a file of statistics; NULL: samples are run */
    const char *data;
    const struct by_calibrate_options *calibrate; /* targets are set here */
    bool keep; /* what gives and reads such a value stays float32, else it is only told */
    const struct by_log *log;
};

/* Adds to what the step leaves as it is. count: values that leave it. The model is linked and
 * inferred. */
int by_convert_find_overflow(struct by_convert *convert, struct by_convert_step *step,
                             struct baryon_model *model, const struct by_convert_range *range,
                             size_t *count, struct baryon_error *err);

#endif
