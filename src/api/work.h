/*
 * What calibration and quantization have in common for programs: settings, samples, and whom they
 * are told to.
 */
#ifndef BY_API_WORK_H
#define BY_API_WORK_H

#include "api/api.h"
#include "api/samples.h"
#include "calibrate/calibrate.h"

struct by_api_work {
    struct by_config config;
    const char *path; /* of the model, NULL: it came from memory */
    struct by_api_samples samples;
    struct by_input_callback callback;
    const struct by_input_callback *given; /* the callback, NULL: no samples were given */
    struct by_api_log log;
    baryon_progress_fn *progress;
    void *context;
};

void by_api_work_init(struct by_api_work *work, const char *path);
void by_api_work_close(struct by_api_work *work);
/* Of the program's options. The work has to stay where it is. */
int by_api_work_take(struct by_api_work *work, const struct baryon_samples *samples,
                     baryon_progress_fn *progress, baryon_log_fn *log, void *context,
                     struct baryon_error *err);
/* Whom a calibration tells how far it is. */
void by_api_work_watch(struct by_api_work *work, struct by_calibrate_options *options);
/* The model of the path. */
int by_api_work_load(const struct by_api_work *work, bool allow_links, struct baryon_model **model,
                     struct baryon_error *err);

#endif
