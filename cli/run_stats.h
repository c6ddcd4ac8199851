/* Declares the figures of each output that `baryon run` reports. */
#ifndef BY_RUN_STATS_H
#define BY_RUN_STATS_H

#include "engine/session.h"

struct by_output_stats {
    const char *name; /* the session's */
    int64_t elem;
    size_t rank;
    int64_t dims[16];  /* -1 where samples differ */
    bool seen, ragged; /* ragged: samples differ in rank */
    uint64_t count, nonfinite;
    double min, max, sum; /* of finite values */
};

/* Strings and complex numbers count, but have no minimum. */
int by_output_stats_add(struct by_output_stats *stats, const struct by_array *array,
                        struct baryon_error *err);

#endif
