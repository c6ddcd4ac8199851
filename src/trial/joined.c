/* Finds outputs that are joined from results of different kinds, and cuts them into these. */
#include "trial/joined.h"

#include "base/text.h"
#include "ir/shape.h"

#include <string.h>

#define DEPTH 16 /* operators from the output back */

static const struct by_joined whole = {.count = 1};

/* --- What is joined --- */

/* The operator that makes the values, behind those that only move them, and which of its outputs;
 * NULL: an input or a constant. */
static const struct baryon_node *maker_of(const struct baryon_value *value, size_t *slot)
{
    static const char *const moves[] = {"Cast",  "Flatten", "Identity",  "Reshape",   "Slice",
                                        "Split", "Squeeze", "Transpose", "Unsqueeze", NULL};
    for (unsigned i = 0; value && value->producer && i < DEPTH; i++) {
        *slot = value->slot;
        if (!by_node_is_one_of(value->producer, moves))
            return value->producer;
        value = by_node_in(value->producer, 0);
    }
    return NULL;
}

/* Results of the same operator, as of several scales of a network, are of one kind. */
static bool joins_kinds(const struct baryon_node *concat)
{
    size_t slot = 0, first_slot = 0;
    const struct baryon_node *first = maker_of(by_node_in(concat, 0), &first_slot);
    for (size_t i = 1; i < concat->input.count; i++) {
        const struct baryon_node *maker = maker_of(by_node_in(concat, i), &slot);
        if (!first || !maker)
            return false;
        if (strcmp(first->op_type, maker->op_type) != 0 || slot != first_slot)
            return true;
    }
    return false;
}

static bool find_axis(const struct baryon_node *node, size_t *axis)
{
    const struct baryon_value *value = by_node_out(node, 0);
    const int64_t rank = value && value->shape ? (int64_t)value->shape->rank : 0;
    int64_t given = by_node_int(node, "axis", rank);
    given += given < 0 ? rank : 0;
    *axis = (size_t)given;
    return given >= 0 && given < rank;
}

static struct by_joined parts_of_inputs(const struct baryon_node *concat, size_t axis)
{
    struct by_joined joined = {.axis = axis};
    int64_t end = 0;
    for (size_t i = 0; i < concat->input.count; i++) {
        const struct baryon_value *value = by_node_in(concat, i);
        if (i == BY_JOINED_MOST || !value || !value->shape || axis >= value->shape->rank ||
            !by_extent_is_number(value->shape->dims[axis]))
            return whole;
        end += value->shape->dims[axis].size;
        joined.ends[joined.count++] = end;
    }
    return joined;
}

static bool same_parts(const struct by_joined *one, const struct by_joined *other)
{
    return one->count == other->count && one->axis == other->axis &&
           !memcmp(one->ends, other->ends, one->count * sizeof *one->ends);
}

static struct by_joined find_joined(const struct baryon_value *value, unsigned depth, bool within);

/* within: what another Concat joins, of which all inputs are looked at. */
static struct by_joined parts_of_concat(const struct baryon_node *node, unsigned depth, bool within)
{
    size_t axis;
    if (!find_axis(node, &axis))
        return whole;
    if (joins_kinds(node))
        return parts_of_inputs(node, axis);
    if (within)
        return whole;
    const struct by_joined first = find_joined(by_node_in(node, 0), depth, true);
    for (size_t i = 1; i < node->input.count; i++) {
        const struct by_joined other = find_joined(by_node_in(node, i), depth, true);
        if (!same_parts(&first, &other))
            return whole;
    }
    return first.count > 1 && first.axis != axis ? first : whole;
}

static struct by_joined turned(const struct baryon_node *transpose, struct by_joined joined)
{
    const struct baryon_attribute *perm = by_node_attr(transpose, "perm");
    for (size_t i = 0; joined.count > 1 && perm && i < perm->ints.count; i++)
        if (perm->ints.at[i] == (int64_t)joined.axis) {
            joined.axis = i;
            return joined;
        }
    return whole;
}

/* Elements of the axes [begin, end); -1: unknown. */
static int64_t count_of(const struct by_shape *shape, size_t begin, size_t end)
{
    int64_t count = 1;
    for (size_t i = begin; i < end; i++) {
        if (!by_extent_is_number(shape->dims[i]) || shape->dims[i].size > INT32_MAX ||
            count > INT32_MAX)
            return -1;
        count *= shape->dims[i].size;
    }
    return count;
}

