/*
 * What stands before and after a calibration whose statistics go to a file: names, the file
 * that may be there already, and the model made ready.
 */
#ifndef BY_CALIBRATE_BEGIN_H
#define BY_CALIBRATE_BEGIN_H

#include "calibrate/calibrate.h"

/* Of a path its last part, so that the statistics do not depend on where things lie. */
const char *by_calibrate_label(struct by_arena *arena, const char *path, struct baryon_error *err);
/* Where the checkpoint of a file of statistics is kept: FILE.part. */
const char *by_calibrate_checkpoint(struct by_arena *arena, const char *out,
                                    struct baryon_error *err);
/* A folder that cannot be written to is found out now, not after an hour. model and data may
 * be NULL; part: what is written, `out` or a rank's part of it. */
int by_calibrate_check_out(const char *out, const char *part, const char *model, const char *data,
                           struct baryon_error *err);

/* Checks, links and infers. Types that no rule of ours knows, of custom operators for one, come
 * from ONNX Runtime. */
int by_calibrate_prepare(struct baryon_model *model, bool custom_operators,
                         const struct by_calibrate_options *options, struct baryon_error *err);

/* What is there already is either what would come out, which *stats then has, or not to be
 * replaced without asking. all: of all samples, whatever the shard is. */
int by_calibrate_judge_existing(const struct by_calibration *calibration, const char *out, bool all,
                                struct by_stats **stats, struct baryon_error *err);

#endif
