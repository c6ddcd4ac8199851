/* Recognizes a Softmax, in one operator or several. */
#include "ir/softmax_parts.h"

#include "ir/shape.h"
#include "ir/tensor.h"

#include <string.h>

/* Q/DQ pairs of whatever domain. */
static bool is_pair(const struct baryon_node *node)
{
    return strstr(node->op_type, "QuantizeLinear") || strstr(node->op_type, "DequantizeLinear");
}

static bool spreads(const struct baryon_node *node)
{
    static const char *const names[] = {"Cast",    "Expand", "Identity",  "Reshape",
                                        "Squeeze", "Tile",   "Unsqueeze", NULL};
    return by_node_is_one_of(node, names) || is_pair(node);
}

static bool is_constant(const struct baryon_value *value)
{
    return value &&
           (value->initializer || (value->producer && by_node_is(value->producer, "Constant")));
}

/* A bound that the maximum may have: Max(-inf, max(x)). */
static const struct baryon_value *bounded(const struct baryon_node *node)
{
    if (!by_node_is(node, "Max") || node->input.count != 2)
        return NULL;
    return is_constant(by_node_in(node, 0))   ? by_node_in(node, 1)
           : is_constant(by_node_in(node, 1)) ? by_node_in(node, 0)
                                              : NULL;
}

static bool add(struct by_softmax_parts *parts, const struct baryon_node *node)
{
    if (parts->count == BY_SOFTMAX_NODES)
        return false;
    parts->nodes[parts->count++] = node;
    return true;
}

static const struct baryon_value *before_pairs(const struct baryon_value *value)
{
    while (value && value->producer && is_pair(value->producer) && by_node_in(value->producer, 0))
        value = by_node_in(value->producer, 0);
    return value;
}

/* The node of that operator that the value comes from, through what spreads it; it and all between
 * are added. */
static const struct baryon_node *walk_to(struct by_softmax_parts *parts,
                                         const struct baryon_value *value, const char *op)
{
    while (value && value->producer) {
        const struct baryon_node *node = value->producer;
        if (!add(parts, node))
            return NULL;
        if (by_node_is(node, op))
            return node;
        const struct baryon_value *largest = bounded(node);
        value = spreads(node) ? by_node_in(node, 0) : largest;
    }
    return NULL;
}

static bool is_of(const struct baryon_node *reduce, const struct baryon_value *value)
{
    return reduce && before_pairs(by_node_in(reduce, 0)) == before_pairs(value);
}

/* The last one, as far as that is known. */
static bool reduces_last(const struct baryon_node *reduce)
{
    const struct baryon_value *data = by_node_in(reduce, 0), *axes = by_node_in(reduce, 1);
    const struct baryon_attribute *attr = by_node_attr(reduce, "axes");
    int64_t axis = 0;
    if (attr && attr->ints.count == 1)
        axis = attr->ints.at[0];
    else if (axes && axes->initializer) {
        bool is_one = false;
        double number = 0;
        (void)by_tensor_number(axes->initializer, &is_one, &number, NULL);
        axis = is_one ? (int64_t)number : 0;
    }
    return axis == -1 || (axis > 0 && data->shape && axis == (int64_t)data->shape->rank - 1);
}

/* Without its maximum taken off it is one as well. */
static bool find_logits(struct by_softmax_parts *parts, const struct baryon_node *exp)
{
    const size_t count = parts->count;
    const struct baryon_value *shifted = by_node_in(exp, 0);
    const struct baryon_node *sub = shifted ? before_pairs(shifted)->producer : NULL;
    parts->logits = (struct baryon_value *)shifted;
    if (!sub || !by_node_is(sub, "Sub"))
        return shifted != NULL;
    const struct baryon_value *x = by_node_in(sub, 0);
    if (!x || !add(parts, sub) || !is_of(walk_to(parts, by_node_in(sub, 1), "ReduceMax"), x)) {
        parts->count = count; /* what is taken off is no maximum: it is all logits */
        return true;
    }
    parts->logits = (struct baryon_value *)x;
    return true;
}

/* exp: the numerator; sum: the value that is divided by. */
static bool is_quotient(struct by_softmax_parts *parts, const struct baryon_value *numerator,
                        const struct baryon_value *sum)
{
    const struct baryon_value *power = before_pairs(numerator);
    const struct baryon_node *exp = power ? power->producer : NULL;
    if (!exp || !by_node_is(exp, "Exp") || !add(parts, exp))
        return false;
    const struct baryon_node *reduce = walk_to(parts, sum, "ReduceSum");
    if (!is_of(reduce, power))
        return false;
    parts->over_last_axis = reduces_last(reduce);
    return find_logits(parts, exp);
}

static bool is_product(struct by_softmax_parts *parts, const struct baryon_value *numerator,
                       const struct baryon_value *inverse)
{
    const struct baryon_node *reciprocal = walk_to(parts, inverse, "Reciprocal");
    return reciprocal && is_quotient(parts, numerator, by_node_in(reciprocal, 0));
}

static void begin(struct by_softmax_parts *parts, const struct baryon_node *end)
{
    *parts = (struct by_softmax_parts){.nodes = {end}, .count = 1};
}

static bool is_operator(struct by_softmax_parts *parts, const struct baryon_node *softmax)
{
    const int64_t axis = by_node_int(softmax, "axis", -1);
    parts->logits = by_node_in(softmax, 0);
    if (!parts->logits)
        return false;
    const struct by_shape *shape = parts->logits->shape;
    parts->over_last_axis = axis == -1 || (shape && axis == (int64_t)shape->rank - 1);
    return true;
}

bool by_softmax_parts(const struct baryon_node *end, struct by_softmax_parts *parts)
{
    begin(parts, end);
    if (by_node_is(end, "Softmax"))
        return is_operator(parts, end);
    if (by_node_is(end, "Div"))
        return is_quotient(parts, by_node_in(end, 0), by_node_in(end, 1));
    if (!by_node_is(end, "Mul"))
        return false;
    if (is_product(parts, by_node_in(end, 0), by_node_in(end, 1)))
        return true;
    begin(parts, end);
    return is_product(parts, by_node_in(end, 1), by_node_in(end, 0));
}
