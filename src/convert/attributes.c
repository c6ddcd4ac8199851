/* A step that sets attributes of nodes by their names. */
#include "convert/params.h"

#include "base/str.h"
#include "config/nodes.h"
#include "ir/opinfo.h"
#include "onnx/check.h"
#include "pass/origins.h"

#include <math.h>
#include <string.h>

/* --- What is asked for --- */

static int take_update(const struct by_doc_node *item, struct by_convert_update *update,
                       struct baryon_error *err)
{
    static const char *const known[] = {"node_name", "attributes", NULL};
    if (item->kind != BY_DOC_MAP)
        return by_node_fail(item, err, "expected a map of node_name and attributes");
    for (size_t i = 0; i < item->count; i++)
        if (strcmp(item->pairs[i].key, known[0]) != 0 && strcmp(item->pairs[i].key, known[1]) != 0)
            return by_key_unknown(&item->pairs[i], known, err);
    update->name = by_doc_get(item, "node_name");
    update->attributes = by_doc_get(item, "attributes");
    if (!update->name || update->name->kind != BY_DOC_SCALAR || !*update->name->text)
        return by_node_fail(item, err, "node_name: expected the name of a node");
    if (!update->attributes || update->attributes->kind != BY_DOC_MAP || !update->attributes->count)
        return by_node_fail(item, err, "attributes: expected a map of attributes to values");
    return 0;
}

int by_take_updates(struct by_converting *at, const struct by_doc_node *value,
                    struct baryon_error *err)
{
    struct by_convert_step *step = at->step;
    if (value->kind != BY_DOC_LIST)
        return by_node_fail(value, err, "expected a list of maps of node_name and attributes");
    step->updates =
        by_arena_alloc(at->convert->arena, value->count + 1, sizeof *step->updates, err);
    if (!step->updates)
        return -1;
    for (size_t i = 0; i < value->count; i++)
        if (take_update(value->items[i], &step->updates[i], err))
            return -1;
    step->update_count = value->count;
    at->on = value->count > 0;
    return 0;
}

/* --- The attribute --- */

