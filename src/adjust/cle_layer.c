/* A layer's weights as equalization sees them. */
#include "adjust/cle_internal.h"
#include "ir/tensor.h"
#include "quant/floats.h"

#include <math.h>
#include <string.h>

bool by_cle_is_constant(const struct baryon_value *value)
{
    return value && value->initializer && !value->is_input && !value->pinned &&
           value->initializer->data_type == BY_ELEM_FLOAT;
}

static size_t dim(const struct baryon_value *value, size_t axis)
{
    return (size_t)value->initializer->dims.at[axis];
}

static size_t rank(const struct baryon_value *value)
{
    return value->initializer->dims.count;
}

static size_t spatial(const struct baryon_value *weight)
{
    size_t product = 1;
    for (size_t axis = 2; axis < rank(weight); axis++)
        product *= dim(weight, axis);
    return product;
}

static void conv_strides(struct by_cle_layer *layer)
{
    layer->outs = layer->group_outs = dim(layer->weight, 0);
    layer->group_ins = dim(layer->weight, 1);
    layer->inside = spatial(layer->weight);
    layer->stride_in = layer->inside;
    layer->stride_out = layer->group_ins * layer->inside;
    layer->stride_inside = 1;
}

static void transposed_strides(struct by_cle_layer *layer)
{
    layer->group_outs = dim(layer->weight, 1);
    layer->outs = layer->group_outs * layer->groups;
    layer->group_ins = dim(layer->weight, 0) / layer->groups;
    layer->inside = spatial(layer->weight);
    layer->stride_out = layer->inside;
    layer->stride_in = layer->group_outs * layer->inside;
    layer->stride_group = layer->group_ins * layer->stride_in;
    layer->stride_inside = 1;
}

/* inside: places of a channel that a Flatten has put side by side. */
static void gemm_strides(struct by_cle_layer *layer, size_t inside)
{
    const bool turned = by_node_int(layer->node, "transB", 0) != 0;
    const size_t ins = dim(layer->weight, turned ? 1 : 0);
    layer->outs = layer->group_outs = dim(layer->weight, turned ? 0 : 1);
    layer->inside = inside;
    layer->group_ins = ins / inside;
    layer->stride_out = turned ? ins : 1;
    layer->stride_inside = turned ? 1 : layer->outs;
    layer->stride_in = inside * layer->stride_inside;
}

static bool shape_fits(const struct by_cle_layer *layer, size_t inside)
{
    const struct baryon_node *node = layer->node;
    if (by_node_is(node, "Gemm"))
        return rank(layer->weight) == 2 && !by_node_int(node, "transA", 0) &&
               dim(layer->weight, by_node_int(node, "transB", 0) ? 1 : 0) % inside == 0;
    const size_t first = rank(layer->weight) > 2 ? dim(layer->weight, 0) : 0;
    return inside == 1 && first && layer->groups && first % layer->groups == 0;
}

/* A bias of one value a channel, or none. */
static bool bias_fits(const struct by_cle_layer *layer)
{
    const struct baryon_value *bias = by_node_in(layer->node, 2);
    if (!bias)
        return true;
    return by_cle_is_constant(bias) && rank(bias) >= 1 &&
           dim(bias, rank(bias) - 1) == layer->outs &&
           (rank(bias) == 1 || (rank(bias) == 2 && dim(bias, 0) == 1));
}

static size_t place_of(const struct by_cle_layer *layer, size_t out, size_t in)
{
    return out / layer->group_outs * layer->stride_group +
           out % layer->group_outs * layer->stride_out + in * layer->stride_in;
}

/* Unlike fmaxf() no call; weights are finite. */
static float greater(float one, float other)
{
    return one > other ? one : other;
}

static float peak_at(const struct by_cle_layer *layer, const float *at)
{
    float peak = fabsf(at[0]);
    for (size_t k = 1; k < layer->inside; k++)
        peak = greater(peak, fabsf(at[k * layer->stride_inside]));
    return peak;
}

/* Four greatest values side by side, as one would wait for itself in each step. */
static float greatest_of(const float *values, size_t count)
{
    float most[4] = {0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++)
            most[k] = greater(most[k], values[i + k]);
    for (; i < count; i++)
        most[0] = greater(most[0], values[i]);
    return greater(greater(most[0], most[1]), greater(most[2], most[3]));
}

