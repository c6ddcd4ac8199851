/* Edits of nodes and of what they read. Initializers, inputs and outputs: see boundary.c. */
#include "ir/links.h"

#include <stdio.h>

/* --- nodes --- */

static const char *left_out(struct baryon_model *model, struct baryon_error *err)
{
    return by_model_name(model, "", err);
}

static int set_names(struct baryon_node *node, struct baryon_model *model, const char *op_type,
                     const char *domain, const char *name, struct baryon_error *err)
{
    if (!(node->op_type = by_model_name(model, op_type, err)))
        return -1;
    if (*by_domain(domain) && !(node->domain = by_model_name(model, domain, err)))
        return -1;
    if (name && !(node->name = by_model_name(model, name, err)))
        return -1;
    return 0;
}

/* Room in the values for the uses by one node, which may read a value several times. */
static int reserve_uses(struct baryon_value *const *inputs, size_t count, struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (inputs[i])
            inputs[i]->use_wanted = 0;
    for (size_t i = 0; i < count; i++)
        if (inputs[i] && by_value_reserve(inputs[i], ++inputs[i]->use_wanted, err))
            return -1;
    return 0;
}

/* Names of inputs, and room in the values for their uses. */
static int prepare_inputs(struct baryon_node *node, struct baryon_graph *graph,
                          struct baryon_value *const *inputs, size_t count,
                          struct baryon_error *err)
{
    struct by_arena *arena = by_graph_arena(graph);
    const char *none = left_out(graph->model, err);
    if (!none || by_list_reserve(arena, &node->input, count, sizeof(char *), err) ||
        !(node->links = by_arena_alloc(arena, count, sizeof *node->links, err)))
        return -1;
    node->links_cap = count;
    for (size_t i = 0; i < count; i++) {
        if (inputs[i] && by_graph_can_read(graph, inputs[i], err))
            return -1;
        node->input.at[node->input.count++] = inputs[i] ? inputs[i]->name : none;
    }
    return reserve_uses(inputs, count, err);
}

static void forget_outputs(struct baryon_node *node)
{
    for (size_t i = 0; i < node->output.count; i++)
        if (node->outs[i])
            by_value_forget(node->outs[i]);
}

static int make_output(struct baryon_node *node, struct baryon_graph *graph, const char *name,
                       struct baryon_error *err)
{
    size_t slot = node->output.count;
    if (!name)
        name = left_out(graph->model, err);
    else if ((name = by_new_value_name(graph, name, err)))
        node->outs[slot] = by_value_new(graph, name, err);
    if (!name || (*name && !node->outs[slot]))
        return -1;
    if (node->outs[slot]) {
        node->outs[slot]->producer = node;
        node->outs[slot]->slot = slot;
    }
    node->output.at[node->output.count++] = name;
    return 0;
}

static int make_outputs(struct baryon_node *node, struct baryon_graph *graph,
                        const char *const *names, size_t count, struct baryon_error *err)
{
    struct by_arena *arena = by_graph_arena(graph);
    if (by_list_reserve(arena, &node->output, count, sizeof(char *), err) ||
        !(node->outs = by_arena_alloc(arena, count, sizeof(void *), err)))
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (make_output(node, graph, names[i], err)) {
            forget_outputs(node);
            return -1;
        }
    }
    return 0;
}

static void enter_node(struct baryon_node *node, struct baryon_graph *graph,
                       struct baryon_value *const *inputs)
{
    node->graph = graph;
    node->index = graph->node.count;
    by_ptrs_add(&graph->node, node);
    for (size_t i = 0; i < node->input.count; i++)
        if (inputs[i])
            by_use_connect((struct by_use){node, graph, i}, inputs[i]);
    graph->unsettled = true;
}

static int check_linked(const struct baryon_graph *graph, struct baryon_error *err)
{
    return graph->linked ? 0 : by_fail(err, BARYON_ERR_USAGE, "the graph is not linked");
}

