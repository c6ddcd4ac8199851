/* Sizes of axes that type inference leaves open, from the shapes that a model computes. */
#include "adjust/smooth_internal.h"
#include "ir/tensor.h"

#include <string.h>

#define DEPTH_MOST  400
#define ENTRY_BYTES 512 /* of a shape, mostly; it is looked up thousands of times */

/* A number, or that axis of that value. */
struct size {
    int64_t number; /* -1: not known */
    const struct baryon_value *of;
    size_t axis;
};

static struct size fixed(int64_t number)
{
    return (struct size){.number = number};
}

static bool same_size(struct size one, struct size other)
{
    return one.number >= 0 ? one.number == other.number
                           : other.number < 0 && one.of == other.of && one.axis == other.axis;
}

/* What was found in one walk: sums of residual networks read a value by twice as many ways with
 * each layer. Of those that share a place the last one is kept. */
#define KNOWN 512

struct known {
    const struct baryon_value *value;
    size_t axis;
    unsigned takes; /* of the depth */
    bool cut;       /* it took all that was left: less or more may find another size */
    struct size size;
};

struct memory {
    struct known known[KNOWN];
    unsigned least; /* what was left of the depth at the deepest place since */
    bool cut;       /* and whether it ended something */
};

struct walk {
    unsigned left; /* of the depth */
    struct memory *memory;
};

static struct walk deeper(struct walk walk)
{
    walk.left--;
    if (walk.left < walk.memory->least)
        walk.memory->least = walk.left;
    return walk;
}

static bool is_cut(struct walk walk)
{
    walk.memory->cut |= !walk.left;
    return !walk.left;
}

static struct size size_along(const struct baryon_value *value, size_t axis, struct walk walk);

/* --- Entries of a shape that is computed --- */

static bool constant_entry(const struct baryon_value *value, size_t at, int64_t *entry,
                           size_t *count)
{
    struct by_arena arena;
    int64_t *ints;
    if (!value->initializer)
        return false;
    by_arena_init(&arena, ENTRY_BYTES);
    const bool good =
        by_tensor_ints(value->initializer, &arena, BY_RANK_MAX, &ints, count, NULL) == 0;
    if (good && at < *count)
        *entry = ints[at];
    by_arena_release(&arena);
    return good;
}

static size_t length_of(const struct baryon_value *value)
{
    size_t count;
    if (value->initializer && by_tensor_count(value->initializer, &count, NULL) == 0)
        return count;
    if (!value->shape || value->shape->rank > 1)
        return 0;
    return !value->shape->rank
               ? 1
               : (size_t)(value->shape->dims[0].size > 0 ? value->shape->dims[0].size : 0);
}

static bool entry_of(const struct baryon_value *value, size_t at, struct walk walk,
                     struct size *entry);

static bool entry_of_concat(const struct baryon_node *node, size_t at, struct walk walk,
                            struct size *entry)
{
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *part = by_node_in(node, i);
        const size_t length = part ? length_of(part) : 0;
        if (!length)
            return false;
        if (at < length)
            return entry_of(part, at, walk, entry);
        at -= length;
    }
    return false;
}

static bool entry_of_gather(const struct baryon_node *node, size_t at, struct walk walk,
                            struct size *entry)
{
    int64_t index = 0;
    size_t count;
    const struct baryon_value *in = by_node_in(node, 0), *which = by_node_in(node, 1);
    if (!in || !which || by_node_int(node, "axis", 0) != 0 ||
        !constant_entry(which, at, &index, &count) || at >= count)
        return false;
    index += index < 0 ? (int64_t)length_of(in) : 0;
    return index >= 0 && entry_of(in, (size_t)index, walk, entry);
}