static void find_peaks(struct by_cle_layer *layer, const float *weights)
{
    for (size_t out = 0; out < layer->outs; out++) {
        const float *at = weights + place_of(layer, out, 0);
        float *peaks = layer->peak + out * layer->group_ins;
        for (size_t in = 0; in < layer->group_ins; in++)
            peaks[in] = peak_at(layer, at + in * layer->stride_in);
        layer->greatest = greater(layer->greatest, greatest_of(peaks, layer->group_ins));
    }
}

static int read_peaks(struct by_cle *cle, struct by_cle_layer *layer, struct baryon_error *err)
{
    struct by_floats_view weights;
    layer->peak =
        by_arena_alloc(&cle->arena, layer->outs * layer->group_ins, sizeof *layer->peak, err);
    layer->work =
        by_arena_alloc(&cle->arena, layer->group_ins * layer->groups, sizeof *layer->work, err);
    if (!layer->peak || !layer->work ||
        by_floats_open(&weights, layer->weight->initializer, err) < 0)
        return -1;
    find_peaks(layer, weights.values);
    by_floats_close(&weights);
    return 0;
}

int by_cle_layer_open(struct by_cle *cle, struct baryon_node *node, size_t inside,
                      struct by_cle_layer *layer, bool *fits, struct baryon_error *err)
{
    *fits = false;
    *layer = (struct by_cle_layer){
        .node = node, .weight = by_node_in(node, 1), .before = BY_CLE_NONE, .behind = BY_CLE_NONE};
    const bool transposed = by_node_is(node, "ConvTranspose");
    if (!transposed && !by_node_is(node, "Conv") && !by_node_is(node, "Gemm"))
        return 0;
    layer->groups = (size_t)by_node_int(node, "group", 1);
    if (!by_cle_is_constant(layer->weight) || layer->weight->use_count != 1 ||
        !shape_fits(layer, inside))
        return 0;
    if (by_node_is(node, "Gemm"))
        gemm_strides(layer, inside);
    else if (transposed)
        transposed_strides(layer);
    else
        conv_strides(layer);
    layer->bias = by_node_in(node, 2);
    if (!bias_fits(layer) || !layer->outs || !layer->group_ins || !layer->inside)
        return 0;
    *fits = true;
    return read_peaks(cle, layer, err);
}

/* --- Scales --- */

static void scale_at(const struct by_cle_layer *layer, float *at, double scale)
{
    for (size_t k = 0; k < layer->inside; k++)
        at[k * layer->stride_inside] = (float)(at[k * layer->stride_inside] * scale);
}

static void scale_channel(const struct by_cle_layer *layer, size_t out, float *weights)
{
    const size_t first = out / (layer->outs / layer->groups) * layer->group_ins;
    const double *in_scale = layer->in_scale ? layer->in_scale + first : NULL;
    const double out_scale = layer->out_scale ? layer->out_scale[out] : 1;
    float *at = weights + place_of(layer, out, 0);
    for (size_t in = 0; in < layer->group_ins; in++)
        scale_at(layer, at + in * layer->stride_in, (in_scale ? in_scale[in] : 1) / out_scale);
}

static int apply_weights(struct by_cle *cle, const struct by_cle_layer *layer,
                         struct baryon_error *err)
{
    size_t count;
    float *weights = by_floats_copy(layer->weight->initializer, &count, err);
    if (!weights)
        return -1;
    for (size_t out = 0; out < layer->outs; out++)
        scale_channel(layer, out, weights);
    const int status =
        by_floats_write(cle->graph->model, layer->weight->initializer, weights, count, err);
    by_free(weights);
    return status;
}

/* A bias that others read too gets a copy of its own. */
static int apply_bias(struct by_cle *cle, const struct by_cle_layer *layer,
                      struct baryon_error *err)
{
    struct baryon_value *bias = layer->bias;
    size_t count;
    if (bias->use_count > 1) {
        bias = by_graph_duplicate_initializer(bias, err);
        if (!bias || by_node_set_input(layer->node, 2, bias, err) < 0)
            return -1;
    }
    float *values = by_floats_copy(bias->initializer, &count, err);
    if (!values)
        return -1;
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(values[i] / layer->out_scale[i]);
    const int status = by_floats_write(cle->graph->model, bias->initializer, values, count, err);
    by_free(values);
    return status;
}

int by_cle_layer_apply(struct by_cle *cle, const struct by_cle_layer *layer,
                       struct baryon_error *err)
{
    if (apply_weights(cle, layer, err) < 0)
        return -1;
    return layer->bias && layer->out_scale ? apply_bias(cle, layer, err) : 0;
}