struct baryon_node *by_graph_add_node(struct baryon_graph *graph, const char *op_type,
                                      const char *domain, const char *name,
                                      struct baryon_value *const *inputs, size_t input_count,
                                      const char *const *output_names, size_t output_count,
                                      struct baryon_error *err)
{
    if (check_linked(graph, err))
        return NULL;
    struct by_arena *arena = by_graph_arena(graph);
    struct baryon_node *node = BY_ARENA_NEW(arena, struct baryon_node, err);
    if (!node || set_names(node, graph->model, op_type, domain, name, err) ||
        by_list_reserve(arena, &graph->node, 1, sizeof(void *), err) ||
        prepare_inputs(node, graph, inputs, input_count, err) ||
        make_outputs(node, graph, output_names, output_count, err))
        return NULL;
    enter_node(node, graph, inputs);
    return node;
}

static int check_unused(const struct baryon_node *node, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80], name[BY_QUOTE_MAX];
    for (size_t i = 0; i < node->output.count; i++) {
        const struct baryon_value *value = node->outs[i];
        if (value && (value->use_count || by_value_is_kept(value)))
            return by_fail(
                err, BARYON_ERR_USAGE,
                "output %s of %s is still used, a node must be removed after its consumers",
                by_quote(name, value->name), by_node_label(node, label, sizeof label));
    }
    return 0;
}

int by_graph_remove_node(struct baryon_node *node, struct baryon_error *err)
{
    if (by_node_is_live(node, err) || check_unused(node, err))
        return -1;
    by_node_detach(node);
    forget_outputs(node);
    node->graph->node.at[node->index] = NULL;
    node->graph->unsettled = true;
    node->graph = NULL;
    return 0;
}

/* --- another operator --- */

/* What is said about the sharding of inputs that the node no longer has. */
static void drop_stale_sharding(struct baryon_node *node)
{
    for (size_t i = 0; i < node->device_configurations.count; i++) {
        struct by_node_device *device = node->device_configurations.at[i];
        size_t kept = 0;
        for (size_t k = 0; k < device->sharding_spec.count; k++) {
            struct by_sharding_spec *spec = device->sharding_spec.at[k];
            bool has = false;
            for (size_t j = 0; j < node->input.count; j++)
                has |= node->input.at[j] == spec->tensor_name;
            for (size_t j = 0; j < node->output.count; j++)
                has |= node->output.at[j] == spec->tensor_name;
            if (has)
                device->sharding_spec.at[kept++] = spec;
        }
        device->sharding_spec.count = kept;
    }
}

int by_node_become(struct baryon_node *node, const char *op_type, const char *domain,
                   struct baryon_value *const *inputs, size_t count, struct baryon_error *err)
{
    if (by_node_is_live(node, err))
        return -1;
    struct baryon_graph *graph = node->graph;
    struct baryon_node made = {0};
    if (set_names(&made, graph->model, op_type, domain, NULL, err) ||
        prepare_inputs(&made, graph, inputs, count, err))
        return -1;
    by_node_detach(node);
    node->attribute.count = 0;
    node->op_type = made.op_type;
    node->domain = made.domain;
    node->overload = NULL;
    node->input = made.input;
    node->links = made.links;
    node->links_cap = made.links_cap;
    for (size_t i = 0; i < count; i++) {
        if (!inputs[i])
            continue;
        by_use_connect((struct by_use){node, graph, i}, inputs[i]);
        inputs[i]->graph->unsettled = true;
    }
    drop_stale_sharding(node);
    graph->unsettled = true;
    return 0;
}

/* --- inputs --- */

#define GAP_MAX 1024u