static bool entry_of(const struct baryon_value *value, size_t at, struct walk walk,
                     struct size *entry)
{
    static const char *const same[] = {"Unsqueeze", "Squeeze", "Cast", "Identity", "Reshape", NULL};
    int64_t number;
    size_t count;
    const struct baryon_node *node = value->producer;
    if (constant_entry(value, at, &number, &count)) {
        *entry = fixed(number);
        return at < count;
    }
    if (!node || is_cut(walk))
        return false;
    if (by_node_is(node, "Shape") && by_node_in(node, 0) && !by_node_int(node, "start", 0)) {
        *entry = size_along(by_node_in(node, 0), at, deeper(walk));
        return true;
    }
    if (by_node_is(node, "Concat"))
        return entry_of_concat(node, at, deeper(walk), entry);
    if (by_node_is(node, "Gather"))
        return entry_of_gather(node, at, deeper(walk), entry);
    return by_node_is_one_of(node, same) && by_node_in(node, 0) &&
           entry_of(by_node_in(node, 0), at, deeper(walk), entry);
}

/* --- Sizes of what a node gives --- */

static struct size itself(const struct baryon_value *value, size_t axis)
{
    return (struct size){.number = -1, .of = value, .axis = axis};
}

static size_t rank_of(const struct baryon_value *value)
{
    return value && value->shape ? value->shape->rank : 0;
}

/* Axis `behind` from the end, of tensors that are spread over each other. */
static struct size joined(const struct baryon_value *out, size_t axis,
                          const struct baryon_value *const *in, size_t count, struct walk walk)
{
    const size_t behind = rank_of(out) - axis;
    struct size size = fixed(1);
    for (size_t i = 0; i < count; i++) {
        if (!in[i] || !in[i]->shape)
            return itself(out, axis);
        if (behind > rank_of(in[i]))
            continue;
        const struct size one = size_along(in[i], rank_of(in[i]) - behind, deeper(walk));
        if (one.number > 1)
            return one;
        if (one.number == 1)
            continue;
        if (size.number < 0 && !same_size(size, one))
            size = itself(out, axis);
        else
            size = one;
    }
    return size;
}

static struct size size_of_matmul(const struct baryon_node *node, const struct baryon_value *out,
                                  size_t axis, struct walk walk)
{
    const struct baryon_value *const in[] = {by_node_in(node, 0), by_node_in(node, 1)};
    const size_t behind = rank_of(out) - axis;
    if (!in[0] || !in[1] || rank_of(in[0]) < 2 || rank_of(in[1]) < 2)
        return itself(out, axis);
    if (behind == 1)
        return size_along(in[1], rank_of(in[1]) - 1, deeper(walk));
    if (behind == 2)
        return size_along(in[0], rank_of(in[0]) - 2, deeper(walk));
    return joined(out, axis, in, 2, walk);
}

static struct size size_of_transpose(const struct baryon_node *node, const struct baryon_value *out,
                                     size_t axis, struct walk walk)
{
    const struct baryon_attribute *perm = by_node_attr(node, "perm");
    const size_t rank = rank_of(out);
    if (rank_of(by_node_in(node, 0)) != rank || (perm && perm->ints.count != rank))
        return itself(out, axis);
    return size_along(by_node_in(node, 0), perm ? (size_t)perm->ints.at[axis] : rank - 1 - axis,
                      deeper(walk));
}

/* What is left of all elements: sizes that both sides have cancel. */
static struct size rest_of(const struct baryon_node *node, const struct baryon_value *out,
                           size_t axis, const struct size *entries, struct walk walk)
{
    const struct baryon_value *in = by_node_in(node, 0);
    int64_t above = 1, below = 1;
    bool used[BY_RANK_MAX] = {false};
    for (size_t i = 0; i < rank_of(in); i++) {
        const struct size size = size_along(in, i, deeper(walk));
        size_t k = 0;
        while (k < rank_of(out) && (k == axis || used[k] || !same_size(size, entries[k])))
            k++;
        if (k < rank_of(out))
            used[k] = true;
        else if (size.number <= 0 || size.number > INT32_MAX || above > INT32_MAX)
            return itself(out, axis);
        else
            above *= size.number;
    }
    for (size_t k = 0; k < rank_of(out); k++) {
        if (k == axis || used[k])
            continue;
        if (entries[k].number <= 0 || entries[k].number > INT32_MAX || below > INT32_MAX)
            return itself(out, axis);
        below *= entries[k].number;
    }
    return above % below ? itself(out, axis) : fixed(above / below);
}

