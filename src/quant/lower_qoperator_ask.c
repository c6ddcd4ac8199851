/* Finds the Q/DQ pairs and parameters around a node, for lowering to integer operators. */
#include "quant/lower_qoperator.h"

#include "pass/edit.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool is_linear(const struct baryon_node *node, const char *op_type)
{
    const char *domain = node ? by_domain(node->domain) : "";
    return node && !strcmp(node->op_type, op_type) && (!*domain || !strcmp(domain, BY_MICROSOFT));
}

/* --- Parameters --- */

static bool yes(struct by_qop *qop, int failed)
{
    qop->failed |= failed != 0;
    return !failed;
}

static bool read_scales(struct by_qop *qop, const struct baryon_tensor *tensor,
                        struct by_qop_params *params)
{
    struct by_span bytes;
    float *scales;
    if (tensor->data_type != BY_ELEM_FLOAT ||
        !yes(qop, by_tensor_count(tensor, &params->count, qop->err)) || !params->count ||
        !yes(qop, by_tensor_bytes(tensor, &qop->arena, &bytes, qop->err)))
        return false;
    scales = by_arena_alloc(&qop->arena, params->count, sizeof *scales, qop->err);
    params->scales = scales;
    return yes(qop, !scales) && yes(qop, by_elem_to_floats(BY_ELEM_FLOAT, bytes.data, 0,
                                                           params->count, scales, qop->err));
}

static bool read_zeros(struct by_qop *qop, const struct baryon_tensor *tensor,
                       struct by_qop_params *params)
{
    int64_t *zeros;
    size_t count;
    if (!yes(qop, by_tensor_ints(tensor, &qop->arena, params->count, &zeros, &count, qop->err)))
        return false;
    params->zeros = zeros;
    params->elem = tensor->data_type;
    return count == params->count;
}

/* The axis from the front; the rank is known where constants have several scales. */
static bool read_axis(const struct baryon_node *node, struct by_qop_params *params)
{
    const struct baryon_value *levels = by_node_in(node, 0);
    int64_t axis = by_node_int(node, "axis", 1);
    params->axis = -1;
    if (params->count == 1)
        return true;
    if (axis < 0 && levels && levels->initializer)
        axis += (int64_t)levels->initializer->dims.count;
    params->axis = (int)axis;
    return axis >= 0 && axis < BY_RANK_MAX && by_node_int(node, "block_size", 0) == 0;
}

static bool read_params(struct by_qop *qop, const struct baryon_node *node,
                        struct by_qop_params *params)
{
    *params = (struct by_qop_params){.scale = by_node_in(node, 1), .zero = by_node_in(node, 2)};
    return params->scale && params->scale->initializer && params->zero &&
           params->zero->initializer && read_scales(qop, params->scale->initializer, params) &&
           read_zeros(qop, params->zero->initializer, params) && read_axis(node, params);
}

static bool is_one_of_8_bits(const struct by_qop_params *params)
{
    return params->count == 1 && (params->elem == BY_ELEM_INT8 || params->elem == BY_ELEM_UINT8);
}

bool by_qop_equal(const struct by_qop_params *a, const struct by_qop_params *b)
{
    return a->elem == b->elem && a->count == 1 && b->count == 1 && !(a->scales[0] < b->scales[0]) &&
           !(a->scales[0] > b->scales[0]) && a->zeros[0] == b->zeros[0];
}

bool by_qop_input(struct by_qop *qop, const struct baryon_value *value, struct by_qop_input *input)
{
    if (!value || !is_linear(value->producer, "DequantizeLinear"))
        return false;
    input->levels = by_node_in(value->producer, 0);
    return input->levels && read_params(qop, value->producer, &input->params);
}

bool by_qop_tensor(struct by_qop *qop, const struct baryon_value *value, struct by_qop_input *input)
{
    return by_qop_input(qop, value, input) && is_one_of_8_bits(&input->params);
}

/* --- Levels --- */

void by_qop_range(int64_t elem, int64_t *low, int64_t *high)
{
    *low = elem == BY_ELEM_INT8 ? INT8_MIN : 0;
    *high = elem == BY_ELEM_INT8 ? INT8_MAX : UINT8_MAX;
}

int64_t by_qop_level(const struct by_qop_params *params, double number)
{
    int64_t low, high;
    by_qop_range(params->elem, &low, &high);
    /* In float and to even, as QuantizeLinear does. */
    const double level = (double)nearbyintf((float)number / params->scales[0]);
    const double shifted = level + (double)params->zeros[0];
    return shifted <= (double)low ? low : shifted >= (double)high ? high : (int64_t)shifted;
}

static bool read_bound(struct by_qop *qop, const struct baryon_value *value, double *bound)
{
    double *numbers;
    size_t count;
    if (!value)
        return true;
    if (!yes(qop, by_pass_doubles(value, &qop->arena, &numbers, &count, qop->err)) || !numbers ||
        count != 1)
        return false;
    *bound = numbers[0];
    return !isnan(*bound);
}

/* Up to opset 10 bounds are attributes. */
bool by_qop_bounds(struct by_qop *qop, const struct baryon_node *node,
                   const struct by_qop_params *params, int64_t *low, int64_t *high)
{
    double least = 0, most = (double)FLT_MAX;
    if (by_node_is(node, "Clip")) {
        least = (double)by_node_float(node, "min", -FLT_MAX);
        most = (double)by_node_float(node, "max", FLT_MAX);
        if (!read_bound(qop, by_node_in(node, 1), &least) ||
            !read_bound(qop, by_node_in(node, 2), &most) || !(least <= most))
            return false;
    }
    *low = by_qop_level(params, least);
    *high = by_qop_level(params, most);
    return true;
}

/* --- After a node --- */

static struct baryon_node *only_reader(const struct baryon_value *value)
{
    const struct by_use *use = value->uses;
    return value->use_count == 1 && use->node && use->graph == value->graph && use->slot == 0 &&
                   !by_value_is_kept(value)
               ? use->node
               : NULL;
}

bool by_qop_output(struct by_qop *qop, struct baryon_value *value, struct by_qop_output *output)
{
    struct baryon_node *reader = value ? only_reader(value) : NULL;
    *output = (struct by_qop_output){.value = value};
    if (reader && (by_node_is(reader, "Relu") || by_node_is(reader, "Clip"))) {
        output->activation = reader;
        reader = only_reader(by_node_out(reader, 0));
    }
    if (!is_linear(reader, "QuantizeLinear") || !read_params(qop, reader, &output->params) ||
        !is_one_of_8_bits(&output->params))
        return false;
    output->quantize = reader;
    by_qop_range(output->params.elem, &output->low, &output->high);
    if (!output->activation)
        return true;
    const int64_t low = output->low, high = output->high;
    return by_qop_bounds(qop, output->activation, &output->params, &output->low, &output->high) &&
           (qop->opset >= BY_QOP_CLIP_OPSET || (output->low <= low && output->high >= high));
}
