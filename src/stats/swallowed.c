/* Finds values that fusions remove, which therefore need no range. */
#include "stats/swallowed.h"

/* Nodes of one pattern, its last node after the others. */
#define PATTERN_MAX 16

struct pattern {
    const struct baryon_node *nodes[PATTERN_MAX];
    size_t count;
    bool full; /* more nodes than a pattern can have: it is none */
};

struct search {
    const bool *constant;
    bool *swallowed;
};

static bool is_search_constant(const struct search *search, const struct baryon_value *value)
{
    return value && search->constant[value->index];
}

/* The node that alone reads the value, once, in the value's own graph; else NULL. */
static const struct baryon_node *only_reader(const struct baryon_value *value)
{
    if (!value || value->use_count != 1 || value->output_count)
        return NULL;
    const struct by_use *use = &value->uses[0];
    return use->graph == value->graph ? use->node : NULL;
}

static const struct baryon_node *reader_of(const struct baryon_node *node)
{
    return only_reader(by_node_out(node, 0));
}

static const struct baryon_node *producer(const struct baryon_node *node, size_t slot,
                                          const char *op_type)
{
    const struct baryon_value *value = by_node_in(node, slot);
    const struct baryon_node *found = value ? value->producer : NULL;
    return found && found->graph == node->graph && by_node_is(found, op_type) ? found : NULL;
}

/* The input of a node with two that is not the one given; NULL when it has not that one. */
static const struct baryon_value *other_input(const struct baryon_node *node,
                                              const struct baryon_value *value)
{
    if (node->input.count != 2)
        return NULL;
    if (by_node_in(node, 0) == value)
        return by_node_in(node, 1);
    return by_node_in(node, 1) == value ? by_node_in(node, 0) : NULL;
}

static bool has(const struct pattern *pattern, const struct baryon_node *node)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (pattern->nodes[i] == node)
            return true;
    return false;
}

static bool has_operator(const struct pattern *pattern, const char *op_type)
{
    for (size_t i = 0; i < pattern->count; i++)
        if (by_node_is(pattern->nodes[i], op_type))
            return true;
    return false;
}

static void add_to_pattern(struct pattern *pattern, const struct baryon_node *node)
{
    if (!node || has(pattern, node))
        return;
    if (pattern->count == PATTERN_MAX)
        pattern->full = true;
    else
        pattern->nodes[pattern->count++] = node;
}

static bool stays_inside(const struct pattern *pattern, const struct baryon_value *value)
{
    if (value->output_count)
        return false;
    for (size_t i = 0; i < value->use_count; i++) {
        const struct by_use *use = &value->uses[i];
        if (use->graph != value->graph || !has(pattern, use->node))
            return false;
    }
    return true;
}

/* All but what the last node gives; nothing when one of them is needed outside. */
static void swallow(struct search *search, const struct pattern *pattern)
{
    if (pattern->full)
        return;
    for (size_t i = 0; i + 1 < pattern->count; i++)
        if (!by_node_out(pattern->nodes[i], 0) ||
            !stays_inside(pattern, by_node_out(pattern->nodes[i], 0)))
            return;
    for (size_t i = 0; i + 1 < pattern->count; i++)
        search->swallowed[by_node_out(pattern->nodes[i], 0)->index] = true;
}

/* --- Activations and batch normalization --- */

/* They only bend or cut: ranges before them follow from those after. */
static bool bends(const struct search *search, const struct baryon_node *node)
{
    if (by_node_is(node, "Clip")) {
        const struct baryon_value *low = by_node_in(node, 1), *high = by_node_in(node, 2);
        return (!low || is_search_constant(search, low)) &&
               (!high || is_search_constant(search, high));
    }
    return by_node_is(node, "Relu") || by_node_is(node, "LeakyRelu");
}

static void look_at_reader(struct search *search, const struct baryon_node *node)
{
    static const char *const bent[] = {"Conv", "ConvTranspose",      "Gemm", "MatMul",
                                       "Add",  "BatchNormalization", NULL};
    const struct baryon_node *reader = by_node_is_one_of(node, bent) ? reader_of(node) : NULL;
    if (!reader || by_node_in(reader, 0) != by_node_out(node, 0))
        return;
    if (bends(search, reader) ||
        (by_node_is(node, "Conv") && by_node_is(reader, "BatchNormalization")))
        search->swallowed[by_node_out(node, 0)->index] = true;
}

/* --- Layer normalization: (x - mean) / sqrt(mean of squares + epsilon) [* scale [+ bias]] --- */

/* Whose mean of squares it is: Pow(x, 2) or Mul(x, x). */
static const struct baryon_value *squared(struct pattern *pattern, const struct baryon_node *mean)
{
    const struct baryon_node *square = producer(mean, 0, "Pow");
    if (!square && (square = producer(mean, 0, "Mul")) &&
        by_node_in(square, 0) != by_node_in(square, 1))
        return NULL;
    add_to_pattern(pattern, square);
    return square ? by_node_in(square, 0) : NULL;
}

/* x, for a difference between x and its mean. */
static const struct baryon_value *centred(struct pattern *pattern,
                                          const struct baryon_value *difference)
{
    const struct baryon_node *sub = difference->producer;
    if (!sub || !by_node_is(sub, "Sub"))
        return NULL;
    const struct baryon_node *mean = producer(sub, 1, "ReduceMean");
    if (!mean || by_node_in(mean, 0) != by_node_in(sub, 0))
        return NULL;
    add_to_pattern(pattern, mean);
    add_to_pattern(pattern, sub);
    return by_node_in(sub, 0);
}