/* By what the node has, else by what its operator may have. */
static int find_type(const struct baryon_node *node, const struct by_doc_pair *pair, int64_t *type,
                     struct baryon_error *err)
{
    const struct baryon_attribute *attr = by_node_attr(node, pair->key);
    const struct by_opinfo *info = by_node_opinfo(node);
    const struct by_op_attr *known =
        info ? by_op_attr(info, pair->key, by_model_opset(node->graph->model, info->domain)) : NULL;
    const char *names[64] = {0};
    size_t count = 0;
    if (known || attr) {
        *type = known ? (int64_t)known->type : attr->type;
        return 0;
    }
    for (size_t i = 0; i < node->attribute.count && count < 63; i++)
        names[count++] = ((const struct baryon_attribute *)node->attribute.at[i])->name;
    for (size_t i = 0; info && info->attrs && info->attrs[i].name && count < 63; i++)
        names[count++] = info->attrs[i].name;
    char quoted[BY_QUOTE_MAX], op[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "%s has no attribute %s", by_quote(op, node->op_type),
            by_quote(quoted, pair->key));
    by_err_in(err, "%zu:%zu", pair->line, pair->column);
    const char *near = by_nearest(pair->key, names, count);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

static bool is_int(const struct by_doc_node *value, int64_t *number)
{
    return value->kind == BY_DOC_SCALAR && !value->quoted && by_parse_i64(value->text, number);
}

static bool is_float_text(const struct by_doc_node *value, float *number)
{
    double wide;
    if (value->kind != BY_DOC_SCALAR || value->quoted || !by_parse_double(value->text, &wide))
        return false;
    *number = (float)wide;
    return isfinite(*number);
}

static int wrong_type(const struct by_doc_pair *pair, int64_t type, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *wanted = type == BY_ATTR_INT      ? "a whole number"
                         : type == BY_ATTR_FLOAT  ? "a number"
                         : type == BY_ATTR_STRING ? "a text"
                         : type == BY_ATTR_INTS   ? "a list of whole numbers"
                         : type == BY_ATTR_FLOATS ? "a list of numbers"
                                                  : NULL;
    const char *name = by_quote(quoted, pair->key);
    return wanted ? by_node_fail(pair->value, err, "attribute %s must be %s", name, wanted)
                  : by_node_fail(pair->value, err, "attribute %s has type %s, which cannot be set",
                                 name, by_attr_type_name(type));
}

static int set_ints(struct by_arena *arena, struct baryon_node *node,
                    const struct by_doc_pair *pair, struct baryon_error *err)
{
    const struct by_doc_node *list = pair->value;
    int64_t *numbers = by_arena_alloc(arena, list->count + 1, sizeof *numbers, err);
    if (!numbers)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        if (!is_int(list->items[i], &numbers[i]))
            return wrong_type(pair, BY_ATTR_INTS, err);
    return by_node_set_ints(node, pair->key, numbers, list->count, err);
}

static int set_floats(struct by_arena *arena, struct baryon_node *node,
                      const struct by_doc_pair *pair, struct baryon_error *err)
{
    const struct by_doc_node *list = pair->value;
    float *numbers = by_arena_alloc(arena, list->count + 1, sizeof *numbers, err);
    if (!numbers)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        if (!is_float_text(list->items[i], &numbers[i]))
            return wrong_type(pair, BY_ATTR_FLOATS, err);
    return by_node_set_floats(node, pair->key, numbers, list->count, err);
}

static int set_one(struct by_arena *arena, struct baryon_node *node, const struct by_doc_pair *pair,
                   struct baryon_error *err)
{
    const struct by_doc_node *value = pair->value;
    int64_t type, whole;
    float number;
    if (find_type(node, pair, &type, err))
        return -1;
    if (type == BY_ATTR_INT && is_int(value, &whole))
        return by_node_set_int(node, pair->key, whole, err);
    if (type == BY_ATTR_FLOAT && is_float_text(value, &number))
        return by_node_set_float(node, pair->key, number, err);
    if (type == BY_ATTR_STRING && value->kind == BY_DOC_SCALAR)
        return by_node_set_text(node, pair->key, value->text, err);
    if (type == BY_ATTR_INTS && value->kind == BY_DOC_LIST)
        return set_ints(arena, node, pair, err);
    if (type == BY_ATTR_FLOATS && value->kind == BY_DOC_LIST)
        return set_floats(arena, node, pair, err);
    return wrong_type(pair, type, err);
}

/* --- The nodes --- */

struct nodes {
    struct baryon_node **at;
    size_t count;
};

static const char *name_of(const struct baryon_node *node)
{
    return node->name ? node->name : "";
}

static int no_such_node(const struct nodes *nodes, const struct by_doc_node *name,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char **names = by_alloc(nodes->count + 1, sizeof *names, NULL);
    for (size_t i = 0; names && i < nodes->count; i++)
        names[i] = name_of(nodes->at[i]);
    const char *near = names ? by_nearest(name->text, names, nodes->count) : NULL;
    by_node_fail(name, err, "unknown node %s", by_quote(quoted, name->text));
    if (near)
        by_err_hint(err, "did you mean '%s'?", near);
    by_free(names);
    return -1;
}

static int update_node(const struct nodes *nodes, const struct by_convert_update *update,
                       struct by_pass_context *context, struct baryon_error *err)
{
    struct by_arena arena;
    bool found = false;
    int failed = 0;
    by_arena_init(&arena, 0);
    for (size_t i = 0; i < nodes->count && !failed; i++) {
        if (strcmp(name_of(nodes->at[i]), update->name->text) != 0)
            continue;
        found = true;
        for (size_t k = 0; k < update->attributes->count && !failed; k++, context->changes++)
            failed = set_one(&arena, nodes->at[i], &update->attributes->pairs[k], err);
    }
    by_arena_release(&arena);
    return failed ? -1 : found ? 0 : no_such_node(nodes, update->name, err);
}

int by_convert_attributes(const struct by_convert_step *step, struct by_pass_context *context,
                          struct baryon_error *err)
{
    const struct by_check_options any = {.custom_ops = true};
    struct nodes nodes;
    int failed = by_all_nodes(context->model, &nodes.at, &nodes.count, err);
    for (size_t i = 0; i < step->update_count && !failed; i++)
        failed = update_node(&nodes, &step->updates[i], context, err);
    by_free(nodes.at);
    /* What the operator does not allow is refused, and nothing is written. */
    return failed ? -1 : by_model_check(context->model, &any, NULL, NULL, err);
}
