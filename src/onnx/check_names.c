/*
 * Names in functions and training graphs, which are not linked. A name is seen from
 * where it is defined to the end of its graph, in nested graphs too; names of a nested
 * graph are forgotten after it.
 */
#include "onnx/check_rule.h"

#include <string.h>

struct names {
    struct by_check *check;
    struct by_map seen; /* the names that are defined here */
    struct by_names added;
    enum by_severity severity;
    const char *what; /* "function", for messages */
};

static int add_name(struct names *names, const char *name, struct baryon_error *err)
{
    if (by_list_reserve(&names->check->arena, &names->added, 1, sizeof(char *), err) ||
        by_map_put(&names->seen, name, names->check, err))
        return -1;
    names->added.at[names->added.count++] = name;
    return 0;
}

static int add_once(struct names *names, const char *name, struct baryon_error *err)
{
    return !name || !*name || by_map_get(&names->seen, name) ? 0 : add_name(names, name, err);
}

static void forget_names(struct names *names, size_t count)
{
    while (names->added.count > count)
        by_map_remove(&names->seen, names->added.at[--names->added.count]);
}

static int define(struct names *names, const char *name, const char *field, size_t index,
                  const struct by_msg *msg, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!name || !*name)
        return 0;
    if (!by_map_get(&names->seen, name))
        return add_name(names, name, err);
    by_fail(err, BARYON_ERR_INPUT, "tensor %s is defined twice in the %s, must be defined once",
            by_quote(quoted, name), names->what);
    by_err_in(err, "%s[%zu]", field, index);
    return by_report(names->check, names->severity, msg, err);
}

static int check_reads(struct names *names, const struct baryon_node *node,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], label[BY_LABEL_MAX];
    for (size_t i = 0; i < node->input.count; i++) {
        const char *name = node->input.at[i];
        if (!name || !*name || by_map_get(&names->seen, name))
            continue;
        by_fail(err, BARYON_ERR_INPUT, "%s has input %s, which is not defined before it in the %s",
                by_check_label(names->check, node, label), by_quote(quoted, name), names->what);
        by_err_in(err, "input[%zu]", i);
        if (by_report(names->check, names->severity, &node->msg, err))
            return -1;
    }
    return 0;
}

static int check_graph(struct names *names, const struct baryon_graph *graph, const char *field,
                       size_t index, struct baryon_error *err);

static int check_nested(struct names *names, const struct baryon_node *node,
                        struct baryon_error *err)
{
    struct by_check *check = names->check;
    for (size_t i = 0; i < node->attribute.count; i++) {
        const struct baryon_attribute *attr = node->attribute.at[i];
        struct by_spot spot = {check->spot, "attribute", i};
        if (!attr)
            continue;
        check->spot = &spot;
        if (check_graph(names, attr->g, "g", BY_NO_SLOT, err))
            return -1;
        for (size_t k = 0; k < attr->graphs.count; k++)
            if (check_graph(names, attr->graphs.at[k], "graphs", k, err))
                return -1;
        check->spot = spot.outer;
    }
    return 0;
}

static int check_node_names(struct names *names, const struct by_ptrs *list,
                            struct baryon_error *err)
{
    struct by_check *check = names->check;
    for (size_t i = 0; i < list->count; i++) {
        const struct baryon_node *node = list->at[i];
        struct by_spot spot = {check->spot, "node", i};
        if (!node)
            continue;
        check->spot = &spot;
        if (check_reads(names, node, err) || check_nested(names, node, err))
            return -1;
        for (size_t k = 0; k < node->output.count; k++)
            if (define(names, node->output.at[k], "output", k, &node->msg, err))
                return -1;
        check->spot = spot.outer;
    }
    return 0;
}

static int add_initializers(struct names *names, const struct baryon_graph *graph,
                            struct baryon_error *err)
{
    for (size_t i = 0; i < graph->initializer.count; i++) {
        const struct baryon_tensor *tensor = graph->initializer.at[i];
        if (tensor && add_once(names, tensor->name, err))
            return -1;
    }
    for (size_t i = 0; i < graph->sparse_initializer.count; i++) {
        const struct by_sparse_tensor *sparse = graph->sparse_initializer.at[i];
        if (sparse && sparse->values && add_once(names, sparse->values->name, err))
            return -1;
    }
    return 0;
}

static int define_inputs(struct names *names, const struct baryon_graph *graph,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        if (info && define(names, info->name, "input", i, &info->msg, err))
            return -1;
    }
    return add_initializers(names, graph, err);
}

static int not_defined(struct names *names, const char *name, size_t index,
                       const struct by_msg *msg, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT, "output %s is not defined in the %s", by_quote(quoted, name),
            names->what);
    by_err_in(err, "output[%zu]", index);
    return by_report(names->check, names->severity, msg, err);
}

