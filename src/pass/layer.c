/* Scaling the channels of layers, in double. */
#include "pass/layer.h"

#include <math.h>

/* --- what a layer is --- */

static size_t dim(const struct baryon_tensor *tensor, size_t axis)
{
    return (size_t)tensor->dims.at[axis];
}

static const struct baryon_tensor *float_tensor(const struct baryon_value *value)
{
    const struct baryon_tensor *tensor = by_pass_tensor(value);
    size_t count;
    if (!tensor || !by_elem_is_float(tensor->data_type) || by_tensor_count(tensor, &count, NULL))
        return NULL;
    return count ? tensor : NULL;
}

/* One for each channel, as the innermost axis. */
static bool is_row(const struct baryon_tensor *tensor, size_t channels, bool may_be_one)
{
    size_t count;
    if (by_tensor_count(tensor, &count, NULL) == 0 && count == 1)
        return may_be_one || channels == 1;
    return by_tensor_is_row(tensor, channels);
}

/* The bias in an input of its own; false when it is no constant of the right size. */
static bool find_bias(struct by_pass_layer *layer, struct baryon_node *node, size_t slot,
                      bool may_be_one)
{
    const struct baryon_value *value = by_node_in(node, slot);
    layer->bias_node = node;
    layer->bias_slot = slot;
    layer->bias = float_tensor(value);
    return !value || (layer->bias && is_row(layer->bias, layer->channels, may_be_one));
}

static bool is_conv(struct by_pass_layer *layer, struct baryon_node *node)
{
    const bool transposed = by_node_is(node, "ConvTranspose");
    const int64_t groups = by_node_int(node, "group", 1);
    if (layer->weight->dims.count < 3 || groups < 1)
        return false;
    layer->groups = (size_t)groups;
    layer->rank = layer->weight->dims.count;
    layer->channels = transposed ? dim(layer->weight, 1) * layer->groups : dim(layer->weight, 0);
    if (dim(layer->weight, 0) % layer->groups)
        return false;
    return find_bias(layer, node, 2, false);
}

static bool is_gemm(struct by_pass_layer *layer, struct baryon_node *node)
{
    if (layer->weight->dims.count != 2)
        return false;
    layer->rank = 2;
    layer->channels_last = !by_node_int(node, "transB", 0);
    layer->channels = dim(layer->weight, layer->channels_last);
    return find_bias(layer, node, 2, true);
}

static bool is_matmul(struct by_pass_layer *layer, const struct baryon_node *node)
{
    if (layer->weight->dims.count != 2)
        return false;
    int rank = by_pass_rank(by_node_out(node, 0));
    layer->rank = rank > 0 ? (size_t)rank : 0;
    layer->channels_last = true;
    layer->channels = dim(layer->weight, 1);
    return true;
}

/* An Add of a row to a MatMul that nothing else reads. */
static bool is_matmul_add(const struct by_pass_context *context, struct baryon_node *add,
                          struct by_pass_layer *layer)
{
    for (size_t slot = 0; slot < 2; slot++) {
        struct baryon_node *matmul = by_pass_only_producer(add, slot);
        if (!matmul || !by_pass_is(context, matmul, "MatMul") ||
            !by_layer_of(context, matmul, layer))
            continue;
        layer->last = add;
        return find_bias(layer, add, 1 - slot, false) &&
               layer->bias->dims.count <= (layer->rank ? layer->rank : 1);
    }
    return false;
}

bool by_layer_of(const struct by_pass_context *context, struct baryon_node *node,
                 struct by_pass_layer *layer)
{
    if (by_pass_is(context, node, "Add"))
        return is_matmul_add(context, node, layer);
    *layer = (struct by_pass_layer){.node = node, .last = node, .groups = 1};
    layer->weight = float_tensor(by_node_in(node, 1));
    if (!layer->weight || !by_pass_sole_output(node))
        return false;
    if (by_pass_is(context, node, "Conv") || by_pass_is(context, node, "ConvTranspose"))
        return is_conv(layer, node);
    if (by_pass_is(context, node, "Gemm"))
        return is_gemm(layer, node);
    return by_pass_is(context, node, "MatMul") && is_matmul(layer, node);
}

