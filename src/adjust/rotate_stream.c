/* Finds all that a residual stream connects: who writes it, who reads it, and where it ends. */
#include "adjust/rotate_internal.h"

#include <string.h>

#define MEMBERS_MOST 4096

static size_t value_rank(const struct baryon_value *value)
{
    return value->shape ? value->shape->rank : 0;
}

static bool is_microsoft(const struct baryon_node *node, const char *op_type)
{
    return !strcmp(node->op_type, op_type) && !strcmp(by_domain(node->domain), "com.microsoft");
}

static bool is_constant(const struct baryon_value *value)
{
    return value && value->initializer;
}

static size_t const_dim(const struct baryon_value *value, size_t axis)
{
    return (size_t)value->initializer->dims.at[axis];
}

static size_t elements_of(const struct baryon_value *value)
{
    size_t count;
    return is_constant(value) && by_tensor_count(value->initializer, &count, NULL) == 0 ? count : 0;
}

/* --- Members --- */

static int refuse_stream(struct by_rotate_stream *stream, struct baryon_error *err,
                         const char *what, const struct baryon_value *value)
{
    return by_smooth_refuse(stream->smooth, &stream->fits, err, "'%s' %s", value->name, what);
}

static struct by_rotate_member *find_member(const struct by_rotate_stream *stream,
                                            const struct baryon_value *value)
{
    for (size_t i = stream->members.count; i-- > 0;)
        if (stream->members.at[i].value == value)
            return &stream->members.at[i];
    return NULL;
}

bool by_rotate_has(const struct by_rotate_stream *stream, const struct baryon_value *value)
{
    return find_member(stream, value) != NULL;
}

static int add_member(struct by_rotate_stream *stream, struct baryon_value *value, size_t axis,
                      struct baryon_value *scale, struct baryon_error *err)
{
    const struct by_rotate_member *had = find_member(stream, value);
    if (had && had->axis == axis && had->scale == scale)
        return 0;
    if (had)
        return refuse_stream(stream, err, "has its channels along two axes, or two factors", value);
    if (value->pinned || by_value_is_kept(value) || stream->members.count == MEMBERS_MOST)
        return refuse_stream(stream, err, "can be changed from outside", value);
    if (scale && value->use_count != 1)
        return refuse_stream(stream, err, "is read by other nodes, too", value);
    if (by_list_reserve(&stream->smooth->arena, &stream->members, 1, sizeof *had, err) < 0)
        return -1;
    stream->members.at[stream->members.count++] =
        (struct by_rotate_member){.value = value, .axis = axis, .scale = scale};
    return 0;
}

static int add_edit(struct by_rotate_stream *stream, struct baryon_value *value, size_t axis,
                    struct baryon_value *scale, struct baryon_error *err)
{
    struct by_rotate_edit edit = {
        .value = value, .inner = 1, .count = stream->size, .scale = scale};
    for (size_t i = axis + 1; i < value->initializer->dims.count; i++)
        edit.inner *= const_dim(value, i);
    for (size_t i = 0; i < stream->edits.count; i++)
        if (stream->edits.at[i].value == value && stream->edits.at[i].inner == edit.inner)
            return 0; /* a node is met from its input and from its output */
    if (by_list_reserve(&stream->smooth->arena, &stream->edits, 1, sizeof edit, err) < 0)
        return -1;
    stream->edits.at[stream->edits.count++] = edit;
    return 0;
}

static int add_one(struct by_rotate_stream *stream, struct baryon_value *value,
                   struct baryon_error *err)
{
    if (by_list_reserve(&stream->smooth->arena, &stream->ones, 1, sizeof(void *), err) < 0)
        return -1;
    stream->ones.at[stream->ones.count++] = value;
    return 0;
}

/* --- Nodes that pass it on --- */

#define LOOK_MOST 16

/* Something in front can turn it: a product where its channels are last, or the weights of a Conv.
 */
