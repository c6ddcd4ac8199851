/* Finds the values of a graph whose size may differ from sample to sample, or model to model. */
#include "engine/vary.h"

#include "engine/loop_end.h"
#include "ir/shape.h"

#include <string.h>

/* Operators that make sizes out of the contents of inputs: bit i for input i. */
#define ALL UINT32_MAX

static const struct maker_row {
    const char *op_type;
    uint32_t inputs;
} makers[] = {
    {"AffineGrid", 2},
    {"BlackmanWindow", 1},
    {"CenterCropPad", 2},
    {"Col2Im", 6},
    {"Compress", ALL},
    {"ConcatFromSequence", ALL},
    {"ConstantOfShape", 1},
    {"DFT", 6},
    {"Expand", 2},
    {"HammingWindow", 1},
    {"HannWindow", 1},
    {"If", ALL},
    {"ImageDecoder", ALL},
    {"Loop", ALL},
    {"MaxUnpool", 4},
    {"MelWeightMatrix", ALL},
    {"NonMaxSuppression", ALL},
    {"NonZero", ALL},
    {"OneHot", 2},
    {"OptionalGetElement", ALL},
    {"Pad", 10},
    {"Range", ALL},
    {"ReduceL1", 2},
    {"ReduceL2", 2},
    {"ReduceLogSum", 2},
    {"ReduceLogSumExp", 2},
    {"ReduceMax", 2},
    {"ReduceMean", 2},
    {"ReduceMin", 2},
    {"ReduceProd", 2},
    {"ReduceSum", 2},
    {"ReduceSumSquare", 2},
    {"Reshape", 2},
    {"Resize", 14},
    {"STFT", 10},
    {"Scan", ALL},
    {"SequenceAt", ALL},
    {"Slice", 30},
    {"Split", 2},
    {"SplitToSequence", 2},
    {"Squeeze", 2},
    {"StringNormalizer", ALL},
    {"StringSplit", ALL},
    {"Tile", 2},
    {"TopK", 2},
    {"Unique", ALL},
    {"Unsqueeze", 2},
    {"Upsample", 2},
};

static const char *const random_ops[] = {
    "Bernoulli",        "Dropout",       "Multinomial",       "RandomNormal",
    "RandomNormalLike", "RandomUniform", "RandomUniformLike",
};

/* Sizes that these make depend on inputs in ways that are not looked into. */
static const char *const nesting_ops[] = {"If", "Scan", NULL};

static const char *const layers[] = {"Attention", "Conv",   "ConvTranspose", "GRU", "Gemm",
                                     "LSTM",      "MatMul", "RNN",           NULL};

/* What can differ, of a value by its index: from sample to sample, or by what layers compute. */
struct walk {
    const struct baryon_graph *graph;
    bool *sizes, *contents;
    bool by_layers;
};

static bool is_default_domain(const struct baryon_node *node)
{
    return by_domain(node->domain)[0] == '\0';
}

static int makes_sizes(const struct walk *walk, const struct baryon_node *node, uint32_t *inputs,
                       struct baryon_error *err)
{
    bool ends = true;
    *inputs = 0;
    if (!is_default_domain(node) || (walk->by_layers && by_node_is_one_of(node, nesting_ops)))
        return 0;
    if (walk->by_layers && by_node_is(node, "Loop") && by_loop_ends_by_values(node, &ends, err) < 0)
        return -1;
    for (size_t i = 0; ends && i < sizeof makers / sizeof *makers; i++)
        if (strcmp(node->op_type, makers[i].op_type) == 0)
            *inputs = makers[i].inputs;
    return 0;
}

static bool is_random(const struct baryon_node *node)
{
    for (size_t i = 0; i < sizeof random_ops / sizeof *random_ops; i++)
        if (strcmp(node->op_type, random_ops[i]) == 0)
            return true;
    return false;
}

struct inputs {
    bool sizes, contents, making;
};

static void look_at_input_value(const struct walk *walk, const struct baryon_value *value,
                                bool making, struct inputs *inputs)
{
    if (!value || value->graph != walk->graph)
        return;
    inputs->sizes |= walk->sizes[value->index];
    inputs->contents |= walk->contents[value->index];
    inputs->making |= making && (walk->contents[value->index] || walk->sizes[value->index]);
}

