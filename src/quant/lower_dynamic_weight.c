/* Quantizes and transposes the weights of layers with dynamic quantization. */
#include "onnx/load.h"
#include "quant/floats.h"
#include "quant/lower_dynamic.h"
#include "quant/weights.h"

#include <string.h>

#define SHIFT 128 /* from int8 to uint8 */

struct work {
    struct by_dynamic *dynamic;
    struct by_quant_row *row;
    const struct by_dynamic_form *form;
    struct by_tensor_spec spec;
    struct by_weight_view view;
    struct by_arena arena;
    struct by_params params;
};

/* Of the map: operators may want one constant in several forms. */
struct key {
    size_t row, axis, transposed, equal_zeros;
};

/* --- Parameters --- */

static bool zeros_differ(const struct by_params *params)
{
    for (size_t i = 1; i < params->count; i++)
        if (params->zeros[i] != params->zeros[0])
            return true;
    return false;
}

/* A channel of zeros alone has zero point 0 and would be the odd one: any will do for it. */
static void level_zeros(struct by_params *params)
{
    int64_t most = 0;
    for (size_t i = 0; i < params->count; i++)
        most = params->zeros[i] > most ? params->zeros[i] : most;
    for (size_t i = 0; i < params->count; i++)
        params->zeros[i] = most;
}

/* The plan's parameters where the operator sees the tensor as it is, else those of its view. */
static int find_params(struct work *work, struct baryon_error *err)
{
    const struct by_quant_row *row = work->row;
    const size_t channels = work->view.axis < 0 ? 1 : (size_t)work->form->dims[work->view.axis];
    const bool as_planned =
        row->params.axis == work->view.axis && row->params.count == channels &&
        (work->view.axis <= 0 || row->value->initializer->dims.count == work->form->rank);
    work->params = row->params;
    if (!as_planned && by_weight_params(&work->view, &work->spec, work->dynamic->pool, &work->arena,
                                        &work->params, NULL, err))
        return -1;
    if (!work->form->equal_zeros || !zeros_differ(&work->params))
        return 0;
    work->spec.symmetric = true;
    if (by_weight_params(&work->view, &work->spec, work->dynamic->pool, &work->arena, &work->params,
                         NULL, err))
        return -1;
    level_zeros(&work->params);
    return 0;
}

/* --- Integers --- */

static void transpose(const struct by_dynamic_form *form, const uint8_t *in, uint8_t *out)
{
    const size_t rows = (size_t)form->dims[form->rank - 2];
    const size_t columns = (size_t)form->dims[form->rank - 1];
    size_t count = 1;
    for (size_t i = 0; i + 2 < form->rank; i++)
        count *= (size_t)form->dims[i];
    for (size_t i = 0; i < count; i++)
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < columns; c++)
                out[(i * columns + c) * rows + r] = in[(i * rows + r) * columns + c];
}

static int add_levels(struct work *work, struct baryon_value **value, struct baryon_error *err)
{
    const struct by_dynamic_form *form = work->form;
    const struct by_ints *own = &work->row->value->initializer->dims;
    const size_t rank = form->flat ? form->rank : own->count;
    int64_t dims[BY_RANK_MAX];
    size_t size;
    memcpy(dims, form->flat ? form->dims : own->at, rank * sizeof *dims);
    if (form->transposed) {
        dims[own->count - 1] = own->at[own->count - 2];
        dims[own->count - 2] = own->at[own->count - 1];
    }
    *value = by_lower_new(work->dynamic->graph, work->row->value->name, "quantized", BY_ELEM_UINT8,
                          dims, rank, NULL, 0, err);
    if (!*value || by_dims_count(dims, rank, &size, err))
        return -1;
    uint8_t *out = by_lower_room(*value), *straight = out;
    if (form->transposed && !(straight = by_alloc(size, 1, err)))
        return -1;
    int failed = by_weight_quantize(&work->view, &work->spec, &work->params, work->dynamic->pool,
                                    straight, size, err);
    if (!failed && work->spec.elem == BY_ELEM_INT8)
        for (size_t i = 0; i < size; i++)
            straight[i] = (uint8_t)(straight[i] + SHIFT);
    if (!failed && form->transposed) {
        /* Dims of the view may split the tensor's first axis; the last two are the same. */
        struct by_dynamic_form whole = *form;
        memcpy(whole.dims, own->at, own->count * sizeof *whole.dims);
        whole.rank = own->count;
        transpose(&whole, straight, out);
    }
    if (straight != out)
        by_free(straight);
    by_tensor_done(work->dynamic->plan->model, (*value)->initializer);
    return failed ? -1 : 0;
}