/* --- scaling --- */

/* Where an element of the weight belongs. */
struct place {
    size_t out, in;
};

struct places {
    const struct by_pass_layer *layer;
    size_t first, second, inner; /* sizes of axis 0, of axis 1, of all after */
    bool transposed;
};

static struct places places_of(const struct by_pass_layer *layer)
{
    struct places p = {layer, dim(layer->weight, 0), dim(layer->weight, 1), 1,
                       by_node_is(layer->node, "ConvTranspose")};
    for (size_t i = 2; i < layer->weight->dims.count; i++)
        p.inner *= dim(layer->weight, i);
    return p;
}

static struct place place_of_channel(const struct places *p, size_t first, size_t second)
{
    const size_t group = first / (p->first / p->layer->groups);
    if (p->transposed)
        return (struct place){group * p->second + second, first};
    if (p->layer->channels_last)
        return (struct place){second, first};
    return (struct place){first, group * p->second + second};
}

static bool all_finite(const double *values, size_t count, double limit)
{
    for (size_t i = 0; i < count; i++)
        if (!(fabs(values[i]) <= limit))
            return false;
    return true;
}

static double limit_of(int64_t elem)
{
    return elem == BY_ELEM_DOUBLE ? 1.7e308 : elem == BY_ELEM_FLOAT16 ? 65504 : 3.4e38;
}

static double beta_of(const struct by_pass_layer *layer)
{
    return by_node_is(layer->node, "Gemm") ? (double)by_node_float(layer->node, "beta", 1) : 1;
}

/* The layer's numbers as they are, the bias one for each channel. */
static int read_layer(const struct by_pass_layer *layer, struct by_arena *scratch,
                      struct by_layer_change *change, size_t *count, struct baryon_error *err)
{
    double *given;
    size_t givens;
    if (by_pass_doubles(by_node_in(layer->node, 1), scratch, &change->weight, count, err))
        return -1;
    change->bias = by_arena_alloc(scratch, layer->channels, sizeof(double), err);
    if (!change->bias)
        return -1;
    if (!layer->bias)
        return 0;
    if (by_pass_doubles(by_node_in(layer->bias_node, layer->bias_slot), scratch, &given, &givens,
                        err))
        return -1;
    for (size_t i = 0; i < layer->channels; i++)
        change->bias[i] = given[givens == 1 ? 0 : i] * beta_of(layer);
    return 0;
}

/* A bias of zeros need not be there, one of other numbers needs a place. */
static bool settle_bias(const struct by_pass_layer *layer, struct by_layer_change *change)
{
    bool zero = true;
    for (size_t i = 0; i < layer->channels; i++)
        zero = zero && change->bias[i] == 0;
    if (!layer->bias && zero)
        change->bias = NULL;
    return !change->bias || layer->bias_node;
}

static bool settle_layer_change(const struct by_pass_layer *layer, struct by_layer_change *change,
                                size_t count)
{
    double limit = limit_of(layer->weight->data_type);
    return all_finite(change->weight, count, limit) &&
           all_finite(change->bias, layer->channels, limit) && settle_bias(layer, change);
}

int by_layer_scale(const struct by_pass_layer *layer, const double *scale, const double *shift,
                   struct by_arena *scratch, struct by_layer_change *change, bool *fits,
                   struct baryon_error *err)
{
    const struct places p = places_of(layer);
    size_t count;
    if (read_layer(layer, scratch, change, &count, err))
        return -1;
    double *weight = change->weight;
    for (size_t i = 0; i < p.first; i++)
        for (size_t k = 0; k < p.second; k++) {
            const double factor = scale[place_of_channel(&p, i, k).out];
            for (size_t n = 0; n < p.inner; n++)
                *weight++ *= factor;
        }
    for (size_t i = 0; i < layer->channels; i++)
        change->bias[i] = change->bias[i] * scale[i] + shift[i];
    *fits = settle_layer_change(layer, change, count);
    return 0;
}