/* Room for inputs up to slot, those that are new left out. */
static int widen_inputs(struct baryon_node *node, size_t slot, const char *none,
                        struct baryon_error *err)
{
    struct by_arena *arena = by_graph_arena(node->graph);
    struct by_list links = {node->links, node->input.count, node->links_cap};
    if (slot < node->input.count)
        return 0;
    if (slot - node->input.count > GAP_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "input %zu of a node with %zu, out of range", slot,
                       node->input.count);
    size_t more = slot + 1 - node->input.count;
    if (by_list_reserve(arena, &links, more, sizeof *node->links, err))
        return -1;
    node->links = links.at;
    node->links_cap = links.cap;
    if (by_list_reserve(arena, &node->input, more, sizeof(char *), err))
        return -1;
    while (node->input.count <= slot) {
        node->links[node->input.count] = (struct by_link){0};
        node->input.at[node->input.count++] = none;
    }
    return 0;
}

int by_node_set_input(struct baryon_node *node, size_t slot, struct baryon_value *value,
                      struct baryon_error *err)
{
    if (by_node_is_live(node, err))
        return -1;
    const char *none = left_out(node->graph->model, err);
    if (!none ||
        (value && (by_graph_can_read(node->graph, value, err) || by_value_reserve(value, 1, err))))
        return -1;
    if (widen_inputs(node, slot, none, err))
        return -1;
    if (value) {
        by_use_move((struct by_use){node, node->graph, slot}, value);
        value->graph->unsettled = true;
    } else {
        by_link_drop(&node->links[slot]);
        node->input.at[slot] = none;
    }
    node->graph->unsettled = true;
    return 0;
}

/* --- all uses of a value --- */

static bool is_model_output(const struct by_use *use)
{
    return !use->node && !use->graph->owner;
}

static bool has_model_output(const struct baryon_value *value)
{
    for (size_t i = 0; value->output_count && i < value->use_count; i++)
        if (is_model_output(&value->uses[i]))
            return true;
    return false;
}

static int check_can_be_output(const struct baryon_value *old, const struct baryon_value *new_value,
                               struct baryon_error *err)
{
    char from[BY_QUOTE_MAX], to[BY_QUOTE_MAX];
    const char *reason = NULL;
    if (old->is_input)
        reason = "is an input as well";
    else if (new_value->is_input)
        reason = "cannot be replaced by an input, both names must be kept";
    else if (has_model_output(new_value))
        reason = "cannot be replaced by another output, both names must be kept";
    if (!reason)
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED, "output %s %s (%s)", by_quote(from, old->name), reason,
            by_quote(to, new_value->name));
    return by_err_hint(err, "insert an Identity node between them");
}

/* Whether new_value can be read by the uses that move, and whether an output is among them. */
static int check_replace(const struct baryon_value *old, const struct baryon_value *new_value,
                         const struct baryon_node *except, bool *takes_name,
                         struct baryon_error *err)
{
    *takes_name = false;
    for (size_t i = 0; i < old->use_count; i++) {
        const struct by_use *use = &old->uses[i];
        if (by_use_is_inside(use, except))
            continue;
        if (is_model_output(use))
            *takes_name = true;
        if (use->graph != new_value->graph && by_graph_can_read(use->graph, new_value, err))
            return -1;
    }
    return *takes_name ? check_can_be_output(old, new_value, err) : 0;
}

/* Uses move from the end: what takes the place of one that left was looked at before. */
static void move_uses(struct baryon_value *old, struct baryon_value *new_value,
                      const struct baryon_node *except)
{
    for (size_t i = old->use_count; i-- > 0;) {
        struct by_use use = old->uses[i];
        if (by_use_is_inside(&use, except))
            continue;
        by_use_move(use, new_value);
        use.graph->unsettled = true;
    }
    new_value->graph->unsettled = true;
    by_value_find_info(old);
    by_value_find_info(new_value);
}

int by_value_replace_uses(struct baryon_value *old, struct baryon_value *new_value,
                          const struct baryon_node *except, struct baryon_error *err)
{
    bool takes_name;
    if (by_value_is_live(old, err) || by_value_is_live(new_value, err))
        return -1;
    if (old == new_value)
        return 0;
    if (check_replace(old, new_value, except, &takes_name, err) ||
        by_value_reserve(new_value, old->use_count, err) ||
        (takes_name && by_value_take_name(old, new_value, err)))
        return -1;
    move_uses(old, new_value, except);
    return 0;
}

