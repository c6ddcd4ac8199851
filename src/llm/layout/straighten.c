/* Takes rotations of inputs back, for those who read weights and run no model. */
#include "llm/layout/online.h"
#include "solve/rotation.h"

struct straight_edit {
    struct by_llm_edit edit; /* the first member */
    const struct by_rotation *back;
};

/* Rows W for inputs x Q are rows W Q' for x. */
static int straight_rows(const struct by_llm_edit *base, const struct by_llm_source *source,
                         size_t first, size_t count, float *out, struct baryon_error *err)
{
    const struct by_rotation *back = ((const struct straight_edit *)base)->back;
    const size_t size = back->size, all = count * base->from.columns;
    if (by_llm_source_rows(source, &base->from, first, count, out, err))
        return -1;
    double *values = by_alloc(2 * size, sizeof *values, err);
    if (!values)
        return -1;
    for (size_t at = 0; at < all; at += size)
        by_rotation_apply_floats(back, out + at, values);
    by_free(values);
    return 0;
}

int by_llm_online_straighten(struct by_llm_source *source, struct baryon_error *err)
{
    for (size_t i = 0; i < source->count; i++) {
        struct by_llm_weight *weight = &source->weights[i];
        if (!weight->rotation)
            continue;
        struct straight_edit *edit = BY_ARENA_NEW(&source->arena, struct straight_edit, err);
        if (!edit || !(edit->back = by_llm_online_back(source, weight, err)))
            return -1;
        edit->edit.rows = straight_rows;
        by_llm_source_edit(weight, &edit->edit);
        weight->rotation = NULL;
    }
    return 0;
}
