/* Attributes: well formed by themselves, and those that the operator takes. */
#include "onnx/check_rule.h"
#include "onnx/schema.h"

#include <string.h>

#define HAS_S (1u << 3) /* the place of `s` in the schema */

/* --- by themselves --- */

struct value_field {
    enum by_attr_type type;
    const char *name;
    bool present;
};

#define VALUE_FIELDS 14u

static void value_fields(const struct baryon_attribute *attr, struct value_field out[VALUE_FIELDS])
{
    const struct value_field fields[VALUE_FIELDS] = {
        {BY_ATTR_FLOAT, "f", (attr->msg.has & BY_HAS_ATTR_F) || attr->f != 0},
        {BY_ATTR_INT, "i", (attr->msg.has & BY_HAS_ATTR_I) || attr->i != 0},
        {BY_ATTR_STRING, "s", (attr->msg.has & HAS_S) || attr->s.size},
        {BY_ATTR_TENSOR, "t", attr->t},
        {BY_ATTR_GRAPH, "g", attr->g},
        {BY_ATTR_FLOATS, "floats", attr->floats.count},
        {BY_ATTR_INTS, "ints", attr->ints.count},
        {BY_ATTR_STRINGS, "strings", attr->strings.count},
        {BY_ATTR_TENSORS, "tensors", attr->tensors.count},
        {BY_ATTR_GRAPHS, "graphs", attr->graphs.count},
        {BY_ATTR_SPARSE_TENSOR, "sparse_tensor", attr->sparse_tensor},
        {BY_ATTR_SPARSE_TENSORS, "sparse_tensors", attr->sparse_tensors.count},
        {BY_ATTR_TYPE_PROTO, "tp", attr->tp},
        {BY_ATTR_TYPE_PROTOS, "type_protos", attr->type_protos.count},
    };
    memcpy(out, fields, sizeof fields);
}

/* Their value cannot be absent: there is no default for it. */
static bool needs_value(int64_t type)
{
    return type == BY_ATTR_TENSOR || type == BY_ATTR_GRAPH || type == BY_ATTR_SPARSE_TENSOR ||
           type == BY_ATTR_TYPE_PROTO;
}

static int check_value(const struct baryon_attribute *attr, const char *name,
                       struct baryon_error *err)
{
    struct value_field fields[VALUE_FIELDS];
    const char *first = NULL;
    value_fields(attr, fields);
    for (size_t i = 0; i < VALUE_FIELDS; i++) {
        if (!fields[i].present)
            continue;
        if (first)
            return by_fail(err, BARYON_ERR_INPUT,
                           "attribute %s has values in %s and %s, must have one", name, first,
                           fields[i].name);
        first = fields[i].name;
        if (fields[i].type != (enum by_attr_type)attr->type)
            return by_fail(err, BARYON_ERR_INPUT,
                           "attribute %s has type %s, but its value is in %s", name,
                           by_attr_type_name(attr->type), first);
    }
    if (!first && needs_value(attr->type))
        return by_fail(err, BARYON_ERR_INPUT, "attribute %s of type %s has no value", name,
                       by_attr_type_name(attr->type));
    return 0;
}

static bool has_value(const struct baryon_attribute *attr)
{
    struct value_field fields[VALUE_FIELDS];
    value_fields(attr, fields);
    for (size_t i = 0; i < VALUE_FIELDS; i++)
        if (fields[i].present)
            return true;
    return false;
}

static int check_reference(const struct by_check *check, const struct baryon_attribute *attr,
                           const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *ref = by_quote(quoted, attr->ref_attr_name);
    if (has_value(attr))
        return by_fail(err, BARYON_ERR_INPUT,
                       "attribute %s has a value and refers to %s, must have one of them", name,
                       ref);
    if (!check->scope.function)
        return by_fail(err, BARYON_ERR_INPUT,
                       "attribute %s refers to %s of a function, but is not in a function", name,
                       ref);
    return 0;
}

static int check_attribute(struct by_check *check, const struct baryon_node *node,
                           const struct baryon_attribute *attr, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *name = by_quote(quoted, attr->name ? attr->name : "");
    int failed;
    (void)node;
    if (!attr->name || !*attr->name)
        failed = by_fail(err, BARYON_ERR_INPUT, "an attribute without a name, must have one");
    else if (attr->type < 1 || attr->type > BY_ATTR_TYPE_PROTOS)
        failed = by_fail(err, BARYON_ERR_INPUT,
                         attr->type ? "attribute %s has type number %lld, must be 1 to %d"
                                    : "attribute %s has no type (%lld), must be 1 to %d",
                         name, (long long)attr->type, BY_ATTR_TYPE_PROTOS);
    else if (attr->ref_attr_name && *attr->ref_attr_name)
        failed = check_reference(check, attr, name, err);
    else
        failed = check_value(attr, name, err);
    return failed ? by_report(check, BY_FINDING_ERROR, &attr->msg, err) : 0;
}

/* Few have a name twice, so names are compared as long as there are few of them. */
#define ATTRS_COMPARED 16u