static bool is_turned_in_front(const struct by_rotate_stream *stream,
                               const struct baryon_value *value, size_t axis, unsigned depth)
{
    const struct baryon_node *node = value->producer;
    if (value->initializer || axis + 1 == value_rank(value))
        return true;
    if (!node || !depth || value->slot)
        return false;
    if (by_node_is(node, "Conv"))
        return axis == 1;
    bool all = by_rotate_passes(stream, node, axis);
    for (size_t slot = 0; all && slot < node->input.count; slot++) {
        size_t in;
        if (by_rotate_is_data(stream, node, slot))
            all = by_rotate_axis_in(stream->smooth, node, slot, axis, &in) &&
                  is_turned_in_front(stream, by_node_in(node, slot), in, depth - 1);
    }
    return all;
}

static bool inputs_turn(const struct by_rotate_stream *stream, const struct baryon_node *node,
                        size_t out)
{
    bool all = true;
    for (size_t slot = 0; all && slot < node->input.count; slot++) {
        size_t in;
        if (by_rotate_is_data(stream, node, slot))
            all = by_rotate_axis_in(stream->smooth, node, slot, out, &in) &&
                  is_turned_in_front(stream, by_node_in(node, slot), in, LOOK_MOST);
    }
    return all;
}

/* The axis of its output that an axis of this input becomes. */
static bool axis_behind(const struct by_rotate_stream *stream, const struct baryon_node *node,
                        size_t slot, size_t axis, size_t *out)
{
    const struct baryon_value *value = by_node_out(node, 0);
    for (size_t i = 0; value && i < value_rank(value); i++) {
        size_t back;
        if (by_smooth_size(value, i) == (int64_t)stream->size &&
            by_rotate_axis_in(stream->smooth, node, slot, i, &back) && back == axis) {
            *out = i;
            return true;
        }
    }
    return false;
}

/* Whoever reads it can turn it back. */
static bool is_turned_behind(const struct by_rotate_stream *stream,
                             const struct baryon_value *value, size_t axis, unsigned depth)
{
    bool all = axis + 1 == value_rank(value) || (depth && !by_value_is_output(value));
    for (size_t i = 0; all && axis + 1 < value_rank(value) && i < value->use_count; i++) {
        const struct baryon_node *node = value->uses[i].node;
        size_t out;
        if (node->graph != value->graph || by_node_is(node, "Conv"))
            all = node->graph == value->graph && axis == 1 && value->uses[i].slot == 0;
        else if (!by_node_is(node, "Shape"))
            all = axis_behind(stream, node, value->uses[i].slot, axis, &out) &&
                  is_turned_behind(stream, by_node_out(node, 0), out, depth - 1);
    }
    return all;
}

/* Both directions of a node that passes it on. */
static bool may_pass(const struct by_rotate_stream *stream, const struct baryon_node *node,
                     size_t out)
{
    return by_rotate_passes(stream, node, out) && inputs_turn(stream, node, out) &&
           is_turned_behind(stream, by_node_out(node, 0), out, LOOK_MOST);
}

