/* Tensors, attributes and declared types in the new type. */
#include "pass/retype_internal.h"

#include "base/half.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* --- Numbers --- */

/* The least magnitude that becomes infinity. */
static float beyond(int64_t elem)
{
    return elem == BY_ELEM_FLOAT16 ? 65520 : elem == BY_ELEM_BFLOAT16 ? 0x1.ffp127F : INFINITY;
}

static float greatest(int64_t elem)
{
    return elem == BY_ELEM_FLOAT16 ? 65504 : 0x1.fep127F;
}

static int too_great(const struct by_retype *r, float value, size_t at, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED, "element %zu is %g, %s represents up to %g", at,
            (double)value, by_elem_name(r->to), (double)greatest(r->to));
    return by_err_hint(err,
                       "clamp it with --clamp, or keep its consumers in float32 with --exclude");
}

/* What 16 bits cannot hold. A single number that is not 0 stays so: something divides by it. */
static int guard(struct by_retype *r, float *values, size_t count, struct baryon_error *err)
{
    const float least = r->to == BY_ELEM_FLOAT16 ? 0x1p-24F : 0x1p-133F;
    for (size_t i = 0; i < count; i++) {
        const float size = fabsf(values[i]);
        if (isfinite(size) && size >= beyond(r->to)) {
            if (!r->options->clamp)
                return too_great(r, values[i], i, err);
            values[i] = copysignf(greatest(r->to), values[i]);
            r->report->clamped++;
        } else if (size > 0 && size <= least / 2) {
            if (count == 1)
                values[i] = copysignf(least, values[i]);
            else
                r->report->vanished++;
        }
    }
    return 0;
}

static int narrow(struct by_retype *r, float *values, size_t count, uint16_t *out,
                  struct baryon_error *err)
{
    if (guard(r, values, count, err))
        return -1;
    if (r->to == BY_ELEM_FLOAT16)
        by_f32_to_f16(out, values, count);
    else
        by_f32_to_bf16(out, values, count);
    return 0;
}

static struct baryon_tensor *make(struct by_retype *r, const struct baryon_tensor *tensor,
                                  struct by_arena *scratch, struct baryon_error *err)
{
    struct by_span bytes;
    size_t count, size;
    if (by_tensor_count(tensor, &count, err) || by_tensor_bytes(tensor, scratch, &bytes, err) ||
        by_elem_bytes(r->to, count, &size, err))
        return NULL;
    float *values = by_arena_alloc(scratch, count + 1, sizeof *values, err);
    uint16_t *halves = r->narrows ? by_arena_alloc(scratch, count + 1, sizeof *halves, err) : NULL;
    if (!values || (r->narrows && !halves) ||
        by_elem_to_floats(tensor->data_type, bytes.data, 0, count, values, err) ||
        (r->narrows && narrow(r, values, count, halves, err)))
        return NULL;
    return by_tensor_new(r->context->model, tensor->name ? tensor->name : "", r->to,
                         tensor->dims.at, tensor->dims.count,
                         r->narrows ? (const void *)halves : values, size, err);
}

struct baryon_tensor *by_retype_tensor(struct by_retype *r, struct baryon_tensor *tensor,
                                       struct baryon_error *err)
{
    struct by_arena scratch;
    if (!tensor || !by_retype_is_from(r, tensor->data_type))
        return tensor;
    by_arena_init(&scratch, 0);
    struct baryon_tensor *made = make(r, tensor, &scratch, err);
    by_arena_release(&scratch);
    if (!made)
        by_err_tensor(err, tensor);
    r->report->tensors += made != NULL;
    return made;
}

/* Variances are often greater than all else, and vanish with the node. */
static int hint_normalization(const struct baryon_value *value, struct baryon_error *err)
{
    for (size_t i = 0; err && err->code == BARYON_ERR_UNSUPPORTED && i < value->use_count; i++)
        if (value->uses[i].node && by_node_is(value->uses[i].node, "BatchNormalization"))
            return by_err_hint(err, "fold it into the layer before with --pass fold-batch-norm");
    return -1;
}

