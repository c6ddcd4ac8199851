/* Makes the constants of rows whose parameters moved: scales, zero points, integers. */
#include "quant/rescale_internal.h"

#include "ir/tensor.h"
#include "pass/edit.h"
#include "quant/lower_internal.h"
#include "quant/weights.h"

#include <math.h>

/* As the old one is laid out, unless there are more or fewer of them now. */
struct layout {
    const int64_t *dims;
    size_t rank;
    int64_t count;
};

static void layout_as(const struct baryon_tensor *old, size_t count, struct layout *layout)
{
    size_t before = 0;
    *layout = (struct layout){.count = (int64_t)count};
    by_tensor_count(old, &before, NULL);
    layout->dims = before == count ? old->dims.at : &layout->count;
    layout->rank = before == count ? old->dims.count : count > 1;
}

static struct baryon_tensor *make_scale(struct by_quant_plan *plan, const struct by_params *params,
                                        const struct baryon_tensor *old, const char *name,
                                        struct baryon_error *err)
{
    struct layout layout;
    double *scales = by_alloc(params->count, sizeof *scales, err);
    if (!scales)
        return NULL;
    layout_as(old, params->count, &layout);
    for (size_t i = 0; i < params->count; i++)
        scales[i] = (double)params->scales[i];
    struct baryon_tensor *made =
        by_pass_round(plan->model, name, old->data_type, layout.dims, layout.rank, scales, err);
    by_free(scales);
    return made;
}

static struct baryon_tensor *make_zero(struct by_quant_plan *plan, const struct by_params *params,
                                       const struct baryon_tensor *old, const char *name,
                                       struct baryon_error *err)
{
    struct layout layout;
    size_t size;
    layout_as(old, params->count, &layout);
    if (by_elem_bytes(old->data_type, params->count, &size, err))
        return NULL;
    uint8_t *bytes = by_alloc_zero(size, 1, err);
    if (!bytes)
        return NULL;
    by_lower_pack(old->data_type, params->zeros, params->count, bytes);
    struct baryon_tensor *made = by_tensor_new(plan->model, name, old->data_type, layout.dims,
                                               layout.rank, bytes, size, err);
    by_free(bytes);
    return made;
}

/* --- Integers --- */

struct integers {
    const struct baryon_tensor *old;
    struct by_tensor_spec spec;
    struct by_span bytes;
    float *values; /* what the old ones mean */
    size_t count;
};

static struct by_tensor_spec spec_of(const struct integers *integers,
                                     const struct by_params *params)
{
    struct by_tensor_spec spec = integers->spec;
    spec.granularity = params->axis < 0 ? BY_PER_TENSOR : BY_PER_CHANNEL;
    return spec;
}

static struct by_weight_view view_of(const struct integers *integers,
                                     const struct by_params *params)
{
    const struct by_ints *dims = &integers->old->dims;
    return (struct by_weight_view){.values = integers->values,
                                   .rank = dims->count,
                                   .dims = dims->at,
                                   .axis = params->axis,
                                   .group_axis = -1,
                                   .name = integers->old->name};
}

static int read_meaning(struct by_arena *arena, struct integers *integers,
                        const struct by_params *was, struct baryon_error *err)
{
    const struct by_tensor_spec spec = spec_of(integers, was);
    if (by_tensor_count(integers->old, &integers->count, err) ||
        by_tensor_bytes(integers->old, arena, &integers->bytes, err) ||
        !(integers->values = by_alloc(integers->count, sizeof(float), err)))
        return -1;
    const struct by_weight_view view = view_of(integers, was);
    return by_weight_dequantize(integers->bytes.data, &view, &spec, was, integers->values, err);
}

/* More than a step away from what it was: it is at the end of its type. */
static int count_saturated(const struct integers *integers, const struct by_params *params,
                           const uint8_t *bytes, size_t *saturated, struct baryon_error *err)
{
    const struct by_tensor_spec spec = spec_of(integers, params);
    const struct by_weight_view view = view_of(integers, params);
    float *now = by_alloc(integers->count, sizeof *now, err), most = 0;
    int failed = now ? by_weight_dequantize(bytes, &view, &spec, params, now, err) : -1;
    for (size_t i = 0; !failed && i < params->count; i++)
        most = fmaxf(most, params->scales[i]);
    const bool own = params->count == integers->count;
    for (size_t i = 0; !failed && i < integers->count; i++)
        *saturated += fabsf(now[i] - integers->values[i]) > (own ? params->scales[i] : most);
    by_free(now);
    return failed;
}

static struct baryon_tensor *quantize_again(struct by_quant_plan *plan, struct integers *integers,
                                            const struct by_params *params, const char *name,
                                            size_t *saturated, struct baryon_error *err)
{
    const struct by_tensor_spec spec = spec_of(integers, params);
    const struct by_weight_view view = view_of(integers, params);
    struct baryon_tensor *made = NULL;
    size_t size;
    if (by_elem_bytes(spec.elem, integers->count, &size, err))
        return NULL;
    uint8_t *bytes = by_alloc_zero(size, 1, err);
    if (bytes && !by_weight_quantize(&view, &spec, params, NULL, bytes, size, err) &&
        !count_saturated(integers, params, bytes, saturated, err))
        made = by_tensor_new(plan->model, name, spec.elem, integers->old->dims.at,
                             integers->old->dims.count, bytes, size, err);
    by_free(bytes);
    return made;
}

static struct baryon_tensor *make_integers(const struct by_rescaling *rescaling, size_t row,
                                           const struct baryon_tensor *old, const char *name,
                                           size_t *saturated, struct baryon_error *err)
{
    struct by_quant_plan *plan = rescaling->plan;
    struct integers integers = {.old = old, .spec = {.elem = old->data_type}};
    struct baryon_tensor *made = NULL;
    struct by_arena arena;
    by_arena_init(&arena, 0);
    if (read_meaning(&arena, &integers, &rescaling->was[row], err) == 0)
        made = quantize_again(plan, &integers, &plan->rows.at[row].params, name, saturated, err);
    by_free(integers.values);
    by_arena_release(&arena);
    return made;
}

struct baryon_tensor *by_rescale_tensor(const struct by_rescaling *rescaling, size_t row,
                                        enum by_rescale_slot slot, const struct baryon_tensor *old,
                                        size_t *saturated, struct baryon_error *err)
{
    struct by_quant_plan *plan = rescaling->plan;
    const struct by_params *params = &plan->rows.at[row].params;
    const char *name = by_model_fresh_name(plan->model, old->name, err);
    if (!name)
        return NULL;
    if (slot == BY_SLOT_SCALE)
        return make_scale(plan, params, old, name, err);
    if (slot == BY_SLOT_ZERO)
        return make_zero(plan, params, old, name, err);
    return make_integers(rescaling, row, old, name, saturated, err);
}
