/*
 * A GELU written out with tanh, 0.5 x (1 + tanh(c (x + k x^3))), as Flax, TensorFlow and GPT-2 have
 * it: from the power to Tanh it stays float. The range of a cube leaves eight bits nothing of its
 * small values, which are nearly all; one operator would compute it in floats as well.
 */
#include "quant/place_internal.h"

#define DEPTH 6 /* operators from Tanh back to the value */

static const char in_gelu[] = "it is part of a GELU of several nodes: a cube has too wide a range";

struct walk {
    struct by_placing *placing;
    const struct baryon_value *from; /* the value that all is computed of */
    bool marks;
};

static bool computes(const struct baryon_node *node)
{
    static const char *const names[] = {"Add", "Sub", "Mul", "Div", "Pow", NULL};
    return by_node_is_one_of(node, names);
}

static const struct baryon_node *node_before(const struct by_placing *placing,
                                             const struct baryon_value *value)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    return node && node->graph == placing->graph && computes(node) && node->input.count == 2 ? node
                                                                                             : NULL;
}

/* Whether all is computed of one value and constants. */
static bool walk_back(const struct walk *walk, const struct baryon_value *value, unsigned depth)
{
    if (value == walk->from || (value && by_place_is_constant(value)))
        return true;
    const struct baryon_node *node = node_before(walk->placing, value);
    if (!node || !depth || !walk_back(walk, by_node_in(node, 0), depth - 1) ||
        !walk_back(walk, by_node_in(node, 1), depth - 1))
        return false;
    if (walk->marks)
        by_place_keep(walk->placing, node, in_gelu);
    return true;
}

/* Of a node with a constant the other input; NULL: it has none, or two. */
static const struct baryon_value *beside_constant(const struct baryon_node *node)
{
    const struct baryon_value *one = by_node_in(node, 0), *other = by_node_in(node, 1);
    if (!one || !other || by_place_is_constant(one) == by_place_is_constant(other))
        return NULL;
    return by_place_is_constant(one) ? other : one;
}

/* A product of two values that are none of them constant, or a power, before the value. */
static bool has_power(const struct walk *walk, const struct baryon_value *value, unsigned depth)
{
    const struct baryon_node *node = value == walk->from ? NULL : node_before(walk->placing, value);
    if (!node || !depth)
        return false;
    return by_node_is(node, "Pow") || (by_node_is(node, "Mul") && !beside_constant(node)) ||
           has_power(walk, by_node_in(node, 0), depth - 1) ||
           has_power(walk, by_node_in(node, 1), depth - 1);
}

/* Without constant factors. */
static const struct baryon_value *stripped(const struct by_placing *placing,
                                           const struct baryon_value *value)
{
    for (unsigned depth = DEPTH; depth; depth--) {
        const struct baryon_node *node = node_before(placing, value);
        const bool scales = node && (by_node_is(node, "Mul") || by_node_is(node, "Div"));
        const struct baryon_value *inner = scales ? beside_constant(node) : NULL;
        if (!inner)
            break;
        value = inner;
    }
    return value;
}

/* What the two inputs of a sum or a product are both computed of: one of them, but for constant
 * factors, as in x + k x^3 and c x (1 + k x^2). */
static bool find_base(struct walk *walk, const struct baryon_value *in)
{
    const struct baryon_value *whole = stripped(walk->placing, in);
    const struct baryon_node *node = node_before(walk->placing, whole);
    if (!node)
        return false;
    for (size_t i = 0; i < 4; i++) {
        const struct baryon_value *input = by_node_in(node, i % 2);
        walk->from = i < 2 ? input : stripped(walk->placing, input);
        if (walk->from && walk_back(walk, whole, DEPTH) && has_power(walk, whole, DEPTH))
            return true;
    }
    return false;
}

void by_place_gelus(struct by_placing *placing)
{
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        if (!node || !by_node_is(node, "Tanh"))
            continue;
        struct walk walk = {.placing = placing};
        if (!find_base(&walk, by_node_in(node, 0)))
            continue;
        walk.marks = true;
        (void)walk_back(&walk, by_node_in(node, 0), 2 * DEPTH);
        by_place_keep(placing, node, in_gelu);
    }
}
