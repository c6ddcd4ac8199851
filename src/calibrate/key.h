/*
 * What statistics are of, as hashes: the same for every split of the samples, number of
 * threads and amount of memory.
 */
#ifndef BY_CALIBRATE_KEY_H
#define BY_CALIBRATE_KEY_H

#include "calibrate/calibrate.h"
#include "calibrate/plan.h"

int by_calibrate_key(struct by_stats_key *key, struct baryon_model *model,
                     const struct by_calibrate_plan *plan, const struct by_input *input,
                     const struct by_calibrate_options *options, struct baryon_error *err);
/* All but the hash of the samples, before there is a calibration. */
int by_calibrate_key_alone(struct by_stats_key *key, struct baryon_model *model,
                           const struct by_calibrate_options *options, struct baryon_error *err);
/* "per channel, moments"; for people. Returns buf. */
const char *by_calibrate_describe(const struct by_calibrate_options *options, char *buf,
                                  size_t size);
/* What one sample is, with its place among the others; sums of these do not depend on their
 * order. */
int by_sample_hash(struct by_hash128 *hash, const struct by_array *arrays, size_t count,
                   uint64_t sample, struct baryon_error *err);

#endif