static int check_outputs(struct names *names, const struct baryon_graph *graph,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < graph->output.count; i++) {
        const struct by_value_info *info = graph->output.at[i];
        const char *name = info && info->name ? info->name : "";
        if (info && !by_map_get(&names->seen, name) && not_defined(names, name, i, &info->msg, err))
            return -1;
    }
    return 0;
}

/* Recursion is bounded: the decoder limits how deep messages nest. */
static int check_graph(struct names *names, const struct baryon_graph *graph, const char *field,
                       size_t index, struct baryon_error *err)
{
    struct by_check *check = names->check;
    struct by_spot spot = {check->spot, field, index};
    const size_t before = names->added.count;
    if (!graph)
        return 0;
    check->spot = &spot;
    if (define_inputs(names, graph, err) || check_node_names(names, &graph->node, err) ||
        check_outputs(names, graph, err))
        return -1;
    check->spot = spot.outer;
    forget_names(names, before);
    return 0;
}

/* --- functions --- */

static int check_body(struct names *names, const struct by_function *function,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < function->input.count; i++)
        if (add_once(names, function->input.at[i], err))
            return -1;
    if (check_node_names(names, &function->node, err))
        return -1;
    for (size_t i = 0; i < function->output.count; i++) {
        const char *name = function->output.at[i] ? function->output.at[i] : "";
        if (!by_map_get(&names->seen, name) && not_defined(names, name, i, &function->msg, err))
            return -1;
    }
    return 0;
}

static int check_function(struct by_check *check, const struct by_function *function,
                          struct baryon_error *err)
{
    struct names names = {.check = check, .severity = BY_FINDING_ERROR, .what = "function"};
    by_map_init(&names.seen);
    int result = check_body(&names, function, err);
    by_map_release(&names.seen);
    return result;
}

const struct by_model_rule by_rule_function_names = {
    .worst = BY_FINDING_ERROR,
    .function = check_function,
};

/* --- training: it sees the names of the main graph, and nothing runs it --- */

/* All names that a graph defines by itself. */
static int add_all(struct names *names, const struct baryon_graph *graph, struct baryon_error *err)
{
    for (size_t i = 0; i < graph->input.count; i++) {
        const struct by_value_info *info = graph->input.at[i];
        if (info && add_once(names, info->name, err))
            return -1;
    }
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        for (size_t k = 0; node && k < node->output.count; k++)
            if (add_once(names, node->output.at[k], err))
                return -1;
    }
    return add_initializers(names, graph, err);
}

static int check_bindings(struct names *names, const struct by_ptrs *list,
                          const struct baryon_graph *graph, const char *field,
                          struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const size_t before = names->added.count;
    if (graph && add_all(names, graph, err))
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        const struct by_pair *pair = list->at[i];
        const char *key = pair && pair->key ? pair->key : "";
        if (!pair || by_map_get(&names->seen, key))
            continue;
        by_fail(err, BARYON_ERR_INPUT, "%s is bound, but there is no tensor of this name",
                by_quote(quoted, key));
        by_err_in(err, "%s[%zu]", field, i);
        if (by_report(names->check, names->severity, &pair->msg, err))
            return -1;
    }
    forget_names(names, before);
    return 0;
}

static int check_training(struct names *names, const struct by_training_info *training,
                          size_t index, struct baryon_error *err)
{
    struct by_check *check = names->check;
    struct by_spot spot = {NULL, "training_info", index};
    check->spot = &spot;
    if (check_graph(names, training->initialization, "initialization", BY_NO_SLOT, err) ||
        check_graph(names, training->algorithm, "algorithm", BY_NO_SLOT, err) ||
        check_bindings(names, &training->initialization_binding, training->algorithm,
                       "initialization_binding", err) ||
        check_bindings(names, &training->update_binding, training->algorithm, "update_binding",
                       err))
        return -1;
    check->spot = NULL;
    return 0;
}

static int check_all_training(struct by_check *check, struct baryon_error *err)
{
    const struct by_ptrs *list = &check->model->training_info;
    struct names names = {
        .check = check, .severity = BY_FINDING_WARNING, .what = "training graph or the model"};
    if (!list->count)
        return 0;
    by_map_init(&names.seen);
    int result = add_all(&names, check->model->graph, err);
    for (size_t i = 0; i < list->count && !result; i++)
        if (list->at[i])
            result = check_training(&names, list->at[i], i, err);
    by_map_release(&names.seen);
    return result ? -1 : 0;
}

const struct by_model_rule by_rule_training = {
    .worst = BY_FINDING_WARNING,
    .finish = check_all_training,
};