static bool stood_before(const struct by_ptrs *list, size_t index)
{
    const struct baryon_attribute *attr = list->at[index];
    for (size_t i = 0; i < index; i++) {
        const struct baryon_attribute *other = list->at[i];
        if (other && other->name && strcmp(other->name, attr->name) == 0)
            return true;
    }
    return false;
}

static int check_distinct_in(struct by_check *check, const struct by_ptrs *list,
                             struct by_map *seen, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < list->count; i++) {
        struct baryon_attribute *attr = list->at[i];
        if (!attr || !attr->name)
            continue;
        bool twice = seen ? by_map_get(seen, attr->name) != NULL : stood_before(list, i);
        if (seen && by_map_put(seen, attr->name, attr, err))
            return -1;
        if (!twice)
            continue;
        by_fail(err, BARYON_ERR_INPUT, "attribute %s is given twice, must appear once",
                by_quote(quoted, attr->name));
        by_err_in(err, "attribute[%zu]", i);
        if (by_report(check, BY_FINDING_ERROR, &attr->msg, err))
            return -1;
    }
    return 0;
}

static int check_distinct(struct by_check *check, const struct baryon_node *node,
                          struct baryon_error *err)
{
    struct by_map seen;
    if (node->attribute.count <= ATTRS_COMPARED)
        return check_distinct_in(check, &node->attribute, NULL, err);
    by_map_init(&seen);
    int result = check_distinct_in(check, &node->attribute, &seen, err);
    by_map_release(&seen);
    return result;
}

const struct by_model_rule by_rule_attribute = {
    .worst = BY_FINDING_ERROR,
    .node = check_distinct,
    .attribute = check_attribute,
};

/* --- those of the operator --- */

/* Rows say what holds from opset 7 on; ONNX Runtime adds to its own operators. */
static bool is_judged(const struct by_check *check)
{
    return check->node.info &&
           by_check_opset(check) >= (*check->node.info->domain ? 1 : BY_ONNX_OPSET_MIN);
}

static enum by_severity severity_of(const struct by_check *check)
{
    const char *domain = check->node.info->domain;
    return !*domain || strncmp(domain, "ai.onnx", 7) == 0 ? BY_FINDING_ERROR : BY_FINDING_WARNING;
}

static int check_known(struct by_check *check, const struct baryon_node *node,
                       const struct baryon_attribute *attr, struct baryon_error *err)
{
    char label[BY_LABEL_MAX], quoted[BY_QUOTE_MAX];
    if (!node || !attr->name || !*attr->name || strncmp(attr->name, "__", 2) == 0 ||
        attr->type == BY_ATTR_UNDEFINED || !is_judged(check))
        return 0;
    const struct by_op_attr *row = by_op_attr(check->node.info, attr->name, by_check_opset(check));
    if (row && (int64_t)row->type == attr->type)
        return 0;
    if (row)
        by_fail(err, BARYON_ERR_INPUT, "%s: attribute %s has type %s, the operator requires %s",
                by_check_label(check, node, label), by_quote(quoted, attr->name),
                by_attr_type_name(attr->type), by_attr_type_name(row->type));
    else
        by_fail(err, BARYON_ERR_INPUT, "%s: the operator has no attribute %s in opset %lld",
                by_check_label(check, node, label), by_quote(quoted, attr->name),
                (long long)by_check_opset(check));
    return by_report(check, row ? BY_FINDING_ERROR : severity_of(check), &attr->msg, err);
}

/* Its value is one of several attributes, of which it has only one. */
static int check_constant(struct by_check *check, const struct baryon_node *node,
                          struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    size_t values = 0;
    if (!is_judged(check) || strcmp(check->node.info->op_type, "Constant") != 0)
        return 0;
    for (size_t i = 0; i < node->attribute.count; i++) {
        const struct baryon_attribute *attr = node->attribute.at[i];
        values +=
            attr && attr->name && by_op_attr(check->node.info, attr->name, by_check_opset(check));
    }
    if (values == 1)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s has %zu values, the operator requires one",
            by_check_label(check, node, label), values);
    by_err_in(err, "attribute");
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

static int check_required(struct by_check *check, const struct baryon_node *node,
                          struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    if (!is_judged(check))
        return 0;
    for (const struct by_op_attr *row = check->node.info->attrs; row && row->name; row++) {
        if (!row->required ||
            by_op_attr(check->node.info, row->name, by_check_opset(check)) != row ||
            by_node_attr(node, row->name))
            continue;
        by_fail(err, BARYON_ERR_INPUT, "%s: attribute '%s' is missing, the operator requires it",
                by_check_label(check, node, label), row->name);
        by_err_in(err, "attribute");
        if (by_report(check, BY_FINDING_ERROR, &node->msg, err))
            return -1;
    }
    return check_constant(check, node, err);
}

const struct by_model_rule by_rule_operator_attribute = {
    .worst = BY_FINDING_ERROR,
    .node = check_required,
    .attribute = check_known,
};
