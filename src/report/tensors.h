/*
 * Figures of the tensors of a plan, for reports: what was seen of their values, what their levels
 * represent, a histogram. Taken before emission, after which the values may be gone.
 */
#ifndef BY_REPORT_TENSORS_H
#define BY_REPORT_TENSORS_H

#include "trial/quantization.h"

#define BY_REPORT_BINS     64
#define BY_REPORT_GREATEST 9999 /* what the count of the greatest bin is scaled to */

/* Equal bins, without zeros. */
struct by_report_bins {
    double low, high; /* of the values; equal: there are no bins */
    double most;      /* values in the greatest bin */
    uint16_t counts[BY_REPORT_BINS];
};

/* A figure that is not known is NaN. */
struct by_report_tensor {
    const char *granularity; /* "tensor", "channel", "group", "block" */
    bool has_levels;
    int64_t levels[2];
    double low, high; /* that the levels of the greatest scale represent */
    double min, max, rms, zeros, clipped;
    double alone, whole; /* SQNR in dB: of its values by itself, in the quantized model */
    struct by_report_bins bins;
};

struct by_report_tensors {
    struct by_report_tensor *at; /* by row of the plan */
    size_t count;
};

int by_report_tensors_take(struct by_report_tensors *tensors, const struct by_quantization *q,
                           struct baryon_error *err);
void by_report_tensors_release(struct by_report_tensors *tensors);

/* The bins of a sketch, and of values; the rest of the tensor stays as it is. */
int by_report_bins_of_sketch(struct by_report_bins *bins, const struct by_sketch *sketch,
                             struct baryon_error *err);
void by_report_bins_of_values(struct by_report_bins *bins, const float *values, size_t count);

#endif