/* Nested graphs read values around them: as if they were inputs of the node. */
static void look_inside(const struct walk *walk, const struct baryon_graph *graph, bool making,
                        struct inputs *inputs)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        struct by_nested at = {0};
        struct baryon_graph *nested;
        if (!node)
            continue;
        for (size_t slot = 0; slot < node->input.count; slot++)
            look_at_input_value(walk, by_node_in(node, slot), making, inputs);
        while ((nested = by_node_nested(node, &at)))
            look_inside(walk, nested, making, inputs);
    }
    for (size_t i = 0; i < graph->output.count; i++)
        look_at_input_value(walk, by_graph_out(graph, i), making, inputs);
}

static int visit_node(const struct walk *walk, const struct baryon_node *node,
                      struct baryon_error *err)
{
    const bool begins = walk->by_layers ? by_node_is_one_of(node, layers) : is_random(node);
    struct inputs inputs = {.contents = begins};
    struct by_nested at = {0};
    const struct baryon_graph *nested;
    uint32_t making;
    if (makes_sizes(walk, node, &making, err) < 0)
        return -1;
    for (size_t slot = 0; slot < node->input.count; slot++)
        look_at_input_value(walk, by_node_in(node, slot),
                            slot < 32 ? making >> slot & 1 : making == ALL, &inputs);
    while ((nested = by_node_nested(node, &at)))
        look_inside(walk, nested, making || !walk->by_layers, &inputs);
    const bool of_shape = by_node_is(node, "Shape") || by_node_is(node, "Size");
    for (size_t slot = 0; slot < node->output.count; slot++) {
        const struct baryon_value *value = by_node_out(node, slot);
        if (!value)
            continue;
        walk->sizes[value->index] = !of_shape && (inputs.sizes || inputs.making);
        walk->contents[value->index] = inputs.sizes || (!of_shape && inputs.contents);
    }
    return 0;
}

static void start_at_inputs(const struct walk *walk)
{
    const struct baryon_graph *graph = walk->graph;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (!value || !value->is_input)
            continue;
        walk->contents[i] = true;
        walk->sizes[i] = !value->shape || !by_shape_is_static(value->shape);
    }
}

static int walk_graph(struct walk *walk, struct baryon_error *err)
{
    const struct baryon_graph *graph = walk->graph;
    const size_t count = graph->all_values.count;
    walk->sizes = by_alloc_zero(count, sizeof *walk->sizes, err);
    walk->contents = walk->sizes ? by_alloc_zero(count, sizeof *walk->contents, err) : NULL;
    if (walk->contents && !walk->by_layers)
        start_at_inputs(walk);
    int status = walk->contents ? 0 : -1;
    for (size_t i = 0; status == 0 && i < graph->node.count; i++)
        if (graph->node.at[i])
            status = visit_node(walk, graph->node.at[i], err);
    if (status < 0) {
        by_free(walk->sizes);
        by_free(walk->contents);
    }
    return status;
}

int by_graph_varying(const struct baryon_graph *graph, bool **varying, struct baryon_error *err)
{
    struct walk walk = {.graph = graph};
    *varying = NULL;
    if (walk_graph(&walk, err) < 0)
        return -1;
    by_free(walk.contents);
    *varying = walk.sizes;
    return 0;
}

/* --- Selection --- */

static void select_integers(const struct walk *walk)
{
    const struct baryon_graph *graph = walk->graph;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (value && walk->contents[i] && value->elem && !by_elem_is_floats(value->elem))
            walk->sizes[i] = true;
    }
}

static bool is_selected_from(const struct walk *walk, const struct baryon_value *value)
{
    if (!by_elem_is_floats(value->elem) || walk->sizes[value->index] ||
        !walk->contents[value->index])
        return false;
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_node *reader = by_use_reader(&value->uses[i], walk->graph);
        for (size_t slot = 0; reader && slot < reader->output.count; slot++) {
            const struct baryon_value *made = by_node_out(reader, slot);
            if (made && walk->sizes[made->index])
                return true;
        }
    }
    return false;
}

int by_graph_selection(const struct baryon_graph *graph, bool integers,
                       struct by_selection *selection, struct baryon_error *err)
{
    const size_t count = graph->all_values.count;
    struct walk walk = {.graph = graph, .by_layers = true};
    *selection = (struct by_selection){0};
    if (walk_graph(&walk, err) < 0)
        return -1;
    if (integers)
        select_integers(&walk);
    selection->selected = walk.sizes;
    selection->from = by_alloc_zero(count, sizeof *selection->from, err);
    for (size_t i = 0; selection->from && i < count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        selection->from[i] = value && is_selected_from(&walk, value);
    }
    by_free(walk.contents);
    return selection->from ? 0 : -1;
}

void by_selection_release(struct by_selection *selection)
{
    by_free(selection->selected);
    by_free(selection->from);
    *selection = (struct by_selection){0};
}
