/* Initializers for scales and zero points. */
#include "quant/lower_internal.h"

#include "base/half.h"

#include <string.h>

void by_lower_pack(int64_t elem, const int64_t *integers, size_t count, uint8_t *out)
{
    const unsigned bits = by_elem_info(elem)->bits;
    for (size_t i = 0; i < count; i++) {
        const uint64_t value = (uint64_t)integers[i];
        const unsigned place = bits < 8 ? (unsigned)(i * bits % 8) : 0;
        if (bits < 8)
            out[i * bits / 8] =
                (uint8_t)((place ? out[i * bits / 8] : 0u) | (value & ((1u << bits) - 1)) << place);
        for (unsigned byte = 0; bits >= 8 && byte < bits / 8; byte++)
            out[i * (bits / 8) + byte] = (uint8_t)(value >> (8 * byte));
    }
}

/* --- Layout: the constant's own dims, with groups along their axis --- */

struct layout {
    size_t rank, count;
    int64_t dims[BY_RANK_MAX];
    size_t channel_stride, channels, group_stride, groups; /* in the layout */
};

static void stride_of(const struct layout *layout, int axis, size_t *stride, size_t *size)
{
    *stride = 1;
    *size = axis < 0 ? 1 : (size_t)layout->dims[axis];
    for (size_t i = axis < 0 ? layout->rank : (size_t)axis + 1; i < layout->rank; i++)
        *stride *= (size_t)layout->dims[i];
}

static void layout_of(const struct by_lowering *lowering, const struct by_quant_row *row,
                      struct layout *layout)
{
    const struct by_params *params = &row->params;
    const bool one_as_list =
        lowering->recipe->compat && row->role == BY_ROLE_BIAS && row->input_row != BY_NO_ROW;
    *layout = (struct layout){0};
    if (params->count > 1 && params->group_axis >= 0 && params->groups > 1) {
        const struct by_ints *dims = by_quant_dims(row);
        layout->rank = dims->count;
        for (size_t i = 0; i < dims->count; i++)
            layout->dims[i] = dims->at[i];
        layout->dims[params->group_axis] = (int64_t)params->groups;
    } else if (params->axis >= 0 || one_as_list) {
        layout->rank = 1;
        layout->dims[0] = (int64_t)params->count;
    }
    layout->count = 1;
    for (size_t i = 0; i < layout->rank; i++)
        layout->count *= (size_t)layout->dims[i];
    const bool grouped = layout->rank > 1 || (params->groups > 1 && params->group_axis >= 0);
    stride_of(layout,
              grouped        ? params->axis
              : layout->rank ? 0
                             : -1,
              &layout->channel_stride, &layout->channels);
    stride_of(layout, grouped ? params->group_axis : -1, &layout->group_stride, &layout->groups);
}

/* The parameter for a place of the layout. */
static size_t source_of(const struct layout *layout, const struct by_params *params, size_t at)
{
    const size_t channel = at / layout->channel_stride % layout->channels;
    const size_t group = layout->groups > 1 ? at / layout->group_stride % layout->groups : 0;
    return params->count == 1 ? 0 : channel * params->groups + group;
}

/* --- The two tensors --- */

static struct baryon_value *add_tensor(struct by_lowering *lowering, const char *name, int64_t elem,
                                       const struct layout *layout, const uint8_t *bytes,
                                       struct baryon_error *err)
{
    size_t size;
    if (!name || by_elem_bytes(elem, layout->count, &size, err))
        return NULL;
    struct baryon_tensor *tensor =
        by_tensor_new(lowering->model, name, elem, layout->dims, layout->rank, bytes, size, err);
    return tensor ? by_graph_add_initializer(lowering->graph, tensor, err) : NULL;
}

static struct baryon_value *add_scale(struct by_lowering *lowering, const struct by_quant_row *row,
                                      const struct layout *layout, const char *name,
                                      struct baryon_error *err)
{
    const bool half = row->value->elem == BY_ELEM_FLOAT16;
    uint8_t *bytes = by_alloc(layout->count, sizeof(float), err);
    if (!bytes)
        return NULL;
    for (size_t i = 0; i < layout->count; i++) {
        const float scale = row->params.scales[source_of(layout, &row->params, i)];
        const uint16_t small = by_f32_to_f16_one(scale);
        if (half)
            memcpy(bytes + 2 * i, &small, sizeof small);
        else
            memcpy(bytes + 4 * i, &scale, sizeof scale);
    }
    struct baryon_value *value =
        add_tensor(lowering, name, half ? BY_ELEM_FLOAT16 : BY_ELEM_FLOAT, layout, bytes, err);
    by_free(bytes);
    return value;
}

static struct baryon_value *add_zero(struct by_lowering *lowering, const struct by_quant_row *row,
                                     const struct layout *layout, const char *name,
                                     struct baryon_error *err)
{
    struct baryon_value *value = NULL;
    int64_t *zeros = by_alloc(layout->count, sizeof *zeros, err);
    uint8_t *bytes = by_alloc_zero(layout->count, sizeof(int64_t), err);
    if (zeros && bytes) {
        for (size_t i = 0; i < layout->count; i++)
            zeros[i] = row->params.zeros[source_of(layout, &row->params, i)];
        by_lower_pack(row->spec.elem, zeros, layout->count, bytes);
        value = add_tensor(lowering, name, row->spec.elem, layout, bytes, err);
    }
    by_free(zeros);
    by_free(bytes);
    return value;
}

static int make(struct by_lowering *lowering, size_t index, struct baryon_error *err)
{
    const struct by_quant_row *row = &lowering->plan->rows.at[index];
    struct by_lowered *made = &lowering->at[index];
    const bool product = row->role == BY_ROLE_BIAS && row->input_row != BY_NO_ROW;
    struct layout layout;
    if (!row->params.count)
        return by_fail(err, BARYON_ERR_INTERNAL, "tensor '%s' has no scale", row->value->name);
    layout_of(lowering, row, &layout);
    made->scale = add_scale(
        lowering, row, &layout,
        by_lower_name(lowering, row->value->name, product ? "quantized_scale" : "scale", 0, err),
        err);
    made->zero =
        !made->scale
            ? NULL
            : add_zero(lowering, row, &layout,
                       by_lower_name(lowering, row->value->name,
                                     product ? "quantized_zero_point" : "zero_point", 0, err),
                       err);
    return made->zero ? 0 : -1;
}

int by_lower_params(struct by_lowering *lowering, size_t row, struct baryon_value **scale,
                    struct baryon_value **zero, struct baryon_error *err)
{
    const size_t owner = by_quant_owner(lowering->plan, row);
    if (!lowering->at[owner].scale && make(lowering, owner, err))
        return -1;
    *scale = lowering->at[owner].scale;
    *zero = lowering->at[owner].zero;
    return 0;
}

int by_lower_scale(struct by_lowering *lowering, size_t row, struct baryon_value **scale,
                   struct baryon_error *err)
{
    const size_t owner = by_quant_owner(lowering->plan, row);
    const struct by_quant_row *at = &lowering->plan->rows.at[owner];
    struct layout layout;
    if (!lowering->at[owner].scale) {
        layout_of(lowering, at, &layout);
        lowering->at[owner].scale = add_scale(
            lowering, at, &layout, by_lower_name(lowering, at->value->name, "scale", 0, err), err);
    }
    *scale = lowering->at[owner].scale;
    return *scale ? 0 : -1;
}
