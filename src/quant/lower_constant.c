/* Integers of constants. Big ones one after the other with all threads inside, small ones side by
 * side: floats are only copied where they do not lie in the file as they are needed. */
#include "quant/lower_format.h"

#include "onnx/load.h"

#include "quant/floats.h"
#include "quant/lower_block.h"
#include "quant/rounded.h"

#include <string.h>

#define BIG_ELEMENTS ((size_t)1 << 20)

static bool is_quantized_constant(const struct by_quant_row *row)
{
    return row->role != BY_ROLE_ACTIVATION && !row->keep_float;
}

static size_t elements_of_row(const struct by_quant_row *row)
{
    size_t count = 0;
    by_tensor_count(row->value->initializer, &count, NULL);
    return count;
}

/* --- Room for them, which is made in order --- */

static int make_constant_room(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const struct by_ints *dims = by_quant_dims(row);
    const bool rounded = by_lower_is_rounded(lowering->recipe, row);
    const int64_t elem = rounded ? BY_ELEM_FLOAT : row->spec.elem;
    const char *name = by_lower_name(lowering, row->value->name,
                                     rounded ? row->spec.format->name : "quantized", 0, err);
    size_t size;
    if (!name || by_elem_bytes(elem, elements_of_row(row), &size, err))
        return -1;
    struct baryon_tensor *made =
        by_tensor_new(lowering->model, name, elem, dims->at, dims->count, NULL, size, err);
    if (made)
        lowering->at[index].integers = by_graph_add_initializer(lowering->graph, made, err);
    if (lowering->at[index].integers && by_lower_is_stored(row))
        lowering->at[index].scale = by_lower_block_scales(lowering, row, err);
    return lowering->at[index].integers && (!by_lower_is_stored(row) || lowering->at[index].scale)
               ? 0
               : -1;
}

/* --- Filling it --- */

static int fill_rounded(const struct by_quant_row *row, size_t count, uint8_t *out,
                        struct baryon_error *err)
{
    int64_t *wide = by_alloc(count, sizeof *wide, err);
    if (!wide)
        return -1;
    for (size_t i = 0; i < count; i++)
        wide[i] = row->rounded[i];
    by_lower_pack(row->spec.elem, wide, count, out);
    by_free(wide);
    return 0;
}

static int fill_nearest(struct by_lowering *lowering, size_t index, const float *values,
                        struct by_pool *pool, uint8_t *out, size_t size, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const struct by_params *params = by_quant_params(lowering->plan, index);
    const struct by_weight_view view = by_quant_view(row, params, values);
    if (!params->count)
        return by_fail(err, BARYON_ERR_INTERNAL, "tensor '%s' has no scale", row->value->name);
    return by_weight_quantize(&view, &row->spec, params, pool, out, size, err);
}

static int fill_values(struct by_lowering *lowering, size_t index, const struct by_floats_view *in,
                       struct by_pool *pool, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const struct by_span *room = &lowering->at[index].integers->initializer->raw_data;
    const float *values = row->solved ? row->solved : in->values;
    uint8_t *out = (uint8_t *)(uintptr_t)room->data;
    if (by_lower_is_stored(row)) {
        const struct baryon_tensor *scales = lowering->at[index].scale->initializer;
        return by_lower_block_fill(row, values, pool, out, scales, err);
    }
    return row->spec.format
               ? by_lower_floats(lowering->recipe, row, values, in->count, pool, out, err)
               : fill_nearest(lowering, index, values, pool, out, room->size, err);
}

static int fill_constant(struct by_lowering *lowering, size_t index, struct by_pool *pool,
                         struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    const struct baryon_tensor *made = lowering->at[index].integers->initializer;
    const size_t count = elements_of_row(row);
    if (row->rounded)
        return fill_rounded(row, count, (uint8_t *)(uintptr_t)made->raw_data.data, err);
    struct by_floats_view floats;
    if (by_floats_open(&floats, row->value->initializer, err))
        return -1;
    const int failed = fill_values(lowering, index, &floats, pool, err);
    by_floats_close(&floats);
    if (count >= BIG_ELEMENTS) {
        by_tensor_done(lowering->model, row->value->initializer);
        by_tensor_done(lowering->model, made);
    }
    return failed;
}

struct work {
    struct by_lowering *lowering;
    const size_t *rows;
};

static int fill_small(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    (void)worker;
    const struct work *work = context;
    for (size_t i = begin; i < end; i++)
        if (fill_constant(work->lowering, work->rows[i], NULL, err))
            return -1;
    return 0;
}

/* Stands as float32 before its nodes, but not as it is. */
static bool is_kept_float(const struct by_quant_row *row)
{
    return row->keep_float && row->spec.format && (row->solved || !by_spec_is_block(&row->spec));
}

int by_lower_constants(struct by_lowering *lowering, struct baryon_error *err)
{
    const struct by_quant_plan *plan = lowering->plan;
    size_t *rows = by_alloc(plan->rows.count, sizeof *rows, err), small = 0;
    int failed = rows ? 0 : -1;
    for (size_t i = 0; !failed && i < plan->rows.count; i++)
        if (is_kept_float(&plan->rows.at[i])) {
            failed = by_lower_fit(lowering, i, err);
        } else if (is_quantized_constant(&plan->rows.at[i])) {
            failed = make_constant_room(lowering, i, err);
            if (!failed && elements_of_row(&plan->rows.at[i]) < BIG_ELEMENTS)
                rows[small++] = i;
            else if (!failed)
                failed = fill_constant(lowering, i, lowering->pool, err);
        }
    struct work work = {lowering, rows};
    if (!failed)
        failed = by_par_for(lowering->pool, small, 1, fill_small, &work, err);
    by_free(rows);
    return failed ? -1 : 0;
}
