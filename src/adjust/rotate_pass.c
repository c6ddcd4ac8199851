/* Which nodes turn with their input, and along which axes. */
#include "adjust/rotate_internal.h"

#include <string.h>

static size_t any_rank(const struct baryon_value *value)
{
    if (value && value->initializer)
        return value->initializer->dims.count;
    return value && value->shape ? value->shape->rank : 0;
}

static size_t size_of_axis(const struct baryon_value *value, size_t axis)
{
    if (axis >= any_rank(value))
        return 0;
    const int64_t size =
        value->initializer ? value->initializer->dims.at[axis] : by_smooth_size(value, axis);
    return size > 0 ? (size_t)size : 0;
}

/* --- Axes --- */

static bool same_axis(const struct baryon_node *node, const struct baryon_value *in, size_t out,
                      size_t *axis)
{
    *axis = out;
    return any_rank(in) == any_rank(by_node_out(node, 0));
}

/* As broadcasting has it. */
static bool right_axis(const struct baryon_node *node, const struct baryon_value *in, size_t out,
                       size_t *axis)
{
    const size_t more = any_rank(by_node_out(node, 0)) - any_rank(in);
    if (any_rank(by_node_out(node, 0)) < any_rank(in) || out < more)
        return false;
    *axis = out - more;
    return true;
}

static bool turned_axis(const struct baryon_node *node, const struct baryon_value *in, size_t out,
                        size_t *axis)
{
    const struct baryon_attribute *perm = by_node_attr(node, "perm");
    const size_t rank = any_rank(in);
    if (rank <= out || (perm && perm->ints.count != rank))
        return false;
    *axis = perm ? (size_t)perm->ints.at[out] : rank - 1 - out;
    return true;
}

/* A copy with the sizes that can be told. */
static struct by_shape *told_shape(struct by_smooth *smooth, const struct baryon_value *value)
{
    struct by_shape *shape =
        value->shape ? by_shape_copy(&smooth->arena, value->shape, NULL) : NULL;
    for (size_t i = 0; shape && i < shape->rank; i++) {
        const int64_t size = by_smooth_size(value, i);
        if (size >= 0)
            shape->dims[i] = by_extent_of(size);
    }
    return shape;
}

static bool reshaped_axis(struct by_smooth *smooth, const struct baryon_node *node,
                          const struct baryon_value *in, size_t out, size_t *axis)
{
    struct by_smooth_spread from, spread;
    bool fits = false;
    const struct baryon_value *value = by_node_out(node, 0);
    const struct by_shape *to = told_shape(smooth, value), *of = told_shape(smooth, in);
    const size_t size = size_of_axis(value, out);
    if (!to || !of || !size ||
        by_smooth_spread_axis(&smooth->arena, to->rank, out, size, &from, NULL) < 0 ||
        by_smooth_spread_reshape(&smooth->arena, &from, to, of, &spread, &fits, NULL) < 0 || !fits)
        return false;
    size_t on = 0;
    for (size_t i = 0; i < spread.rank; i++)
        if (spread.on[i]) {
            *axis = i;
            on++;
        }
    return on == 1 && spread.count == size;
}

static bool gathered_axis(const struct baryon_node *node, const struct baryon_value *in, size_t out,
                          size_t *axis)
{
    const size_t rank = any_rank(in);
    const struct baryon_value *index = by_node_in(node, 1);
    int64_t along = by_node_int(node, "axis", 0);
    along += along < 0 ? (int64_t)rank : 0;
    if (!index || (!index->shape && !index->initializer) || !rank || along < 0)
        return false;
    if (out < (size_t)along) {
        *axis = out;
        return true;
    }
    *axis = out + 1 - any_rank(index);
    return out >= (size_t)along + any_rank(index) && *axis < rank;
}

