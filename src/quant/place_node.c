/* Which nodes may be quantized, by what the user asked for and by what they are. */
#include "onnx/load.h"
#include "quant/floats.h"
#include "quant/place_internal.h"
#include "quant/unfit.h"

#include <math.h>
#include <string.h>

static int stay(struct by_placing *placing, const struct baryon_node *node,
                enum by_node_state state, const char *why)
{
    if (!why)
        return -1;
    placing->stays[node->index] = why;
    placing->kind[node->index] = state;
    return 0;
}

/* --- Lists --- */

static unsigned asked_lists(const struct by_recipe *recipe)
{
    if (recipe->approach == BY_APPROACH_DYNAMIC)
        return BY_LIST_DYNAMIC;
    if (recipe->approach == BY_APPROACH_NBITS)
        return BY_LIST_NBITS;
    const unsigned more = (recipe->compat ? 0 : BY_LIST_OURS) |
                          (recipe->approach == BY_APPROACH_WEIGHTS ? BY_LIST_WEIGHTS : 0);
    switch (recipe->operators) {
    case BY_OPERATORS_TRANSFORMER:
        return BY_LIST_TRANSFORMER | (more & BY_LIST_WEIGHTS);
    case BY_OPERATORS_NPU:
        return BY_LIST_CNN | BY_LIST_NPU | more;
    default:
        return BY_LIST_CNN | more;
    }
}

static int is_listed(const struct by_placing *placing, const struct baryon_node *node, bool *listed,
                     struct baryon_error *err)
{
    const struct by_recipe *recipe = placing->recipe;
    const struct by_place_op *op = placing->ops[node->index];
    *listed = recipe->all_op_types;
    if (!*listed && recipe->op_types.count) {
        if (by_place_any_picks(&recipe->op_types, node->op_type, listed, err))
            return -1;
    } else if (!*listed) {
        *listed = op->lists & asked_lists(recipe);
    }
    return *listed ? 0 : by_place_any_picks(&recipe->extra_op_types, node->op_type, listed, err);
}

/* --- What a node is --- */

static bool has_float(const struct by_placing *placing, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->input.count; i++)
        if (by_place_takes(placing, by_node_in(node, i)))
            return true;
    for (size_t i = 0; i < node->output.count; i++)
        if (by_place_takes(placing, by_node_out(node, i)))
            return true;
    return false;
}

static bool has_nested(const struct baryon_node *node)
{
    struct by_nested at = {0};
    return by_node_nested(node, &at) != NULL;
}

static bool reads_anything(const struct by_placing *placing, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->input.count; i++)
        if (by_place_slot(placing, node, i) != BY_SLOT_FLOAT)
            return true;
    return false;
}

static bool reads_data(const struct by_placing *placing, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->input.count; i++) {
        const enum by_slot_role role = by_place_slot(placing, node, i);
        if (role == BY_SLOT_DATA || role == BY_SLOT_TABLE)
            return true;
    }
    return false;
}

static bool is_hard_sigmoid_of_hardware(const struct baryon_node *node)
{
    return fabsf(by_node_float(node, "alpha", 0.2f) - 1.0f / 6) < 1e-6f &&
           fabsf(by_node_float(node, "beta", 0.5f) - 0.5f) < 1e-6f;
}

/* --- Constants that no scale can hold --- */

struct look {
    struct baryon_tensor was; /* its payload then */
    bool infinite;
};

static bool has_payload_of(const struct baryon_tensor *one, const struct baryon_tensor *other)
{
    return one->data_type == other->data_type && one->raw_data.data == other->raw_data.data &&
           one->raw_data.size == other->raw_data.size &&
           one->float_data.data == other->float_data.data &&
           one->external.data == other->external.data && one->external.size == other->external.size;
}

/* What was found out about it, or about what it is a copy of. */
static const struct look *find_look(const struct by_quant_plan *plan,
                                    const struct baryon_value *value)
{
    const struct look *look = by_map_get(&plan->looked, value->name);
    if (!look && plan->like)
        look = by_map_get(&plan->like->looked, value->name);
    return look && has_payload_of(&look->was, value->initializer) ? look : NULL;
}

static int look_for_infinity(struct by_placing *placing, const struct baryon_value *value,
                             bool *infinite, struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    const struct look *known = find_look(plan, value);
    bool finite;
    if (known) {
        *infinite = known->infinite;
        return 0;
    }
    struct look *look = BY_ARENA_NEW(&plan->arena, struct look, err);
    if (!look || by_floats_look_finite(value->initializer, &finite, err))
        return -1;
    by_tensor_done(plan->model, value->initializer);
    *infinite = !finite;
    *look = (struct look){*value->initializer, !finite};
    return by_map_put(&plan->looked, value->name, look, err);
}

