/*
 * The graph that ONNX Runtime makes of a model when it optimizes it, to be changed and opened
 * without optimizations: operators of ours stand where its layouts pass through.
 */
#ifndef BY_OPTIMIZED_H
#define BY_OPTIMIZED_H

#include "base/file.h"
#include "engine/session_internal.h"

struct by_optimized {
    struct by_mapped file, weights;
    struct baryon_model *model; /* not linked; its weights lie in the mapped files */
};

/* Why it is not to be had or of no use; NULL: nothing. Depends on the model and the options, but on
 * no number of threads. Halves: where the runtime computes them as floats, it would round what it
 * puts out. */
int by_optimized_obstacle(const char **why, struct baryon_model *model,
                          const struct by_session_options *options, struct baryon_error *err);
int by_optimized_open(struct by_optimized *optimized, struct baryon_model *model,
                      const struct by_session_options *options, struct baryon_error *err);
/* What went wrong with it: without memory or disk that is the caller's error, and -1; else the log
 * has `what`, and why, and 0 lets the original model be opened. */
int by_optimized_give_up(const struct by_session_options *options, const char *what,
                         const struct baryon_error *problem, struct baryon_error *err);
void by_optimized_close(struct by_optimized *optimized);

#endif
