/* Declares the report of `baryon compare` as text. */
#ifndef BY_COMPARE_VIEW_H
#define BY_COMPARE_VIEW_H

#include "cli/out.h"
#include "compare/compare.h"

/* At most `top` layers and tensors that differ; 0: all. */
int by_compare_text(const struct by_comparison *comparison, size_t top, struct by_out *out,
                    struct baryon_error *err);

#endif
