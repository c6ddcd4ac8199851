/* Tables of nodes: 'inspect --nodes' and '--between'. */
#include "cli/inspect.h"
#include "ir/shape.h"

#include <inttypes.h>

static bool is_shown(const struct by_node_view *view, const struct baryon_node *node)
{
    return node && (!view->marks || view->marks[node->index]);
}

static const struct baryon_value *first_output(const struct baryon_node *node)
{
    for (size_t i = 0; i < node->output.count; i++)
        if (by_node_out(node, i))
            return by_node_out(node, i);
    return NULL;
}

/* A node without a name goes by its output. */
static void name_cell(struct by_table *table, const struct baryon_node *node,
                      const struct baryon_value *output)
{
    if (node->name && *node->name)
        by_table_cell(table, "%s", node->name);
    else
        by_table_cell(table, "(%s)", output ? output->name : "");
}

static void add_node_row(struct by_table *table, const struct baryon_node *node, bool outputs)
{
    const char *domain = by_domain(node->domain);
    const struct baryon_value *output = first_output(node);
    char shape[512];
    by_table_cell(table, "%zu", node->index);
    name_cell(table, node, output);
    by_table_cell(table, "%s%s%s", domain, *domain ? "." : "", node->op_type ? node->op_type : "");
    if (outputs)
        by_table_cell(table, "%s", output ? output->name : "");
    by_table_cell(table, "%s", output && output->elem ? by_elem_name(output->elem) : "?");
    by_table_cell(table, "%s", output ? by_shape_text(output->shape, shape, sizeof shape) : "");
}

/* Columns from which on a terminal has room for the names of outputs too. */
#define WIDE 120

static int graph_text(struct by_out *out, const struct by_node_view *view,
                      const struct baryon_graph *graph, struct baryon_error *err)
{
    struct by_table table;
    bool outputs = !out->columns || out->columns >= WIDE;
    by_table_init(&table, out);
    by_table_column(&table, "#", BY_RIGHT, BY_DIM);
    by_table_column(&table, "node", BY_LEFT, BY_CYAN);
    by_table_flexible(&table);
    by_table_column(&table, "operator", BY_LEFT, BY_PLAIN);
    if (outputs) {
        by_table_column(&table, "output", BY_LEFT, BY_DIM);
        by_table_flexible(&table);
    }
    by_table_column(&table, "type", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "shape", BY_LEFT, BY_PLAIN);
    for (size_t i = 0; i < graph->node.count; i++)
        if (is_shown(view, graph->node.at[i]))
            add_node_row(&table, graph->node.at[i], outputs);
    return by_table_print(&table, 0, err);
}

struct walk {
    struct by_out *out;
    struct by_json *json;
    const struct by_node_view *view;
};

static int nested_text(void *context, struct baryon_graph *graph, unsigned depth,
                       struct baryon_error *err)
{
    const struct walk *walk = context;
    char path[512];
    if (depth) {
        by_str_puts(&walk->out->text, "\n");
        by_out_printf(walk->out, BY_BOLD, "Graph ");
        by_clean(&walk->out->text, by_graph_path(graph, path, sizeof path));
        by_str_puts(&walk->out->text, "\n");
    }
    return graph_text(walk->out, walk->view, graph, err);
}

int by_nodes_text(struct by_out *out, const struct by_node_view *view, struct baryon_error *err)
{
    struct walk walk = {.out = out, .view = view};
    if (view->marks)
        return graph_text(out, view, view->model->graph, err);
    return by_model_each_graph(view->model, nested_text, &walk, err);
}

static void names_json(struct by_json *json, const char *key, const struct by_names *names)
{
    by_json_open(json, key, '[');
    for (size_t i = 0; i < names->count; i++)
        by_json_text(json, NULL, names->at[i]);
    by_json_close(json, ']');
}

static void shape_json(struct by_json *json, const struct by_shape *shape)
{
    if (!shape) {
        by_json_null(json, "shape");
        return;
    }
    by_json_open(json, "shape", '[');
    for (size_t i = 0; i < shape->rank; i++) {
        if (shape->dims[i].size >= 0)
            by_json_int(json, NULL, shape->dims[i].size);
        else if (shape->dims[i].symbol)
            by_json_text(json, NULL, shape->dims[i].symbol);
        else
            by_json_null(json, NULL);
    }
    by_json_close(json, ']');
}

static void outputs_json(struct by_json *json, const struct baryon_node *node)
{
    by_json_open(json, "outputs", '[');
    for (size_t i = 0; i < node->output.count; i++) {
        const struct baryon_value *value = by_node_out(node, i);
        by_json_open(json, NULL, '{');
        by_json_text(json, "name", node->output.at[i]);
        if (value && value->elem)
            by_json_text(json, "type", by_elem_name(value->elem));
        else
            by_json_null(json, "type");
        shape_json(json, value ? value->shape : NULL);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

static int graph_json(void *context, struct baryon_graph *graph, unsigned depth,
                      struct baryon_error *err)
{
    const struct walk *walk = context;
    char path[512];
    (void)depth, (void)err;
    by_graph_path(graph, path, sizeof path);
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (!is_shown(walk->view, node))
            continue;
        by_json_open(walk->json, NULL, '{');
        by_json_text(walk->json, "graph", path);
        by_json_int(walk->json, "index", (int64_t)node->index);
        by_json_text(walk->json, "name", node->name ? node->name : "");
        by_json_text(walk->json, "domain", by_domain(node->domain));
        by_json_text(walk->json, "operator", node->op_type ? node->op_type : "");
        names_json(walk->json, "inputs", &node->input);
        outputs_json(walk->json, node);
        by_json_close(walk->json, '}');
    }
    return 0;
}

int by_nodes_json(struct by_json *json, const struct by_node_view *view, struct baryon_error *err)
{
    struct walk walk = {.json = json, .view = view};
    by_json_open(json, "node_list", '[');
    int status = view->marks ? graph_json(&walk, view->model->graph, 0, err)
                             : by_model_each_graph(view->model, graph_json, &walk, err);
    by_json_close(json, ']');
    return status;
}
