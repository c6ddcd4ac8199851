/* Counts the samples of a quantization in progress, for its stages. */
#include "trial/quantization.h"

uint64_t by_quantization_samples(const struct by_quantization *q)
{
    return q->report.calibration.samples + q->report.calibration.taken_up;
}