int by_retype_initializer(struct by_retype *r, struct baryon_value *value, struct baryon_error *err)
{
    struct baryon_tensor *tensor =
        by_retype_tensor(r, value->sparse ? value->sparse->values : value->initializer, err);
    if (!tensor)
        return hint_normalization(value, err);
    if (value->sparse) {
        value->sparse->values = tensor;
        return 0;
    }
    value->graph->initializer.at[value->init_slot] = tensor;
    value->initializer = tensor;
    return 0;
}

/* --- Attributes --- */

static bool names_type(const struct baryon_node *node, const struct baryon_attribute *attr)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    return info && (info->type_rule == BY_TYPE_ATTR || info->type_rule == BY_TYPE_ATTR_OR_SAME) &&
           strcmp(info->type_text, attr->name) == 0;
}

static void change_type(const struct by_retype *r, struct by_type *type)
{
    while (type && (type->sequence || type->optional))
        type = type->sequence ? type->sequence->elem_type : type->optional->elem_type;
    struct by_tensor_type *tensor =
        type ? (type->tensor ? type->tensor : type->sparse_tensor) : NULL;
    if (tensor && by_retype_is_from(r, tensor->elem_type))
        tensor->elem_type = r->to;
}

static int change_attribute(struct by_retype *r, const struct baryon_node *node,
                            struct baryon_attribute *attr, struct baryon_error *err)
{
    if (attr->t && !(attr->t = by_retype_tensor(r, attr->t, err)))
        return -1;
    if (attr->sparse_tensor && attr->sparse_tensor->values &&
        !(attr->sparse_tensor->values = by_retype_tensor(r, attr->sparse_tensor->values, err)))
        return -1;
    for (size_t i = 0; i < attr->tensors.count; i++)
        if (!(attr->tensors.at[i] = by_retype_tensor(r, attr->tensors.at[i], err)))
            return -1;
    if (attr->type == BY_ATTR_INT && by_retype_is_from(r, attr->i) && names_type(node, attr))
        attr->i = r->to;
    change_type(r, attr->tp);
    return 0;
}

int by_retype_attributes(struct by_retype *r, struct baryon_node *node, struct baryon_error *err)
{
    for (size_t i = 0; i < node->attribute.count; i++)
        if (node->attribute.at[i] && change_attribute(r, node, node->attribute.at[i], err))
            return -1;
    return 0;
}

/* --- Declared types --- */

static void declare_as(const struct by_retype *r, const struct baryon_value *value,
                       struct by_value_info *info)
{
    struct by_type *type = info ? info->type : NULL;
    struct by_tensor_type *tensor =
        type ? (type->tensor ? type->tensor : type->sparse_tensor) : NULL;
    if (tensor && value && value->elem &&
        (by_retype_is_from(r, tensor->elem_type) || tensor->elem_type == r->to))
        tensor->elem_type = value->elem;
}

static void change_infos(const struct by_retype *r, const struct by_ptrs *infos)
{
    for (size_t i = 0; i < infos->count; i++) {
        const struct by_value_info *info = infos->at[i];
        if (info)
            change_type(r, info->type);
    }
}

void by_retype_declare(struct by_retype *r, struct baryon_graph *graph)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        struct baryon_value *value = graph->all_values.at[i];
        if (value)
            declare_as(r, value, value->info);
    }
    for (size_t i = 0; i < graph->output.count; i++)
        declare_as(r, by_graph_out(graph, i), graph->output.at[i]);
    if (!r->whole)
        return;
    change_infos(r, &graph->input);
    change_infos(r, &graph->output);
    change_infos(r, &graph->value_info);
}

int by_retype_functions(struct by_retype *r, struct baryon_error *err)
{
    const struct baryon_model *model = r->context->model;
    for (size_t i = 0; i < model->functions.count; i++) {
        const struct by_function *function = model->functions.at[i];
        for (size_t k = 0; k < function->node.count; k++)
            if (by_retype_attributes(r, function->node.at[k], err))
                return -1;
        change_infos(r, &function->value_info);
    }
    return 0;
}
