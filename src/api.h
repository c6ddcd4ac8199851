/*
 * What the files of the public interface share.
 */
#ifndef BY_API_H
#define BY_API_H

#include "onnx/load.h"

/*
 * Copies the caller's options, whose first member is their size, over defaults: a
 * caller that was compiled with an older header has a smaller struct, the rest
 * keeps its default. A larger one is fine while all that we do not know is zero.
 * theirs may be NULL.
 */
int by_api_options(void *ours, size_t size, const void *theirs, struct baryon_error *err);

int by_api_load_options(struct by_load_options *ours, const struct baryon_load_options *theirs,
                        struct baryon_error *err);

#endif