/* The axis stays one where as many elements stand before it, or after it, and as many in it. */
static struct by_joined reshaped(const struct by_shape *from, const struct by_shape *to,
                                 struct by_joined joined)
{
    if (joined.count < 2 || !from || !to || joined.axis >= from->rank)
        return whole;
    const int64_t before = count_of(from, 0, joined.axis);
    const int64_t after = count_of(from, joined.axis + 1, from->rank);
    const int64_t size = joined.ends[joined.count - 1];
    for (size_t i = 0; i < to->rank; i++) {
        const bool stays = (before >= 0 && count_of(to, 0, i) == before) ||
                           (after >= 0 && count_of(to, i + 1, to->rank) == after);
        if (stays && by_extent_is_number(to->dims[i]) && to->dims[i].size == size) {
            joined.axis = i;
            return joined;
        }
    }
    return whole;
}

/* Recursion is bounded by DEPTH. */
static struct by_joined find_joined(const struct baryon_value *value, unsigned depth, bool within)
{
    static const char *const reshapes[] = {"Flatten", "Reshape", "Squeeze", "Unsqueeze", NULL};
    const struct baryon_node *node = value ? value->producer : NULL;
    if (!node || depth == DEPTH)
        return whole;
    const struct baryon_value *in = by_node_in(node, 0);
    if (by_node_is(node, "Identity") || by_node_is(node, "Cast"))
        return find_joined(in, depth + 1, within);
    if (by_node_is(node, "Transpose"))
        return turned(node, find_joined(in, depth + 1, within));
    if (in && by_node_is_one_of(node, reshapes))
        return reshaped(in->shape, value->shape, find_joined(in, depth + 1, within));
    return by_node_is(node, "Concat") ? parts_of_concat(node, depth + 1, within) : whole;
}

struct by_joined by_joined_find(const struct baryon_value *output)
{
    return find_joined(output, 0, false);
}

/* --- Parts --- */

struct by_joined by_joined_of(const struct by_joined *joined, const struct by_array *array)
{
    return joined->count > 1 && joined->axis < array->rank &&
                   array->dims[joined->axis] == joined->ends[joined->count - 1]
               ? *joined
               : whole;
}

static int64_t begin_of(const struct by_joined *joined, size_t part)
{
    return part ? joined->ends[part - 1] : 0;
}

const char *by_joined_name(const struct by_joined *joined, size_t part, const char *name,
                           struct by_arena *arena, struct baryon_error *err)
{
    char buf[BY_NAME_MAX + 80];
    struct by_text text;
    if (joined->count < 2)
        return name;
    by_text_init(&text, buf, sizeof buf);
    by_text_add(&text, "%s[", name);
    for (size_t i = 0; i < joined->axis; i++)
        by_text_add(&text, ":,");
    by_text_add(&text, "%lld:%lld]", (long long)begin_of(joined, part),
                (long long)joined->ends[part]);
    return by_arena_text(arena, buf, strlen(buf), err);
}

struct by_joined_blocks by_joined_blocks(const struct by_joined *joined, size_t part,
                                         const struct by_array *array)
{
    struct by_joined_blocks blocks = {.count = 1, .step = 1};
    for (size_t i = 0; i < array->rank; i++) {
        if (joined->count > 1 && i < joined->axis)
            blocks.count *= (size_t)array->dims[i];
        else if (joined->count < 2 || i > joined->axis)
            blocks.step *= (size_t)array->dims[i];
    }
    blocks.size = blocks.step;
    if (joined->count < 2)
        return blocks;
    const int64_t begin = begin_of(joined, part);
    blocks.size *= (size_t)(joined->ends[part] - begin);
    blocks.first = blocks.step * (size_t)begin;
    blocks.step *= (size_t)array->dims[joined->axis];
    return blocks;
}

int by_joined_take(const struct by_joined *joined, size_t part, const struct by_array *array,
                   struct by_arena *arena, struct by_array *out, struct baryon_error *err)
{
    size_t bytes;
    *out = *array;
    if (joined->count < 2)
        return 0;
    const struct by_joined_blocks blocks = by_joined_blocks(joined, part, array);
    out->dims[joined->axis] = joined->ends[part] - begin_of(joined, part);
    const size_t count = blocks.size * blocks.count;
    if (by_elem_bytes(array->elem, count, &bytes, err) < 0)
        return -1;
    const size_t width = count > 0 ? bytes / count : 0;
    char *copy = by_arena_alloc(arena, bytes + 1, 1, err);
    for (size_t i = 0; copy && i < blocks.count; i++)
        memcpy(copy + i * blocks.size * width,
               (const char *)array->data + (blocks.first + i * blocks.step) * width,
               blocks.size * width);
    out->data = copy;
    out->size = bytes;
    return copy ? 0 : -1;
}
