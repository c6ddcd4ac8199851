/*
 * Tensors between a layer and what works on its result at once: no pair stands there. And
 * activations that the range of what they give does the work of.
 */
#include "pass/dpu.h"
#include "quant/place_internal.h"

#include <math.h>
#include <string.h>

/* The one node that reads the value, at its input 0 of the main graph; NULL: there is none. */
static struct baryon_node *only_reader(const struct by_placing *placing,
                                       const struct baryon_value *value)
{
    if (value->use_count != 1 || by_value_is_output(value))
        return NULL;
    const struct by_use *use = &value->uses[0];
    return use->node && use->graph == placing->graph && use->slot == 0 ? use->node : NULL;
}

/* --- Constant limits of a Clip --- */

static bool limit_of(const struct baryon_node *clip, size_t slot, const char *name, double fallback,
                     double *limit)
{
    const struct baryon_value *value = by_node_in(clip, slot);
    *limit = fallback;
    if (!value) {
        *limit = (double)by_node_float(clip, name, (float)fallback);
        return true;
    }
    bool is_one;
    return by_tensor_number(value->initializer, &is_one, limit, NULL) == 0 && is_one;
}

static bool limits_of(const struct baryon_node *clip, double *low, double *high)
{
    return limit_of(clip, 1, "min", -INFINITY, low) && limit_of(clip, 2, "max", INFINITY, high);
}

/* --- Pairs that are left out --- */

static bool is_fusable_clip(const struct baryon_node *node)
{
    double low, high;
    return by_node_is(node, "Clip") && limits_of(node, &low, &high) && fabs(low) < 1e-6 &&
           (fabs(high - 6) < 1e-6 || fabs(high - 1) < 1e-6);
}

bool by_place_is_activation(const struct by_recipe *recipe, const struct baryon_node *node)
{
    return (recipe->fuse_relu && by_node_is(node, "Relu")) ||
           (recipe->fuse_leaky_relu && by_node_is(node, "LeakyRelu")) ||
           (recipe->fuse_prelu && by_node_is(node, "PRelu")) ||
           (recipe->fuse_gelu && by_node_is(node, "Gelu")) ||
           (recipe->fuse_clip && is_fusable_clip(node));
}

static bool is_layer(const struct by_recipe *recipe, const struct baryon_node *node)
{
    static const char *const layers[] = {"Conv",   "Add",  "MaxPool",       "AveragePool",
                                         "MatMul", "Gemm", "ConvTranspose", "GlobalAveragePool",
                                         NULL};
    return by_node_is_one_of(node, layers) ||
           (recipe->fuse_instance_norm && by_node_is(node, "InstanceNormalization"));
}

static bool pads_for_pool(const struct baryon_node *node, const struct baryon_node *reader)
{
    return by_node_is(node, "Pad") &&
           (by_node_is(reader, "AveragePool") || by_node_is(reader, "GlobalAveragePool"));
}

/* "Mul>Add" */
static bool is_asked_between(const struct by_recipe *recipe, const struct baryon_node *node,
                             const struct baryon_node *reader)
{
    for (size_t i = 0; i < recipe->fuse_between.count; i++) {
        const char *text = recipe->fuse_between.at[i].text, *arrow = strchr(text, '>');
        const size_t size = arrow ? (size_t)(arrow - text) : 0;
        if (arrow && strlen(node->op_type) == size && !strncmp(node->op_type, text, size) &&
            strcmp(reader->op_type, arrow + 1) == 0)
            return true;
    }
    return recipe->fuse_mul_add && by_node_is(node, "Mul") && by_node_is(reader, "Add");
}

/* Reads it anywhere, where the order of inputs does not matter. */
static const struct baryon_node *only_node(const struct by_placing *placing,
                                           const struct baryon_value *value)
{
    const bool one = value->use_count == 1 && !by_value_is_output(value) &&
                     value->uses[0].graph == placing->graph;
    return one ? value->uses[0].node : NULL;
}

/*
 * What a layer and the additions after it give to a LayerNormalization. The normalization
 * takes out what most of such a sum is made of: eight bits of the sum leave little of the rest.
 */
static bool is_for_normalization(const struct by_placing *placing, const struct baryon_value *value)
{
    static const char *const sums[] = {"MatMul", "Gemm", "Add", NULL};
    for (unsigned depth = 0; depth < 4; depth++) {
        const struct baryon_node *node = value->producer;
        const struct baryon_node *reader = node ? only_node(placing, value) : NULL;
        if (!reader || !placing->quantized[reader->index] || !by_node_is_one_of(node, sums))
            return false;
        if (by_node_is(reader, "LayerNormalization"))
            return value->uses[0].slot == 0;
        if (!by_node_is(reader, "Add") || !by_node_out(reader, 0))
            return false;
        value = by_node_out(reader, 0);
    }
    return false;
}

/* A row of constants, one for each output channel of the product. */
static bool is_bias_of(const struct baryon_node *product, const struct baryon_value *value)
{
    const struct baryon_value *weight = by_node_in(product, 1);
    if (!weight || !weight->initializer || !value || !value->initializer)
        return false;
    const struct by_ints *dims = &weight->initializer->dims;
    return dims->count >= 2 &&
           by_tensor_is_row(value->initializer, (size_t)dims->at[dims->count - 1]);
}

