/*
 * What the files of the public interface share.
 */
#ifndef BY_API_H
#define BY_API_H

#include "api/need.h"
#include "array/array.h"
#include "config/config.h"
#include "onnx/load.h"
#include "stats/stats.h"

/* A struct of the caller's that says it is larger says no size. */
#define BY_API_SIZE_MAX 4096

/*
 * Copies the caller's options, whose first member is their size, over defaults: a
 * caller that was compiled with an older header has a smaller struct, the rest
 * keeps its default. A larger one is fine while all that we do not know is zero.
 * theirs may be NULL.
 */
int by_api_options(void *ours, size_t size, const void *theirs, struct baryon_error *err);
/* Pairs of the caller's, put into the groups that are bound; texts must outlive the config. */
int by_api_settings(struct by_config *config, const struct baryon_setting *settings, size_t count,
                    struct baryon_error *err);

/* Notices for a function of the caller's; the log has to stay where it is. */
struct by_api_log {
    struct by_log log;
    baryon_log_fn *write; /* NULL: nobody wants them */
    void *context;
};

void by_api_log_open(struct by_api_log *log, baryon_log_fn *write, void *context,
                     enum by_log_level level);

int by_api_load_options(struct by_load_options *ours, const struct baryon_load_options *theirs,
                        struct baryon_error *err);
/* The name, which may be NULL, the shape and the bytes; dims are copied. */
int by_api_array(const struct baryon_array *theirs, struct by_array *ours,
                 struct baryon_error *err);
/* Takes the statistics over, also when it fails. */
int by_api_give_statistics(struct baryon_statistics **out, struct by_stats *stats,
                           struct baryon_error *err);

#endif