static bool sliced_axis(struct by_smooth *smooth, const struct baryon_node *node,
                        const struct baryon_value *in, size_t out, size_t *axis)
{
    const struct baryon_value *axes = by_node_in(node, 3);
    int64_t *at;
    size_t count;
    if (!same_axis(node, in, out, axis) || !axes || !axes->initializer ||
        by_tensor_ints(axes->initializer, &smooth->arena, BY_RANK_MAX, &at, &count, NULL) < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (at[i] == (int64_t)out || at[i] + (int64_t)any_rank(in) == (int64_t)out)
            return false;
    return true;
}

static bool joined_axis(const struct baryon_node *node, const struct baryon_value *in, size_t out,
                        size_t *axis)
{
    const int64_t along = by_node_int(node, "axis", 0);
    *axis = out;
    return any_rank(by_node_out(node, 0)) > out && along != (int64_t)out &&
           along + (int64_t)any_rank(by_node_out(node, 0)) != (int64_t)out &&
           any_rank(in) == any_rank(by_node_out(node, 0));
}

static const char *const joins[] = {"Add", "Sub", NULL};
static const char *const scalings[] = {"Mul", "Div", NULL};
static const char *const reshapes[] = {"Reshape", "Flatten", "Squeeze", "Unsqueeze", NULL};
static const char *const copies[] = {"Identity", "Dropout", NULL};
static const char *const all_passing[] = {
    "Add",      "Sub",     "Mul",    "Div",    "Reshape", "Flatten",   "Squeeze", "Unsqueeze",
    "Identity", "Dropout", "Expand", "Concat", "Slice",   "Transpose", "Gather",  NULL};

bool by_rotate_axis_in(struct by_smooth *smooth, const struct baryon_node *node, size_t slot,
                       size_t out, size_t *axis)
{
    const struct baryon_value *in = by_node_in(node, slot);
    if (!in || !by_node_out(node, 0)->shape)
        return false;
    if (by_node_is_one_of(node, copies))
        return same_axis(node, in, out, axis);
    if (by_node_is_one_of(node, joins) || by_node_is_one_of(node, scalings) ||
        by_node_is(node, "Expand"))
        return right_axis(node, in, out, axis);
    if (by_node_is(node, "Transpose"))
        return turned_axis(node, in, out, axis);
    if (by_node_is_one_of(node, reshapes))
        return reshaped_axis(smooth, node, in, out, axis);
    if (by_node_is(node, "Gather"))
        return gathered_axis(node, in, out, axis);
    if (by_node_is(node, "Slice"))
        return sliced_axis(smooth, node, in, out, axis);
    return by_node_is(node, "Concat") && joined_axis(node, in, out, axis);
}

/* --- Whether they can --- */

bool by_rotate_is_mean(struct by_smooth *smooth, const struct baryon_node *node, size_t axis)
{
    const struct baryon_value *in = by_node_in(node, 0), *given = by_node_in(node, 1);
    const struct baryon_attribute *attribute = by_node_attr(node, "axes");
    int64_t at = 0, *read;
    size_t count = 0;
    if (!by_node_is(node, "ReduceMean") || !by_node_int(node, "keepdims", 1) || !in)
        return false;
    if (attribute && (count = attribute->ints.count) == 1)
        at = attribute->ints.at[0];
    else if (given && given->initializer &&
             by_tensor_ints(given->initializer, &smooth->arena, BY_RANK_MAX, &read, &count, NULL) ==
                 0 &&
             count == 1)
        at = read[0];
    return count == 1 && (at == (int64_t)axis || at + (int64_t)any_rank(in) == (int64_t)axis);
}

/* x - mean of x. */
static bool takes_mean(const struct by_rotate_stream *stream, const struct baryon_node *node)
{
    const struct baryon_value *mean = by_node_in(node, 1);
    return by_node_is(node, "Sub") && mean && mean->producer &&
           by_node_in(mean->producer, 0) == by_node_in(node, 0) &&
           by_rotate_is_mean(stream->smooth, mean->producer, any_rank(mean) - 1);
}

/* A factor that all channels share. */
static bool is_per_place(const struct baryon_value *value)
{
    return value && !value->initializer && any_rank(value) &&
           size_of_axis(value, any_rank(value) - 1) == 1;
}

bool by_rotate_is_data(const struct by_rotate_stream *stream, const struct baryon_node *node,
                       size_t slot)
{
    if (by_node_is_one_of(node, joins))
        return slot == 0 || !takes_mean(stream, node);
    if (by_node_is(node, "Mul"))
        return is_per_place(by_node_in(node, 1 - slot));
    return slot == 0 || by_node_is(node, "Concat");
}

static bool input_fits(const struct by_rotate_stream *stream, const struct baryon_node *node,
                       size_t slot, size_t out, size_t *constants)
{
    const struct baryon_value *in = by_node_in(node, slot);
    size_t axis;
    if (in && in->initializer) {
        ++*constants;
        if (by_smooth_refuses(in) || by_node_is_one_of(node, reshapes))
            return false;
    }
    return in && by_rotate_axis_in(stream->smooth, node, slot, out, &axis) &&
           size_of_axis(in, axis) == stream->size;
}

bool by_rotate_passes(const struct by_rotate_stream *stream, const struct baryon_node *node,
                      size_t out)
{
    size_t constants = 0, data = 0;
    if (!by_node_is_one_of(node, all_passing) || strcmp(by_domain(node->domain), "") != 0)
        return false;
    if (by_node_is_one_of(node, scalings) && out + 1 != any_rank(by_node_out(node, 0)))
        return false;
    if (by_node_is(node, "Div") && !is_per_place(by_node_in(node, 1)))
        return false;
    for (size_t slot = 0; slot < node->input.count; slot++) {
        if (!by_rotate_is_data(stream, node, slot))
            continue;
        data++;
        if (!input_fits(stream, node, slot, out, &constants))
            return false;
    }
    return data && (constants < data || by_node_is(node, "Gather") || by_node_is(node, "Expand"));
}