/* MatMul and Add are a Gemm, whose product has no pair either, but that there are more than two
 * dimensions. QLinearMatMul gives integers, so it requires one. */
static bool is_biased_product(const struct by_placing *placing, const struct baryon_node *node,
                              const struct baryon_node *reader, const struct by_tensor_spec *spec)
{
    const struct by_recipe *recipe = placing->recipe;
    return !recipe->compat && !spec->format && placing->quantized[reader->index] &&
           recipe->format != BY_FORMAT_QOPERATOR && by_node_is(node, "MatMul") &&
           by_node_is(reader, "Add") &&
           (is_bias_of(node, by_node_in(reader, 0)) || is_bias_of(node, by_node_in(reader, 1)));
}

static bool feeds_quantized(const struct by_placing *placing, const struct baryon_node *node)
{
    const struct baryon_value *value = by_node_out(node, 0);
    for (size_t i = 0; value && i < value->use_count; i++)
        if (value->uses[i].node && value->uses[i].graph == placing->graph &&
            placing->quantized[value->uses[i].node->index])
            return true;
    return false;
}

/* It may be float itself where what it gives has a pair. */
static bool is_fused_activation(const struct by_placing *placing, const struct baryon_node *layer,
                                const struct baryon_node *reader)
{
    const struct by_recipe *recipe = placing->recipe;
    return is_layer(recipe, layer) && by_place_is_activation(recipe, reader) &&
           (recipe->compat || placing->quantized[reader->index] ||
            feeds_quantized(placing, reader));
}

const struct baryon_node *by_place_fused_layer(const struct by_placing *placing,
                                               const struct baryon_value *value)
{
    const struct baryon_node *node = value->producer;
    const struct baryon_value *inner = node ? by_node_in(node, 0) : NULL;
    const struct baryon_node *layer = inner ? inner->producer : NULL;
    const bool fused = layer && layer->graph == placing->graph && node->graph == placing->graph &&
                       is_fused_activation(placing, layer, node) &&
                       only_reader(placing, inner) == node;
    return fused ? layer : NULL;
}

bool by_place_fused(const struct by_placing *placing, const struct baryon_value *value,
                    const struct by_tensor_spec *spec)
{
    const struct by_recipe *recipe = placing->recipe;
    const struct baryon_node *node = value->producer;
    const struct baryon_node *reader = node ? only_node(placing, value) : NULL;
    if (by_value_is_inside_dpu(value))
        return true;
    if (by_spec_is_block(spec) && !recipe->fuse_blocks)
        return false;
    if (!reader || node->graph != placing->graph)
        return false;
    if (is_biased_product(placing, node, reader, spec)) /* a float product as well */
        return true;
    if (!recipe->compat && !placing->quantized[node->index])
        return false;
    if (is_fused_activation(placing, node, reader) && reader == only_reader(placing, value))
        return true;
    if (!recipe->compat && !placing->quantized[reader->index])
        return false;
    if (is_asked_between(recipe, node, reader) ||
        (!recipe->compat && !spec->format && is_for_normalization(placing, value)))
        return true;
    return reader == only_reader(placing, value) && pads_for_pool(node, reader);
}

/* --- Activations that a range does the work of --- */

/* The peer does not look at a Clip's limits. */
static bool is_saturation(const struct baryon_node *node, const struct by_tensor_spec *spec,
                          bool compat)
{
    double low, high;
    if (by_node_is(node, "Relu") || (compat && by_node_is(node, "Clip")))
        return true;
    return by_node_is(node, "Clip") && !spec->reduce_range && limits_of(node, &low, &high) &&
           low <= 0 && high >= 0;
}

static bool can_fold(const struct by_placing *placing, const struct baryon_node *node)
{
    const struct baryon_value *value = by_node_in(node, 0);
    const struct by_tensor_spec *spec = &placing->recipe->activation;
    return placing->quantized[node->index] && !placing->mute[node->index] && !spec->symmetric &&
           is_saturation(node, spec, placing->recipe->compat) && by_place_in(placing, value) &&
           !value->is_input && !value->pinned && value->producer &&
           only_reader(placing, value) == node && by_place_in(placing, by_node_out(node, 0)) &&
           !by_node_out(node, 0)->pinned;
}

/* What is below the range becomes its lowest level, the zero point; so the tensor has to have one
 * there, whatever rules make of it. */
static int has_lowest(struct by_placing *placing, const struct baryon_value *value, bool *has,
                      struct baryon_error *err)
{
    struct by_tensor_spec spec;
    if (by_place_data_spec(placing, value, &spec, err))
        return -1;
    *has = by_spec_is_integer(&spec) && !spec.symmetric;
    return 0;
}

int by_place_fold(struct by_placing *placing, struct baryon_error *err)
{
    for (size_t i = 0; placing->recipe->fold_relu && i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        bool has = false;
        if (can_fold(placing, node) && has_lowest(placing, by_node_out(node, 0), &has, err))
            return -1;
        placing->folded[i] = has;
    }
    return 0;
}