static int take_pass(struct by_rotate_stream *stream, const struct baryon_node *node, size_t out,
                     struct baryon_value *scale, struct baryon_error *err)
{
    if (add_member(stream, by_node_out(node, 0), out, scale, err) < 0)
        return -1;
    for (size_t slot = 0; stream->fits && slot < node->input.count; slot++) {
        struct baryon_value *in = by_node_in(node, slot);
        size_t axis;
        if (!by_rotate_is_data(stream, node, slot) ||
            !by_rotate_axis_in(stream->smooth, node, slot, out, &axis))
            continue;
        if ((in->initializer ? add_edit : add_member)(stream, in, axis, scale, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Norms --- */

/* Bias of a layer may be added to as it stands. */
static bool takes_shift(const struct by_smooth_layer *layer)
{
    const struct baryon_value *bias = by_node_in(layer->node, 2);
    const float alpha = by_node_float(layer->node, "alpha", 1),
                beta = by_node_float(layer->node, "beta", 1);
    if (by_node_is(layer->node, "MatMul") || is_microsoft(layer->node, "FusedMatMul"))
        return alpha >= 1 && alpha <= 1;
    return alpha >= 1 && alpha <= 1 && beta >= 1 && beta <= 1 &&
           (!bias || (!by_smooth_refuses(bias) && elements_of(bias) == layer->outs));
}

/* A layer along the last axis with weights of its own. */
static bool is_reader(const struct by_rotate_stream *stream, const struct by_use *use, size_t axis,
                      struct by_smooth_layer *layer)
{
    const struct baryon_value *in = by_node_in(use->node, 0);
    return use->slot == 0 && by_smooth_layer_of(use->node, layer) && layer->ins == stream->size &&
           !by_smooth_refuses(layer->weight) &&
           (by_node_is(use->node, "Conv") ? axis == 1 : axis + 1 == value_rank(in));
}

/* All that read what a norm gives are layers. */
static int try_fold(struct by_rotate_stream *stream, struct baryon_value *scale,
                    struct baryon_value *shift, struct baryon_value *out, bool *took,
                    struct baryon_error *err)
{
    struct by_rotate_fold fold = {.scale = scale, .shift = shift, .first = stream->layers.count};
    *took = scale && !by_smooth_refuses(scale) && elements_of(scale) == stream->size &&
            (!shift || (!by_smooth_refuses(shift) && elements_of(shift) == stream->size)) &&
            by_smooth_is_free(out) && out->use_count > 0 && out->shape && !find_member(stream, out);
    for (size_t i = 0; *took && i < out->use_count; i++) {
        struct by_smooth_layer layer;
        *took = out->uses[i].node && out->uses[i].node->graph == out->graph &&
                is_reader(stream, &out->uses[i], value_rank(out) - 1, &layer) &&
                !by_node_is(layer.node, "Conv") && takes_shift(&layer);
        if (!*took)
            break;
        if (by_list_reserve(&stream->smooth->arena, &stream->layers, 1, sizeof layer, err) < 0)
            return -1;
        stream->layers.at[stream->layers.count++] = layer;
    }
    fold.count = stream->layers.count - fold.first;
    if (!*took) {
        stream->layers.count = fold.first;
        return 0;
    }
    if (by_list_reserve(&stream->smooth->arena, &stream->folds, 1, sizeof fold, err) < 0)
        return -1;
    stream->folds.at[stream->folds.count++] = fold;
    return 0;
}

/* A Mul by one value a channel, and an Add after it. */
static int fold_written_norm(struct by_rotate_stream *stream, const struct baryon_node *mul,
                             struct baryon_value *in, bool *took, struct baryon_error *err)
{
    struct baryon_value *out = by_node_out(mul, 0), *shift = NULL;
    struct baryon_value *scale = by_node_in(mul, by_node_in(mul, 0) == in ? 1 : 0);
    const struct baryon_node *add = out->use_count == 1 ? out->uses[0].node : NULL;
    if (add && add->graph == out->graph && by_node_is(add, "Add") && by_smooth_is_free(out)) {
        struct baryon_value *other = by_node_in(add, by_node_in(add, 0) == out ? 1 : 0);
        if (elements_of(other) == stream->size) {
            shift = other;
            out = by_node_out(add, 0);
        }
    }
    return try_fold(stream, scale, shift, out, took, err);
}

static bool is_layer_norm(const struct baryon_node *node)
{
    return by_node_is(node, "LayerNormalization") || by_node_is(node, "RMSNormalization") ||
           by_node_is(node, "SimplifiedLayerNormalization");
}

static bool is_skip_norm(const struct baryon_node *node)
{
    return is_microsoft(node, "SkipLayerNormalization") ||
           is_microsoft(node, "SkipSimplifiedLayerNormalization");
}

static bool takes_means(const struct baryon_node *node)
{
    return by_node_is(node, "LayerNormalization") || is_microsoft(node, "SkipLayerNormalization");
}

static int fold_norm(struct by_rotate_stream *stream, const struct by_use *use, size_t axis,
                     bool *took, struct baryon_error *err)
{
    const struct baryon_node *node = use->node;
    const int64_t along = by_node_int(node, "axis", -1);
    *took = false;
    if (use->slot || (along != -1 && along != (int64_t)axis) ||
        axis + 1 != value_rank(by_node_in(node, 0)))
        return 0;
    if (try_fold(stream, by_node_in(node, 1),
                 by_node_is(node, "LayerNormalization") ? by_node_in(node, 2) : NULL,
                 by_node_out(node, 0), took, err) < 0)
        return -1;
    stream->means = stream->means || (*took && takes_means(node));
    return 0;
}

/* The sum of both, and the norm of it. Asked for each of the two inputs, and for the sum. */
static int take_skip_norm(struct by_rotate_stream *stream, const struct baryon_node *node,
                          size_t axis, bool *took, struct baryon_error *err)
{
    const bool full = is_microsoft(node, "SkipLayerNormalization");
    struct baryon_value *bias = by_node_in(node, full ? 4 : 3), *sum = by_node_out(node, 3);
    struct baryon_value *const in[] = {by_node_in(node, 0), by_node_in(node, 1)};
    *took = false;
    for (size_t i = 0; i < stream->folds.count; i++)
        if (stream->folds.at[i].scale == by_node_in(node, 2))
            *took = true; /* by its other input */
    if (*took)
        return 0;
    if (!in[0] || !in[1] || in[0]->initializer || in[1]->initializer || in[0] == in[1] ||
        axis + 1 != value_rank(in[0]) || value_rank(in[1]) != value_rank(in[0]) ||
        (bias && (by_smooth_refuses(bias) || elements_of(bias) != stream->size)))
        return 0;
    if (try_fold(stream, by_node_in(node, 2), full ? by_node_in(node, 3) : NULL,
                 by_node_out(node, 0), took, err) < 0)
        return -1;
    if (!*took)
        return 0;
    stream->means = stream->means || full;
    if ((bias && add_edit(stream, bias, 0, NULL, err) < 0) ||
        add_member(stream, in[0], axis, NULL, err) < 0 ||
        add_member(stream, in[1], axis, NULL, err) < 0)
        return -1;
    return sum ? add_member(stream, sum, axis, NULL, err) : 0;
}

/* --- Who reads it --- */

/* x^2, of which the mean over channels alone is read. */
static bool is_square(const struct by_rotate_stream *stream, const struct baryon_node *node,
                      size_t axis)
{
    const struct baryon_value *out = by_node_out(node, 0);
    bool is_one = false;
    double number = 0;
    if (by_node_is(node, "Pow")) {
        const struct baryon_value *two = by_node_in(node, 1);
        if (!is_constant(two) || by_tensor_number(two->initializer, &is_one, &number, NULL) < 0 ||
            !is_one || number < 2 || number > 2)
            return false;
    } else if (!by_node_is(node, "Mul") || by_node_in(node, 0) != by_node_in(node, 1)) {
        return false;
    }
    return out && out->use_count == 1 && out->uses[0].node && by_smooth_is_free(out) &&
           by_rotate_is_mean(stream->smooth, out->uses[0].node, axis);
}

static int take_reader(struct by_rotate_stream *stream, const struct by_smooth_layer *layer,
                       struct baryon_error *err)
{
    const size_t axis = by_node_is(layer->node, "Conv") || !layer->ins_first ? 1 : 0;
    return add_edit(stream, layer->weight, axis, NULL, err);
}

static int take_use(struct by_rotate_stream *stream, const struct by_rotate_member *member,
                    const struct by_use *use, bool *took, struct baryon_error *err)
{
    const struct baryon_node *node = use->node;
    struct by_smooth_layer layer;
    size_t out;
    *took = false;
    if (!node)
        return 0;
    if (by_node_is(node, "Shape") || is_square(stream, node, member->axis)) {
        *took = true;
        return 0;
    }
    if (by_rotate_is_mean(stream->smooth, node, member->axis)) {
        *took = stream->means = true;
        return 0;
    }
    if (is_layer_norm(node))
        return fold_norm(stream, use, member->axis, took, err);
    if (is_skip_norm(node) && use->slot < 2)
        return take_skip_norm(stream, node, member->axis, took, err);
    if (is_reader(stream, use, member->axis, &layer)) {
        *took = true;
        return take_reader(stream, &layer, err);
    }
    if (axis_behind(stream, node, use->slot, member->axis, &out) &&
        by_rotate_is_data(stream, node, use->slot) && may_pass(stream, node, out)) {
        *took = true;
        return take_pass(stream, node, out, NULL, err);
    }
    if (by_node_is(node, "Mul") && member->axis + 1 == value_rank(member->value))
        return fold_written_norm(stream, node, member->value, took, err);
    return 0;
}

static int take_uses(struct by_rotate_stream *stream, size_t at, struct baryon_error *err)
{
    const struct by_rotate_member member = stream->members.at[at];
    struct baryon_value *value = member.value;
    if (member.scale)
        return 0; /* the one that it joins the stream by */
    for (size_t i = 0; stream->fits && i < value->use_count; i++) {
        const struct by_rotate_exit leaves = {.value = value, .use = value->uses[i]};
        bool took;
        if (value->uses[i].graph != value->graph)
            return refuse_stream(stream, err, "is read inside another node", value);
        if (take_use(stream, &member, &value->uses[i], &took, err) < 0)
            return -1;
        if (took || !stream->fits)
            continue;
        if (member.axis + 1 != value_rank(value))
            return refuse_stream(stream, err, "is read by what cannot turn it back", value);
        if (by_list_reserve(&stream->smooth->arena, &stream->exits, 1, sizeof leaves, err) < 0)
            return -1;
        stream->exits.at[stream->exits.count++] = leaves;
    }
    return 0;
}

/* --- Who writes it --- */

static int take_weights(struct by_rotate_stream *stream, const struct by_rotate_member *member,
                        struct baryon_value *weight, size_t out, struct baryon_value *bias,
                        bool *took, struct baryon_error *err)
{
    *took = is_constant(weight) && weight->initializer->dims.count > out &&
            const_dim(weight, out) == stream->size && !by_smooth_refuses(weight) &&
            (!bias ||
             (is_constant(bias) && !by_smooth_refuses(bias) && elements_of(bias) == stream->size));
    if (!*took || add_edit(stream, weight, out, member->scale, err) < 0)
        return *took ? -1 : 0;
    return bias ? add_edit(stream, bias, bias->initializer->dims.count - 1, member->scale, err) : 0;
}

/* A layer of its own, whose outputs turn. */
static int take_writer(struct by_rotate_stream *stream, const struct by_rotate_member *member,
                       bool *took, struct baryon_error *err)
{
    const struct baryon_node *node = member->value->producer;
    struct baryon_value *weight = by_node_in(node, 1);
    const bool last = member->axis + 1 == value_rank(member->value);
    const bool turned = by_node_int(node, "transB", 0) != 0;
    *took = false;
    if (member->value->slot || !weight)
        return 0;
    if (by_node_is(node, "Conv") && member->axis == 1 && by_node_int(node, "group", 1) == 1)
        return take_weights(stream, member, weight, 0, by_node_in(node, 2), took, err);
    if (!last || !is_constant(weight) || weight->initializer->dims.count != 2)
        return 0;
    if (by_node_is(node, "MatMul") || (is_microsoft(node, "FusedMatMul") && !turned))
        return take_weights(stream, member, weight, 1, NULL, took, err);
    return by_node_is(node, "Gemm") ? take_weights(stream, member, weight, turned ? 0 : 1,
                                                   by_node_in(node, 2), took, err)
                                    : 0;
}

/* A Mul by one value a channel, which goes into what computes the other factor (LayerScale). */
static int take_scale(struct by_rotate_stream *stream, const struct by_rotate_member *member,
                      bool *took, struct baryon_error *err)
{
    const struct baryon_node *node = member->value->producer;
    const size_t slot = is_constant(by_node_in(node, 0)) ? 0 : 1;
    struct baryon_value *scale = by_node_in(node, slot), *in = by_node_in(node, 1 - slot);
    *took = by_node_is(node, "Mul") && !member->scale && elements_of(scale) == stream->size &&
            !by_smooth_refuses(scale) && in && !in->initializer &&
            value_rank(in) == value_rank(member->value) && member->axis + 1 == value_rank(in) &&
            const_dim(scale, scale->initializer->dims.count - 1) == stream->size &&
            by_smooth_size(in, member->axis) == (int64_t)stream->size && in->use_count == 1 &&
            !find_member(stream, in);
    if (!*took || add_one(stream, scale, err) < 0)
        return *took ? -1 : 0;
    return add_member(stream, in, member->axis, scale, err);
}

static int take_source(struct by_rotate_stream *stream, const struct by_rotate_member *member,
                       bool *took, struct baryon_error *err)
{
    const struct baryon_node *node = member->value->producer;
    *took = false;
    if (!node)
        return 0;
    if (is_skip_norm(node) && member->value->slot == 3 && !member->scale)
        return take_skip_norm(stream, node, member->axis, took, err);
    if (member->value->slot)
        return 0;
    if (may_pass(stream, node, member->axis)) {
        *took = true;
        return take_pass(stream, node, member->axis, member->scale, err);
    }
    if (take_writer(stream, member, took, err) < 0)
        return -1;
    return *took ? 0 : take_scale(stream, member, took, err);
}

static int take_member(struct by_rotate_stream *stream, size_t at, struct baryon_error *err)
{
    const struct by_rotate_member member = stream->members.at[at];
    bool took = false;
    if (take_uses(stream, at, err) < 0)
        return -1;
    if (stream->fits && take_source(stream, &member, &took, err) < 0)
        return -1;
    if (took || !stream->fits)
        return 0;
    if (member.axis + 1 != value_rank(member.value) || member.scale)
        return refuse_stream(stream, err, "comes from what cannot turn it", member.value);
    stream->members.at[at].enters = true;
    return 0;
}

/* --- The whole --- */

/* Values that leave it share a product. */
size_t by_rotate_products(const struct by_rotate_stream *stream)
{
    size_t count = 0;
    for (size_t i = 0; i < stream->members.count; i++)
        count += stream->members.at[i].enters;
    for (size_t i = 0; i < stream->exits.count; i++) {
        const struct baryon_value *value = stream->exits.at[i].value;
        bool is_new = !find_member(stream, value)->enters;
        for (size_t k = 0; k < i; k++)
            is_new = is_new && stream->exits.at[k].value != value;
        count += is_new;
    }
    return count;
}

/* What a shift gives may need an Add of its own, which would have to turn as well. */
static const struct baryon_value *both_sides(const struct by_rotate_stream *stream)
{
    for (size_t i = 0; i < stream->layers.count; i++)
        if (find_member(stream, by_node_out(stream->layers.at[i].node, 0)))
            return by_node_out(stream->layers.at[i].node, 0);
    return NULL;
}

int by_rotate_find(struct by_rotate_stream *stream, struct baryon_value *value, size_t axis,
                   struct baryon_error *err)
{
    const int64_t size = by_smooth_size(value, axis);
    stream->fits = true;
    if (size < 2 || !by_rotation_fits((size_t)size))
        return refuse_stream(stream, err,
                             "has no number of channels that is known and has a "
                             "rotation",
                             value);
    stream->size = (size_t)size;
    if (add_member(stream, value, axis, NULL, err) < 0)
        return -1;
    for (size_t i = 0; stream->fits && i < stream->members.count; i++)
        if (take_member(stream, i, err) < 0)
            return -1;
    if (!stream->fits)
        return 0;
    if (both_sides(stream))
        return refuse_stream(stream, err, "comes from a norm by one layer alone",
                             both_sides(stream));
    if (!stream->folds.count)
        return refuse_stream(stream, err,
                             "meets no norm whose weight folds into "
                             "layers; where a residual reads what a norm gives (post-norm), the "
                             "norm's weight stands in between",
                             value);
    if (2 * by_rotate_products(stream) > stream->folds.count)
        return by_smooth_refuse(stream->smooth, &stream->fits, err,
                                "'%s' would cost %zu products of its own for %zu norms that fold: "
                                "norms after the residual (post-norm) keep their weights",
                                value->name, by_rotate_products(stream), stream->folds.count);
    return 0;
}