static int find_infinite(struct by_placing *placing, const struct baryon_node *node,
                         const struct baryon_value **infinite, struct baryon_error *err)
{
    *infinite = NULL;
    for (size_t i = 0; i < node->input.count && !*infinite; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        bool found = false;
        if (!by_place_in(placing, value) || !by_place_is_constant(value) ||
            by_place_slot(placing, node, i) == BY_SLOT_FLOAT)
            continue;
        if (look_for_infinity(placing, value, &found, err))
            return -1;
        if (found)
            *infinite = value;
    }
    return 0;
}

/* --- Reasons, in the order in which they count --- */

static int stays_by_kind(struct by_placing *placing, const struct baryon_node *node, bool *decided,
                         struct baryon_error *err)
{
    *decided = true;
    if (has_nested(node))
        return stay(
            placing, node, BY_NODE_OTHER,
            by_place_text(placing, err,
                          "nested graphs of %s stay float: their tensors are not calibrated",
                          node->op_type));
    if (!has_float(placing, node) || by_node_is(node, "Constant"))
        return stay(placing, node, BY_NODE_OTHER, "it has no float tensor to quantize");
    *decided = false;
    return 0;
}

struct added {
    const char *op_type, *name;
    bool reads_floats;
    const char *why;
};

/* Nodes of steps on the float model. */
static const struct added added[] = {
    {"Mul", BY_SMOOTH_MUL, true, "it divides by factors of smoothing"},
    {"MatMul", BY_ROTATE_MATMUL, false, "it is the end of a rotation"},
    {"Mul", BY_OUTLIER_MASK, true, "it leaves out channels with outliers"},
    {"Gather", BY_OUTLIER_GATHER, true, "it takes channels with outliers"},
    {"MatMul", BY_OUTLIER_MATMUL, false, "it multiplies channels with outliers"},
    {"Add", BY_OUTLIER_ADD, false, "it adds the product of channels with outliers"},
};

static const struct added *added_by(const struct baryon_node *node)
{
    for (size_t i = 0; node->name && i < sizeof added / sizeof *added; i++)
        if (by_node_is(node, added[i].op_type) &&
            !strncmp(node->name, added[i].name, strlen(added[i].name)))
            return &added[i];
    return NULL;
}

bool by_place_reads_floats(const struct baryon_node *node)
{
    const struct added *step = added_by(node);
    return step && step->reads_floats;
}

static int stays_by_wish(struct by_placing *placing, const struct baryon_node *node,
                         struct baryon_error *err)
{
    const struct by_recipe *recipe = placing->recipe;
    const struct added *step = added_by(node);
    if (step)
        return stay(placing, node, BY_NODE_FLOAT, step->why);
    const char *excluded = placing->origins ? by_origins_excluded(placing->origins, node) : NULL;
    bool type_excluded;
    if (excluded)
        return stay(placing, node, BY_NODE_FLOAT, excluded);
    if (by_place_any_picks(&recipe->exclude_op_types, node->op_type, &type_excluded, err))
        return -1;
    if (type_excluded)
        return stay(placing, node, BY_NODE_FLOAT,
                    by_place_text(placing, err, "operators %s are excluded", node->op_type));
    const struct by_rule *rule = by_place_kept(placing, node);
    if (rule)
        return stay(
            placing, node, BY_NODE_FLOAT,
            by_place_text(placing, err, "the rule for '%s' keeps it float", rule->pattern.text));
    if (recipe->matmul_constant_only && by_node_is(node, "MatMul") &&
        !by_place_is_constant(by_node_in(node, 1)))
        return stay(placing, node, BY_NODE_FLOAT, "its second matrix is not constant");
    return 0;
}

/* Of an operator that nobody asked for. */
static const char *why_unlisted(struct by_placing *placing, const struct baryon_node *node,
                                struct baryon_error *err)
{
    if (placing->recipe->approach == BY_APPROACH_DYNAMIC &&
        (placing->ops[node->index]->flags & BY_PLACE_RECURRENT))
        return by_place_text(placing, err,
                             "ONNX Runtime has no %s that quantizes at run time; --extra-op-types "
                             "%s stores its weights in 8 bits, which makes it slower",
                             node->op_type, node->op_type);
    return by_place_text(placing, err, "%s is not one of the operators to quantize", node->op_type);
}

