/* Reads attributes, operator types and opsets of a model, and walks its graphs. */
#include "ir/model.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

const char *by_domain(const char *domain)
{
    return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

int64_t by_model_opset(const struct baryon_model *model, const char *domain)
{
    for (size_t i = 0; i < model->opset_import.count; i++) {
        const struct by_opset *opset = model->opset_import.at[i];
        if (opset && strcmp(by_domain(opset->domain), by_domain(domain)) == 0)
            return opset->version;
    }
    return 0;
}

static int check_name(const char *name, size_t length, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (length > BY_NAME_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "a name of %zu bytes, must be at most %d", length,
                       BY_NAME_MAX);
    if (!by_utf8_valid(name, length))
        return by_fail(err, BARYON_ERR_USAGE, "name %s is not valid UTF-8", by_quote(quoted, name));
    return 0;
}

const char *by_model_name(struct baryon_model *model, const char *text, struct baryon_error *err)
{
    size_t length = strlen(text);
    return check_name(text, length, err) ? NULL : by_intern(&model->names, text, length, err);
}

struct baryon_attribute *by_node_attr(const struct baryon_node *node, const char *name)
{
    for (size_t i = 0; i < node->attribute.count; i++) {
        struct baryon_attribute *attr = node->attribute.at[i];
        if (attr && attr->name && strcmp(attr->name, name) == 0)
            return attr;
    }
    return NULL;
}

int64_t by_node_int(const struct baryon_node *node, const char *name, int64_t fallback)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    return attr && attr->type == BY_ATTR_INT && !attr->ref_attr_name ? attr->i : fallback;
}

float by_node_float(const struct baryon_node *node, const char *name, float fallback)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    return attr && attr->type == BY_ATTR_FLOAT && !attr->ref_attr_name ? attr->f : fallback;
}

bool by_node_is(const struct baryon_node *node, const char *op_type)
{
    return node->op_type && strcmp(node->op_type, op_type) == 0 && !*by_domain(node->domain);
}

bool by_graph_has_operator(const struct baryon_graph *graph, const char *op_type)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (node && node->op_type && !strcmp(node->op_type, op_type))
            return true;
    }
    return false;
}

bool by_node_is_one_of(const struct baryon_node *node, const char *const *op_types)
{
    for (; *op_types; op_types++)
        if (by_node_is(node, *op_types))
            return true;
    return false;
}

static bool is_of_pair(const struct baryon_node *node, const char *op_type)
{
    const char *domain = by_domain(node->domain);
    return node->op_type && strcmp(node->op_type, op_type) == 0 &&
           (!*domain || strcmp(domain, "com.microsoft") == 0);
}

bool by_node_quantizes(const struct baryon_node *node)
{
    return is_of_pair(node, "QuantizeLinear");
}

bool by_node_dequantizes(const struct baryon_node *node)
{
    return is_of_pair(node, "DequantizeLinear");
}

const char *by_node_label(const struct baryon_node *node, char *buf, size_t size)
{
    char quoted[BY_QUOTE_MAX];
    const char *op = node->op_type ? node->op_type : "?";
    if (node->name && *node->name)
        snprintf(buf, size, "node %s (%.64s)", by_quote(quoted, node->name), op);
    else
        snprintf(buf, size, "node #%zu (%.64s)", node->index, op);
    return buf;
}

struct walk {
    by_graph_fn *visit;
    void *context;
};

static int walk_graph(const struct walk *walk, struct baryon_graph *graph, unsigned depth,
                      struct baryon_error *err);

static int walk_node(const struct walk *walk, struct baryon_node *node, unsigned depth,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < node->attribute.count; i++) {
        struct baryon_attribute *attr = node->attribute.at[i];
        if (!attr)
            continue;
        if (attr->g && walk_graph(walk, attr->g, depth, err))
            return -1;
        for (size_t k = 0; k < attr->graphs.count; k++)
            if (attr->graphs.at[k] && walk_graph(walk, attr->graphs.at[k], depth, err))
                return -1;
    }
    return 0;
}

/* Recursion is bounded: the decoder limits how deep messages nest. */
static int walk_graph(const struct walk *walk, struct baryon_graph *graph, unsigned depth,
                      struct baryon_error *err)
{
    if (walk->visit(walk->context, graph, depth, err))
        return -1;
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && walk_node(walk, graph->node.at[i], depth + 1, err))
            return -1;
    return 0;
}

int by_model_each_graph(struct baryon_model *model, by_graph_fn *visit, void *context,
                        struct baryon_error *err)
{
    const struct walk walk = {visit, context};
    return model->graph ? walk_graph(&walk, model->graph, 0, err) : 0;
}
