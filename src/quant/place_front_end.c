/*
 * Front ends: networks of sounds that compute a spectrum themselves do so by products with the
 * waves of a Fourier transform and with a filter bank, and take the logarithm. Between the model's
 * inputs and that logarithm nothing is learned, and values differ by powers of ten: 8 bits leave
 * noise in all that is not loud. Samples decide whether these layers stay float (trial/choices.c).
 */
#include "quant/place_internal.h"

static const char in_front_end[] = "a spectrum is computed before a logarithm";

static bool is_layer(const struct baryon_node *node)
{
    static const char *const names[] = {"Conv", "ConvTranspose", "DFT",  "Einsum",
                                        "Gemm", "MatMul",        "STFT", NULL};
    return by_node_is_one_of(node, names);
}

/* Sums, products, powers, limits and moves; none that networks use between layers of theirs. */
static bool computes_signals(const struct baryon_node *node)
{
    static const char *const names[] = {"Abs",       "Add",       "AveragePool",
                                        "Cast",      "Clip",      "Concat",
                                        "Div",       "Expand",    "Flatten",
                                        "Gather",    "Identity",  "Max",
                                        "Min",       "Mul",       "Neg",
                                        "Pad",       "Pow",       "ReduceL2",
                                        "ReduceMax", "ReduceSum", "ReduceSumSquare",
                                        "Reshape",   "Slice",     "Split",
                                        "Sqrt",      "Squeeze",   "Sub",
                                        "Sum",       "Transpose", "Unsqueeze",
                                        NULL};
    return is_layer(node) || by_node_is_one_of(node, names);
}

struct front_end {
    const struct baryon_graph *graph;
    bool *in;                         /* by node->index */
    const struct baryon_node **nodes; /* those in it, as they were found */
    size_t count;
};

/* Nodes whose floats a logarithm is made of. Shapes are none of them. */
static bool add_producer(struct front_end *front, const struct baryon_value *value)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    if (!node || !by_place_is_float(value) ||
        (node->graph == front->graph && front->in[node->index]))
        return true;
    if (node->graph != front->graph || !computes_signals(node))
        return false;
    front->in[node->index] = true;
    front->nodes[front->count++] = node;
    return true;
}

static bool collect(struct front_end *front, const struct baryon_node *logarithm)
{
    if (!add_producer(front, by_node_in(logarithm, 0)))
        return false;
    for (size_t at = 0; at < front->count; at++)
        for (size_t i = 0; i < front->nodes[at]->input.count; i++)
            if (!add_producer(front, by_node_in(front->nodes[at], i)))
                return false;
    return true;
}

typedef void use_fn(void *context, const struct baryon_node *node);

/* The nodes of all front ends of a graph. Without memory there is none. */
static void each_front_end(const struct baryon_graph *graph, use_fn *use, void *context)
{
    const size_t count = graph->node.count;
    struct front_end front = {.graph = graph,
                              .in = by_alloc_zero(count + 1, sizeof *front.in, NULL),
                              .nodes = by_alloc_zero(count + 1, sizeof *front.nodes, NULL)};
    for (size_t i = 0; front.in && front.nodes && i < count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (!node || !by_node_is(node, "Log"))
            continue;
        const bool found = collect(&front, node);
        for (size_t k = 0; k < front.count; k++) {
            front.in[front.nodes[k]->index] = false;
            if (found)
                use(context, front.nodes[k]);
        }
        front.count = 0;
    }
    by_free(front.in);
    by_free(front.nodes);
}

static void keep_float(void *context, const struct baryon_node *node)
{
    by_place_keep(context, node, in_front_end);
}

void by_place_front_ends(struct by_placing *placing)
{
    const struct by_recipe *recipe = placing->recipe;
    if (!recipe->compat && recipe->logarithms == BY_LOGARITHMS_FRONT_END &&
        recipe->approach == BY_APPROACH_STATIC)
        each_front_end(placing->graph, keep_float, placing);
}

struct search {
    const struct by_quant_plan *plan;
    bool found;
};

static void look_for_layer(void *context, const struct baryon_node *node)
{
    struct search *search = context;
    const struct by_quant_node *planned =
        is_layer(node) ? by_quant_node_of(search->plan, node) : NULL;
    search->found |= planned && planned->state == BY_NODE_QUANTIZED;
}

bool by_place_has_front_end(const struct by_quant_plan *plan)
{
    struct search search = {.plan = plan};
    if (!plan->recipe->compat && plan->recipe->approach == BY_APPROACH_STATIC)
        each_front_end(plan->model->graph, look_for_layer, &search);
    return search.found;
}