static int add_params(struct work *work, struct by_dynamic_weight *weight, struct baryon_error *err)
{
    const struct by_dynamic_form *form = work->form;
    const struct by_params *params = &work->params;
    const bool each = params->count > 1 || work->view.axis >= 0;
    const size_t rank = each ? form->scale_rank : 0;
    const size_t zeros = form->one_zero ? 1 : params->count;
    const int64_t shift = work->spec.elem == BY_ELEM_INT8 ? SHIFT : 0;
    const char *stem = work->row->value->name;
    weight->scale =
        by_lower_new(work->dynamic->graph, stem, "scale", BY_ELEM_FLOAT, form->scale_dims, rank,
                     params->scales, params->count * sizeof *params->scales, err);
    weight->zero = by_lower_new(work->dynamic->graph, stem, "zero_point", BY_ELEM_UINT8,
                                form->scale_dims, form->one_zero ? 0 : rank, NULL, 0, err);
    if (!weight->scale || !weight->zero)
        return -1;
    for (size_t i = 0; i < zeros; i++)
        by_lower_room(weight->zero)[i] = (uint8_t)(params->zeros[i] + shift);
    return 0;
}

static int make(struct work *work, struct by_dynamic_weight *weight, struct baryon_error *err)
{
    struct by_floats_view floats;
    if (by_floats_open(&floats, work->row->value->initializer, err))
        return -1;
    work->view.values = floats.values;
    int failed = find_params(work, err) || add_levels(work, &weight->levels, err) ||
                 add_params(work, weight, err);
    by_floats_close(&floats);
    by_tensor_done(work->dynamic->plan->model, work->row->value->initializer);
    return failed ? -1 : 0;
}

static int check_elem(const struct by_quant_row *row, struct baryon_error *err)
{
    if (row->spec.elem == BY_ELEM_INT8 || row->spec.elem == BY_ELEM_UINT8)
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "weight '%s' as %s: operators that quantize at run time support int8 and uint8",
            row->value->name, by_elem_name(row->spec.elem));
    return -1;
}

int by_dynamic_weight(struct by_dynamic *dynamic, size_t row, const struct by_dynamic_form *form,
                      struct by_dynamic_weight **weight, struct baryon_error *err)
{
    struct by_arena *arena = &dynamic->plan->arena;
    struct by_quant_row *at = &dynamic->plan->rows.at[row];
    const struct key wanted = {row, (size_t)(form->axis + 1), form->transposed, form->equal_zeros};
    if ((*weight = by_map_get_bytes(&dynamic->weights, &wanted, sizeof wanted)))
        return 0;
    struct work work = {.dynamic = dynamic, .row = at, .form = form, .spec = at->spec};
    work.view = (struct by_weight_view){.rank = form->rank,
                                        .dims = form->dims,
                                        .axis = form->axis,
                                        .group_axis = -1,
                                        .name = at->value->name};
    work.spec.granularity = form->axis < 0 ? BY_PER_TENSOR : BY_PER_CHANNEL;
    struct key *key = BY_ARENA_NEW(arena, struct key, err);
    if (check_elem(at, err) || !key ||
        !(*weight = BY_ARENA_NEW(arena, struct by_dynamic_weight, err)))
        return -1;
    *key = wanted;
    by_arena_init(&work.arena, 0);
    int failed = make(&work, *weight, err);
    by_arena_release(&work.arena);
    return failed ? -1 : by_map_put_bytes(&dynamic->weights, key, sizeof *key, *weight, err);
}
