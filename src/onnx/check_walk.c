/* The walk over all messages of a model, with the way to each. */
#include "onnx/check_rule.h"

#include <string.h>

struct walk {
    struct by_check *check;
    bool linked;
};

/* Calls a hook of every rule that has it. */
#define EACH_RULE(walk, hook, ...)                                                                 \
    do {                                                                                           \
        for (size_t r = 0; r < by_rule_count(); r++) {                                             \
            const struct by_model_rule *rule = by_check_begin((walk)->check, r, (walk)->linked);   \
            if (rule && rule->hook && rule->hook(__VA_ARGS__))                                     \
                return -1;                                                                         \
        }                                                                                          \
    } while (0)

static struct by_spot enter(const struct walk *walk, const char *field, size_t index)
{
    return (struct by_spot){walk->check->spot, field, index};
}

/* --- tensors --- */

static int walk_tensor(const struct walk *walk, const struct baryon_tensor *tensor,
                       const char *field, size_t index, struct baryon_error *err)
{
    struct by_spot spot = enter(walk, field, index);
    if (!tensor)
        return 0;
    walk->check->spot = &spot;
    EACH_RULE(walk, tensor, walk->check, tensor, err);
    walk->check->spot = spot.outer;
    return 0;
}

static int walk_sparse(const struct walk *walk, const struct by_sparse_tensor *sparse,
                       const char *field, size_t index, struct baryon_error *err)
{
    struct by_spot spot = enter(walk, field, index);
    if (!sparse)
        return 0;
    walk->check->spot = &spot;
    EACH_RULE(walk, sparse, walk->check, sparse, err);
    if (walk_tensor(walk, sparse->values, "values", BY_NO_SLOT, err) ||
        walk_tensor(walk, sparse->indices, "indices", BY_NO_SLOT, err))
        return -1;
    walk->check->spot = spot.outer;
    return 0;
}

static int walk_tensors(const struct walk *walk, const struct by_ptrs *list, const char *field,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (walk_tensor(walk, list->at[i], field, i, err))
            return -1;
    return 0;
}

static int walk_sparses(const struct walk *walk, const struct by_ptrs *list, const char *field,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (walk_sparse(walk, list->at[i], field, i, err))
            return -1;
    return 0;
}

/* --- nodes --- */

static int walk_graph(const struct walk *walk, const struct baryon_graph *graph, const char *field,
                      size_t index, struct baryon_error *err);

static int walk_attribute_parts(const struct walk *walk, const struct baryon_attribute *attr,
                                struct baryon_error *err)
{
    if (walk_tensor(walk, attr->t, "t", BY_NO_SLOT, err) ||
        walk_tensors(walk, &attr->tensors, "tensors", err) ||
        walk_sparse(walk, attr->sparse_tensor, "sparse_tensor", BY_NO_SLOT, err) ||
        walk_sparses(walk, &attr->sparse_tensors, "sparse_tensors", err))
        return -1;
    walk->check->scope.depth++;
    if (walk_graph(walk, attr->g, "g", BY_NO_SLOT, err))
        return -1;
    for (size_t i = 0; i < attr->graphs.count; i++)
        if (walk_graph(walk, attr->graphs.at[i], "graphs", i, err))
            return -1;
    walk->check->scope.depth--;
    return 0;
}

static int walk_attributes(const struct walk *walk, const struct baryon_node *node,
                           const struct by_ptrs *list, const char *field, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct baryon_attribute *attr = list->at[i];
        struct by_spot spot = enter(walk, field, i);
        if (!attr)
            continue;
        walk->check->spot = &spot;
        EACH_RULE(walk, attribute, walk->check, node, attr, err);
        if (walk_attribute_parts(walk, attr, err))
            return -1;
        walk->check->spot = spot.outer;
    }
    return 0;
}

static int walk_node(const struct walk *walk, const struct baryon_node *node, size_t index,
                     struct baryon_error *err)
{
    struct by_check *check = walk->check;
    struct by_spot spot = enter(walk, "node", index);
    check->spot = &spot;
    check->node.callee =
        by_function_find(&check->functions, node->domain, node->op_type, node->overload);
    check->node.info = check->node.callee ? NULL : by_node_opinfo(node);
    check->node.opset = by_map_get(check->scope.imports, by_domain(node->domain));
    EACH_RULE(walk, node, check, node, err);
    if (walk_attributes(walk, node, &node->attribute, "attribute", err))
        return -1;
    check->spot = spot.outer;
    return 0;
}

static int walk_nodes(const struct walk *walk, const struct by_ptrs *list, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] && walk_node(walk, list->at[i], i, err))
            return -1;
    return 0;
}

/* --- graphs --- */

static int walk_infos(const struct walk *walk, const struct by_ptrs *list, const char *field,
                      enum by_info_role role, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct by_spot spot = enter(walk, field, i);
        if (!list->at[i])
            continue;
        walk->check->spot = &spot;
        EACH_RULE(walk, info, walk->check, list->at[i], role, err);
        walk->check->spot = spot.outer;
    }
    return 0;
}