static struct size size_of_reshape(const struct baryon_node *node, const struct baryon_value *out,
                                   size_t axis, struct walk walk)
{
    struct size entries[BY_RANK_MAX];
    const struct baryon_value *in = by_node_in(node, 0), *shape = by_node_in(node, 1);
    if (!in || !shape || !rank_of(in) || by_node_int(node, "allowzero", 0))
        return itself(out, axis);
    for (size_t i = 0; i < rank_of(out); i++) {
        if (!entry_of(shape, i, walk, &entries[i]))
            entries[i] = itself(out, i);
        if (entries[i].number == 0)
            entries[i] = i < rank_of(in) ? size_along(in, i, deeper(walk)) : itself(out, i);
    }
    if (entries[axis].number > 0 || entries[axis].of != NULL)
        return entries[axis];
    return rest_of(node, out, axis, entries, walk);
}

static struct size find_size(const struct baryon_value *value, size_t axis, struct walk walk)
{
    static const char *const same[] = {"LayerNormalization",
                                       "RMSNormalization",
                                       "Softmax",
                                       "Relu",
                                       "Gelu",
                                       "Erf",
                                       "Sigmoid",
                                       "Tanh",
                                       "Identity",
                                       "Dropout",
                                       "Cast",
                                       "BatchNormalization",
                                       NULL};
    static const char *const sums[] = {"Add", "Sub", "Mul", "Div", "Pow", NULL};
    const struct baryon_node *node = value->producer;
    if (axis >= rank_of(value))
        return itself(value, axis);
    if (value->shape->dims[axis].size >= 0)
        return fixed(value->shape->dims[axis].size);
    if (!node || is_cut(walk) || value->slot)
        return itself(value, axis);
    if (by_node_is_one_of(node, same) && rank_of(by_node_in(node, 0)) == rank_of(value))
        return size_along(by_node_in(node, 0), axis, deeper(walk));
    if (by_node_is_one_of(node, sums)) {
        const struct baryon_value *const in[] = {by_node_in(node, 0), by_node_in(node, 1)};
        return joined(value, axis, in, 2, walk);
    }
    if (by_node_is(node, "MatMul"))
        return size_of_matmul(node, value, axis, walk);
    if (by_node_is(node, "Transpose"))
        return size_of_transpose(node, value, axis, walk);
    return by_node_is(node, "Reshape") ? size_of_reshape(node, value, axis, walk)
                                       : itself(value, axis);
}

static bool tells_size(const struct known *known, const struct baryon_value *value, size_t axis,
                       unsigned left)
{
    if (known->value != value || known->axis != axis)
        return false;
    return known->cut ? known->takes == left : known->takes <= left;
}

/* What no depth ended is the same from wherever as much is left as it takes. */
static struct size size_along(const struct baryon_value *value, size_t axis, struct walk walk)
{
    struct memory *memory = walk.memory;
    struct known *known = &memory->known[((uintptr_t)value / sizeof *value + axis) % KNOWN];
    const unsigned before = memory->least;
    const bool cut = memory->cut;
    if (!tells_size(known, value, axis, walk.left)) {
        memory->least = walk.left;
        memory->cut = false;
        const struct size size = find_size(value, axis, walk);
        *known = (struct known){value, axis, walk.left - memory->least, memory->cut, size};
    }
    const unsigned least = walk.left - known->takes;
    memory->least = least < before ? least : before;
    memory->cut = cut || known->cut;
    return known->size;
}

int64_t by_smooth_size(const struct baryon_value *value, size_t axis)
{
    struct memory memory = {.least = DEPTH_MOST};
    return size_along(value, axis, (struct walk){DEPTH_MOST, &memory}).number;
}
