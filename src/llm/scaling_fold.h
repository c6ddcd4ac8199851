/* One weight whose rows or columns are multiplied. */
#ifndef BY_LLM_SCALING_FOLD_H
#define BY_LLM_SCALING_FOLD_H

#include "llm/layout/source.h"

struct by_llm_scale_edit {
    struct by_llm_edit edit; /* the first member */
    float centre;            /* of norms: what is added before, and taken off after */
    const float *columns;    /* factors; NULL: 1 */
    const float *rows;       /* of rows from first_row on; NULL: 1 */
    size_t first_row;
};

/* Changes the weight in place, whatever was changed before; NULL when memory ends. */
struct by_llm_scale_edit *by_llm_scale_edit(struct by_llm_weight *weight, struct by_arena *arena,
                                            struct baryon_error *err);

#endif