static int walk_graph_parts(const struct walk *walk, const struct baryon_graph *graph,
                            struct baryon_error *err)
{
    EACH_RULE(walk, graph, walk->check, graph, err);
    if (walk_infos(walk, &graph->input, "input", BY_INFO_INPUT, err) ||
        walk_infos(walk, &graph->output, "output", BY_INFO_OUTPUT, err) ||
        walk_infos(walk, &graph->value_info, "value_info", BY_INFO_VALUE, err) ||
        walk_tensors(walk, &graph->initializer, "initializer", err) ||
        walk_sparses(walk, &graph->sparse_initializer, "sparse_initializer", err))
        return -1;
    return walk_nodes(walk, &graph->node, err);
}

/* Recursion is bounded: the decoder limits how deep messages nest. */
static int walk_graph(const struct walk *walk, const struct baryon_graph *graph, const char *field,
                      size_t index, struct baryon_error *err)
{
    struct by_check *check = walk->check;
    struct by_spot spot = enter(walk, field, index);
    const struct baryon_graph *outer = check->scope.graph;
    const struct by_node_facts owner = check->node;
    if (!graph)
        return 0;
    check->spot = &spot;
    check->scope.graph = graph;
    if (walk_graph_parts(walk, graph, err))
        return -1;
    check->scope.graph = outer;
    check->node = owner;
    check->spot = spot.outer;
    return 0;
}

static int walk_training(const struct walk *walk, const struct by_training_info *training,
                         size_t index, struct baryon_error *err)
{
    struct by_spot spot = enter(walk, "training_info", index);
    walk->check->spot = &spot;
    walk->check->scope.training = true;
    if (walk_graph(walk, training->initialization, "initialization", BY_NO_SLOT, err) ||
        walk_graph(walk, training->algorithm, "algorithm", BY_NO_SLOT, err))
        return -1;
    walk->check->scope.training = false;
    walk->check->spot = spot.outer;
    return 0;
}

/* --- functions --- */

static int map_imports(const struct by_ptrs *list, struct by_map *map, struct baryon_error *err)
{
    for (size_t i = 0; i < list->count; i++) {
        struct by_opset *opset = list->at[i];
        if (opset && !by_map_get(map, by_domain(opset->domain)) &&
            by_map_put(map, by_domain(opset->domain), opset, err))
            return -1;
    }
    return 0;
}

static int walk_function_parts(const struct walk *walk, const struct by_function *function,
                               struct baryon_error *err)
{
    EACH_RULE(walk, function, walk->check, function, err);
    if (walk_attributes(walk, NULL, &function->attribute_proto, "attribute_proto", err) ||
        walk_infos(walk, &function->value_info, "value_info", BY_INFO_VALUE, err))
        return -1;
    return walk_nodes(walk, &function->node, err);
}

static int walk_function(const struct walk *walk, const struct by_function *function, size_t index,
                         struct baryon_error *err)
{
    struct by_check *check = walk->check;
    const struct by_scope outer = check->scope;
    struct by_spot spot = enter(walk, "functions", index);
    struct by_map imports;
    by_map_init(&imports);
    check->spot = &spot;
    check->scope = (struct by_scope){.function = function, .imports = &imports};
    int result = map_imports(&function->opset_import, &imports, err);
    if (!result)
        result = walk_function_parts(walk, function, err);
    by_map_release(&imports);
    check->scope = outer;
    check->spot = spot.outer;
    return result;
}

/* --- the model --- */

static int walk_model(const struct walk *walk, struct baryon_error *err)
{
    const struct baryon_model *model = walk->check->model;
    EACH_RULE(walk, start, walk->check, err);
    if (walk_graph(walk, model->graph, "graph", BY_NO_SLOT, err))
        return -1;
    for (size_t i = 0; i < model->training_info.count && !walk->linked; i++)
        if (model->training_info.at[i] && walk_training(walk, model->training_info.at[i], i, err))
            return -1;
    for (size_t i = 0; i < model->functions.count && !walk->linked; i++)
        if (model->functions.at[i] && walk_function(walk, model->functions.at[i], i, err))
            return -1;
    EACH_RULE(walk, finish, walk->check, err);
    return 0;
}

int by_check_walk(struct by_check *check, bool linked, struct baryon_error *err)
{
    const struct walk walk = {check, linked};
    struct by_map imports;
    by_map_init(&imports);
    check->spot = NULL;
    check->scope = (struct by_scope){.imports = &imports};
    int result = by_function_table_fill(&check->functions, check->model, &check->arena, err);
    if (!result)
        result = map_imports(&check->model->opset_import, &imports, err);
    if (!result)
        result = walk_model(&walk, err);
    by_function_table_release(&check->functions);
    by_map_release(&imports);
    return result;
}
