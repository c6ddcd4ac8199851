/* Multiplies rows and columns of weights on the way. */
#include "llm/scaling_fold.h"

static int scaled_rows(const struct by_llm_edit *base, const struct by_llm_source *source,
                       size_t first, size_t count, float *out, struct baryon_error *err)
{
    const struct by_llm_scale_edit *edit = (const struct by_llm_scale_edit *)base;
    const size_t columns = base->from.columns;
    if (by_llm_source_rows(source, &base->from, first, count, out, err))
        return -1;
    for (size_t r = 0; r < count; r++) {
        const size_t place = first + r;
        const float row =
            edit->rows && place >= edit->first_row ? edit->rows[place - edit->first_row] : 1;
        for (size_t i = 0; i < columns; i++) {
            float *value = &out[r * columns + i];
            *value = (*value + edit->centre) * (edit->columns ? edit->columns[i] : 1) * row -
                     edit->centre;
        }
    }
    return 0;
}

struct by_llm_scale_edit *by_llm_scale_edit(struct by_llm_weight *weight, struct by_arena *arena,
                                            struct baryon_error *err)
{
    struct by_llm_scale_edit *edit = BY_ARENA_NEW(arena, struct by_llm_scale_edit, err);
    if (!edit)
        return NULL;
    edit->edit.rows = scaled_rows;
    by_llm_source_edit(weight, &edit->edit);
    return edit;
}