/* The node after `node` when it is that operator with a constant; it joins the pattern. */
static const struct baryon_node *step_to_reader(const struct search *search,
                                                struct pattern *pattern,
                                                const struct baryon_node *node, const char *op_type)
{
    const struct baryon_node *next = node ? reader_of(node) : NULL;
    if (!next || !by_node_is(next, op_type) ||
        !is_search_constant(search, other_input(next, by_node_out(node, 0))))
        return NULL;
    add_to_pattern(pattern, next);
    return next;
}

static void look_at_root(struct search *search, const struct baryon_node *root)
{
    struct pattern pattern = {0};
    const struct baryon_node *sum = producer(root, 0, "Add");
    const struct baryon_node *mean = NULL;
    for (size_t slot = 0; sum && slot < 2 && !mean; slot++)
        if (is_search_constant(search, by_node_in(sum, 1 - slot)))
            mean = producer(sum, slot, "ReduceMean");
    const struct baryon_value *base = mean ? squared(&pattern, mean) : NULL;
    const struct baryon_node *divide = reader_of(root);
    if (!base || !divide || !by_node_is(divide, "Div") ||
        by_node_in(divide, 1) != by_node_out(root, 0))
        return;
    /* Some exporters write the difference twice, and without one it is RMS normalization. */
    const struct baryon_value *top = by_node_in(divide, 0);
    const struct baryon_value *x = centred(&pattern, base);
    if (base != top && (!top || !x || centred(&pattern, top) != x))
        return;
    add_to_pattern(&pattern, mean);
    add_to_pattern(&pattern, sum);
    add_to_pattern(&pattern, root);
    add_to_pattern(&pattern, divide);
    step_to_reader(search, &pattern, step_to_reader(search, &pattern, divide, "Mul"), "Add");
    swallow(search, &pattern);
}

/* --- Gelu: x * 0.5 * (1 + erf(x / sqrt 2)), and its approximation by tanh --- */

#define CURVE_DEPTH 6

/* All between x and the node is products, sums and powers of x and constants. */
static bool comes_from(const struct search *search, struct pattern *pattern,
                       const struct baryon_node *node, const struct baryon_value *x, unsigned depth)
{
    static const char *const arithmetic[] = {"Mul", "Div", "Add", "Pow", NULL};
    bool found = false;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        if (value == x || is_search_constant(search, value)) {
            found |= value == x;
            continue;
        }
        if (!value || !depth || !value->producer ||
            !by_node_is_one_of(value->producer, arithmetic) ||
            !comes_from(search, pattern, value->producer, x, depth - 1))
            return false;
        add_to_pattern(pattern, value->producer);
        found = true;
    }
    return found;
}

/* The last product of Gelu, and x, from its "1 + ...". */
static const struct baryon_node *gelu_end(const struct search *search, struct pattern *pattern,
                                          const struct baryon_node *plus,
                                          const struct baryon_value **x)
{
    const struct baryon_node *half = step_to_reader(search, pattern, plus, "Mul");
    const struct baryon_node *before = half ? half : plus, *product = reader_of(before);
    if (!product || !by_node_is(product, "Mul"))
        return NULL;
    const struct baryon_value *other = other_input(product, by_node_out(before, 0));
    add_to_pattern(pattern, product);
    *x = other;
    if (half || !other)
        return other ? product : NULL;
    const struct baryon_node *halved = other->producer;
    if (halved && by_node_is(halved, "Mul") && only_reader(other) == product)
        for (size_t slot = 0; slot < 2; slot++)
            if (is_search_constant(search, by_node_in(halved, slot))) {
                add_to_pattern(pattern, halved);
                *x = by_node_in(halved, 1 - slot);
                return product;
            }
    return step_to_reader(search, pattern, product, "Mul");
}

static void look_at_curve(struct search *search, const struct baryon_node *curve)
{
    struct pattern pattern = {0};
    const struct baryon_value *x = NULL;
    add_to_pattern(&pattern, curve);
    const struct baryon_node *plus = step_to_reader(search, &pattern, curve, "Add");
    const struct baryon_node *end = plus ? gelu_end(search, &pattern, plus, &x) : NULL;
    if (!end || !x || is_search_constant(search, x) ||
        !comes_from(search, &pattern, curve, x, CURVE_DEPTH))
        return;
    /* Without x^3 it is a sigmoid written as tanh; x * x * x is fused by nobody. */
    if (by_node_is(curve, "Tanh") && !has_operator(&pattern, "Pow"))
        return;
    /* swallow() leaves the last one out. */
    for (size_t i = 0; i < pattern.count; i++)
        if (pattern.nodes[i] == end) {
            pattern.nodes[i] = pattern.nodes[pattern.count - 1];
            pattern.nodes[pattern.count - 1] = end;
        }
    swallow(search, &pattern);
}

void by_swallowed_mark(const struct baryon_graph *graph, const bool *constant, bool *swallowed)
{
    struct search search = {.constant = constant, .swallowed = swallowed};
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (!node)
            continue;
        look_at_reader(&search, node);
        if (by_node_is(node, "Sqrt"))
            look_at_root(&search, node);
        else if (by_node_is(node, "Erf") || by_node_is(node, "Tanh"))
            look_at_curve(&search, node);
    }
}