int by_layer_scale_input(const struct by_pass_layer *layer, const double *scale,
                         const double *shift, size_t channels, struct by_arena *scratch,
                         struct by_layer_change *change, bool *fits, struct baryon_error *err)
{
    const struct places p = places_of(layer);
    const double alpha =
        by_node_is(layer->node, "Gemm") ? (double)by_node_float(layer->node, "alpha", 1) : 1;
    size_t count;
    *fits = false;
    if (channels != (layer->channels_last ? p.first : p.second * layer->groups))
        return 0;
    if (read_layer(layer, scratch, change, &count, err))
        return -1;
    double *weight = change->weight;
    for (size_t i = 0; i < p.first; i++)
        for (size_t k = 0; k < p.second; k++) {
            const struct place place = place_of_channel(&p, i, k);
            for (size_t n = 0; n < p.inner; n++, weight++) {
                change->bias[place.out] += alpha * *weight * shift[place.in];
                *weight *= scale[place.in];
            }
        }
    *fits = settle_layer_change(layer, change, count);
    return 0;
}

int by_layer_apply(struct by_pass_layer *layer, const struct by_layer_change *change,
                   struct baryon_error *err)
{
    const struct baryon_tensor *weight = layer->weight;
    const int64_t channels = (int64_t)layer->channels, elem = weight->data_type;
    if (by_pass_set_constant(layer->node, 1, "weight", elem, weight->dims.at, weight->dims.count,
                             change->weight, err))
        return -1;
    if (!change->bias)
        return 0;
    by_node_remove_attr(layer->node, "beta");
    const char *stem = by_node_out(layer->last, 0)->name;
    return by_pass_set_constant(layer->bias_node, layer->bias_slot, stem, elem, &channels, 1,
                                change->bias, err);
}

/* --- BatchNormalization --- */

static int read_parts(const struct baryon_node *node, struct by_arena *scratch, double *parts[4],
                      size_t *channels, bool *is, struct baryon_error *err)
{
    size_t counts[4];
    *is = false;
    for (size_t i = 0; i < 4; i++) {
        if (by_pass_doubles(by_node_in(node, 1 + i), scratch, &parts[i], &counts[i], err))
            return -1;
        if (!parts[i] || counts[i] != counts[0])
            return 0;
    }
    *channels = counts[0];
    *is = *channels > 0;
    return 0;
}

/* Inference with one mean a channel. Old versions say so by attributes. */
static bool is_fixed(const struct baryon_node *node)
{
    return by_pass_sole_output(node) && !by_node_int(node, "training_mode", 0) &&
           by_node_int(node, "spatial", 1) && by_model_opset(node->graph->model, "") >= 7;
}

int by_batch_norm(const struct baryon_node *node, double default_epsilon, struct by_arena *scratch,
                  double **scale, double **shift, size_t *channels, bool *is,
                  struct baryon_error *err)
{
    double *parts[4]; /* gamma, beta, mean, variance */
    *is = false;
    if (!is_fixed(node))
        return 0;
    if (read_parts(node, scratch, parts, channels, is, err))
        return -1;
    if (!*is)
        return 0;
    const struct baryon_attribute *attr = by_node_attr(node, "epsilon");
    const double epsilon = attr ? (double)attr->f : default_epsilon;
    *scale = parts[0];
    *shift = parts[1];
    for (size_t i = 0; i < *channels; i++) {
        (*scale)[i] /= sqrt(parts[3][i] + epsilon);
        (*shift)[i] -= parts[2][i] * (*scale)[i];
        *is = *is && isfinite((*scale)[i]) && isfinite((*shift)[i]);
    }
    return 0;
}