static int stays_by_operator(struct by_placing *placing, const struct baryon_node *node,
                             struct baryon_error *err)
{
    const struct by_recipe *recipe = placing->recipe;
    const struct by_place_op *op = placing->ops[node->index];
    bool listed;
    if (is_listed(placing, node, &listed, err))
        return -1;
    if (!listed)
        return stay(placing, node, reads_anything(placing, node) ? BY_NODE_FLOAT : BY_NODE_OTHER,
                    why_unlisted(placing, node, err));
    if (recipe->approach == BY_APPROACH_NBITS || recipe->approach == BY_APPROACH_DYNAMIC) {
        const char *unfit = by_unfit(node, recipe);
        return unfit ? stay(placing, node, BY_NODE_FLOAT, unfit) : 0;
    }
    if (op->since && (recipe->compat || by_spec_is_integer(&recipe->activation)) &&
        by_model_opset(placing->plan->model, op->domain) < op->since)
        return stay(
            placing, node, BY_NODE_FLOAT,
            by_place_text(
                placing, err,
                "%s supports integers from opset %lld on; convert the model with --opset %lld",
                node->op_type, (long long)op->since, (long long)op->since));
    if ((op->flags & BY_PLACE_HARD_SIGMOID) &&
        (recipe->compat || recipe->hardware != BY_HARDWARE_NONE) &&
        !is_hard_sigmoid_of_hardware(node))
        return stay(placing, node, BY_NODE_FLOAT,
                    "the hardware supports HardSigmoid only with alpha 1/6 and beta 1/2");
    return 0;
}

static int stays_by_content(struct by_placing *placing, const struct baryon_node *node,
                            struct baryon_error *err)
{
    const bool static_one = placing->recipe->approach == BY_APPROACH_STATIC;
    const struct baryon_value *infinite;
    if (static_one ? !reads_data(placing, node) : !reads_anything(placing, node))
        return stay(placing, node, BY_NODE_OTHER,
                    static_one ? "it has no float activation as input"
                               : "it has no constant weight");
    if (find_infinite(placing, node, &infinite, err))
        return -1;
    if (infinite)
        return stay(
            placing, node, BY_NODE_FLOAT,
            by_place_text(placing, err, "its constant '%s' has infinities or NaN", infinite->name));
    return 0;
}

static int mute(struct by_placing *placing, const struct baryon_node *node,
                struct baryon_error *err)
{
    const struct by_recipe *recipe = placing->recipe;
    bool type, name;
    if (by_place_any_picks(&recipe->no_output_op_types, node->op_type, &type, err) ||
        by_place_any_picks(&recipe->no_output_nodes, node->name, &name, err))
        return -1;
    placing->mute[node->index] = type || name;
    return 0;
}

static int select_node(struct by_placing *placing, const struct baryon_node *node,
                       struct baryon_error *err)
{
    bool decided;
    if (mute(placing, node, err) || stays_by_kind(placing, node, &decided, err))
        return -1;
    if (decided)
        return 0;
    int (*const steps[])(struct by_placing *, const struct baryon_node *, struct baryon_error *) = {
        stays_by_wish, stays_by_operator, stays_by_content};
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !placing->stays[node->index]; i++)
        if (steps[i](placing, node, err))
            return -1;
    return 0;
}

/* Floats and blocks have room for a maximum and a cube. The peer quantizes them. */
static bool computes_in_integers(const struct by_recipe *recipe)
{
    return !recipe->compat && recipe->approach == BY_APPROACH_STATIC && !recipe->activation.format;
}

int by_place_select(struct by_placing *placing, struct baryon_error *err)
{
    for (size_t i = 0; i < placing->node_count; i++)
        if (select_node(placing, placing->graph->node.at[i], err))
            return -1;
    by_place_joins(placing);
    by_place_front_ends(placing); /* what it leaves float has integers that no layer reads */
    if (by_place_spare(placing, err))
        return -1;
    by_place_logarithms(placing);
    by_place_variances(placing);
    if (computes_in_integers(placing->recipe)) {
        by_place_softmaxes(placing);
        by_place_gelus(placing);
    }
    /* Floats of 16 bits hold masks. */
    if (placing->recipe->activation.format && !by_spec_is_block(&placing->recipe->activation))
        return 0;
    return by_place_masks(placing, err);
}