int by_value_stand_in(struct baryon_value *now, struct baryon_value *was,
                      const struct baryon_node *except, const char *stem, struct baryon_error *err)
{
    const bool is_output = by_value_is_output(was);
    const char *name = was->name;
    const char *fresh = by_model_fresh_name(was->graph->model, stem, err);
    if (!fresh || by_value_replace_uses(was, now, except, err))
        return -1;
    if (is_output)
        return 0; /* it has the name by now */
    return by_value_rename(was, fresh, err) || by_value_rename(now, name, err) ? -1 : 0;
}

/* --- insertion --- */

#define MORE_INPUTS_MAX 15u

/* A node with the value as input 0 and one output with room for one use. */
static struct baryon_node *add_behind(struct baryon_graph *graph, struct baryon_value *value,
                                      const char *op_type, const char *domain,
                                      struct baryon_value *const *more, size_t more_count,
                                      struct baryon_error *err)
{
    char stem[BY_NAME_MAX + 1];
    struct baryon_value *inputs[1 + MORE_INPUTS_MAX] = {value};
    if (more_count > MORE_INPUTS_MAX) {
        by_fail(err, BARYON_ERR_USAGE, "%zu more inputs, the limit is %u", more_count,
                MORE_INPUTS_MAX);
        return NULL;
    }
    for (size_t i = 0; i < more_count; i++)
        inputs[1 + i] = more[i];
    snprintf(stem, sizeof stem, "%s_%s", value->name, op_type);
    const char *name = by_model_fresh_name(graph->model, stem, err);
    snprintf(stem, sizeof stem, "%s_Output", name ? name : "");
    const char *output = name ? by_model_fresh_name(graph->model, stem, err) : NULL;
    if (!output)
        return NULL;
    struct baryon_node *node =
        by_graph_add_node(graph, op_type, domain, name, inputs, 1 + more_count, &output, 1, err);
    if (node && by_value_reserve(node->outs[0], 1, err)) {
        by_graph_remove_node(node, NULL);
        return NULL;
    }
    return node;
}

struct baryon_node *by_graph_insert_on_edge(struct baryon_node *reader, size_t slot,
                                            const char *op_type, const char *domain,
                                            struct baryon_value *const *more_inputs,
                                            size_t more_count, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    if (by_node_is_live(reader, err))
        return NULL;
    struct baryon_value *value = by_node_in(reader, slot);
    if (!value) {
        by_fail(err, BARYON_ERR_USAGE, "%s has no input %zu",
                by_node_label(reader, label, sizeof label), slot);
        return NULL;
    }
    struct baryon_node *node =
        add_behind(reader->graph, value, op_type, domain, more_inputs, more_count, err);
    if (node)
        by_use_move((struct by_use){reader, reader->graph, slot}, node->outs[0]);
    return node;
}

struct baryon_node *by_graph_insert_before_output(struct baryon_graph *graph, size_t slot,
                                                  const char *op_type, const char *domain,
                                                  struct baryon_value *const *more_inputs,
                                                  size_t more_count, struct baryon_error *err)
{
    if (check_linked(graph, err))
        return NULL;
    struct baryon_value *value = by_graph_out(graph, slot);
    if (!value) {
        by_fail(err, BARYON_ERR_USAGE, "the graph has no output %zu", slot);
        return NULL;
    }
    struct baryon_node *node =
        add_behind(graph, value, op_type, domain, more_inputs, more_count, err);
    if (!node)
        return NULL;
    if (!graph->owner && (check_can_be_output(value, node->outs[0], err) ||
                          by_value_take_name(value, node->outs[0], err))) {
        by_graph_remove_node(node, NULL);
        return NULL;
    }
    by_use_move((struct by_use){NULL, graph, slot}, node->outs[0]);
    by_value_find_info(value);
    by_value_find_info(node->outs[0]);
    return node;
}
