/* Computes rows of a weight that a rotation changes, in float64. */
#include "llm/rotate_edit.h"

#include <string.h>

#define COLUMNS_AT_ONCE 32

/* --- Columns --- */

static void turn_row(const struct by_llm_rotate_edit *edit, double *values, double *scratch,
                     float *row, size_t columns)
{
    const struct by_rotation *rotation = edit->columns;
    for (size_t i = 0; i < columns; i++)
        values[i] = (double)row[i] * (edit->gains ? (double)edit->gains[i] : 1);
    for (size_t at = edit->first_column; rotation && at + rotation->size <= columns;
         at += rotation->size)
        by_rotation_apply_with(rotation, values + at, scratch);
    for (size_t i = 0; i < columns; i++)
        row[i] = (float)values[i];
}

static int turn_columns(const struct by_llm_rotate_edit *edit, float *rows, size_t count,
                        struct baryon_error *err)
{
    const size_t columns = edit->edit.from.columns;
    const size_t size = edit->columns ? edit->columns->size : 0;
    if (!edit->gains && !edit->columns)
        return 0;
    double *values = by_alloc(columns + size, sizeof *values, err);
    if (!values)
        return -1;
    for (size_t i = 0; i < count; i++)
        turn_row(edit, values, values + columns, rows + i * columns, columns);
    by_free(values);
    return 0;
}

/* --- Rows --- */

/* Some columns of a block of rows, each of them turned. */
static void turn_block(const struct by_rotation *rotation, double *values, double *scratch,
                       float *block, size_t columns, size_t count)
{
    const size_t size = rotation->size;
    for (size_t i = 0; i < size; i++)
        for (size_t c = 0; c < count; c++)
            values[c * size + i] = (double)block[i * columns + c];
    for (size_t c = 0; c < count; c++)
        by_rotation_apply_with(rotation, values + c * size, scratch);
    for (size_t i = 0; i < size; i++)
        for (size_t c = 0; c < count; c++)
            block[i * columns + c] = (float)values[c * size + i];
}

static int turn_rows(const struct by_llm_rotate_edit *edit, float *all, struct baryon_error *err)
{
    const size_t rows = edit->edit.from.rows, columns = edit->edit.from.columns;
    const size_t size = edit->rows->size;
    double *values = by_alloc(size * (COLUMNS_AT_ONCE + 1), sizeof *values, err);
    if (!values)
        return -1;
    for (size_t at = edit->first_row; at + size <= rows; at += size)
        for (size_t c = 0; c < columns; c += COLUMNS_AT_ONCE)
            turn_block(edit->rows, values, values + size * COLUMNS_AT_ONCE, all + at * columns + c,
                       columns, columns - c < COLUMNS_AT_ONCE ? columns - c : COLUMNS_AT_ONCE);
    by_free(values);
    return 0;
}

/* --- Both --- */

/* All of the weight into the cache, whose lock is held. */
static int fill_cache(const struct by_llm_rotate_edit *edit, const struct by_llm_source *source,
                      struct baryon_error *err)
{
    struct by_llm_rotate_cache *cache = edit->cache;
    const struct by_llm_weight *from = &edit->edit.from;
    if (cache->of == &edit->edit)
        return 0;
    by_free(cache->values);
    cache->of = NULL;
    cache->values = by_alloc(from->rows * from->columns, sizeof *cache->values, err);
    if (!cache->values || by_llm_source_rows(source, from, 0, from->rows, cache->values, err) ||
        turn_columns(edit, cache->values, from->rows, err) || turn_rows(edit, cache->values, err))
        return -1;
    cache->of = &edit->edit;
    return 0;
}

static int rotated_rows(const struct by_llm_edit *base, const struct by_llm_source *source,
                        size_t first, size_t count, float *out, struct baryon_error *err)
{
    const struct by_llm_rotate_edit *edit = (const struct by_llm_rotate_edit *)base;
    const size_t columns = base->from.columns;
    for (size_t i = 0; edit->constant && i < count * columns; i++)
        out[i] = edit->value;
    if (edit->constant)
        return 0;
    if (!edit->rows)
        return by_llm_source_rows(source, &base->from, first, count, out, err) ||
                       turn_columns(edit, out, count, err)
                   ? -1
                   : 0;
    pthread_mutex_lock(&edit->cache->lock);
    const int status = fill_cache(edit, source, err);
    if (!status)
        memcpy(out, edit->cache->values + first * columns, count * columns * sizeof *out);
    pthread_mutex_unlock(&edit->cache->lock);
    return status;
}

void by_llm_rotate_edit_open(struct by_llm_rotate_edit *edit, struct by_llm_rotate_cache *cache)
{
    edit->edit.rows = rotated_rows;
    edit->cache = cache;
}

void by_llm_rotate_cache_open(struct by_llm_rotate_cache *cache)
{
    *cache = (struct by_llm_rotate_cache){0};
    pthread_mutex_init(&cache->lock, NULL);
}

void by_llm_rotate_cache_close(struct by_llm_rotate_cache *cache)
{
    by_free(cache->values);
    pthread_mutex_destroy(&cache->lock);
}
