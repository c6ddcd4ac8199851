/* To a newer version of ONNX's operators, node by node through all versions between. */
#include "pass/edit.h"
#include "pass/opset.h"
#include "pass/origins.h"
#include "pass/passes.h"

#include <string.h>

struct conversion {
    struct by_pass_context *context;
    int64_t from, to;
};

static int check_known(const struct baryon_node *node, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    if (by_node_opinfo(node))
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "%s cannot be converted to a newer opset: unknown operator",
            by_node_label(node, label, sizeof label));
    return -1;
}

/* A rule may have put others in the node's place: those are of the new version. */
static int convert_node(const struct conversion *c, struct baryon_node *node,
                        struct baryon_error *err)
{
    bool changed = false;
    if (*by_domain(node->domain))
        return 0;
    if (check_known(node, err))
        return -1;
    for (const struct by_opset_change *row = by_opset_changes; row->op_type && node->graph; row++) {
        if (row->version <= c->from || row->version > c->to ||
            strcmp(row->op_type, node->op_type) != 0)
            continue;
        if (row->convert(node, err))
            return -1;
        changed = true;
    }
    c->context->changes += changed;
    return 0;
}

static int check_range(const struct conversion *c, struct baryon_error *err)
{
    if (c->to < c->from)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "the model has opset %lld, cannot be converted to the older opset %lld",
                       (long long)c->from, (long long)c->to);
    if (c->from < BY_OPSET_FIRST || c->to > BY_OPSET_LAST)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "opset %lld cannot be converted to %lld, must be from %d to %d",
                       (long long)c->from, (long long)c->to, BY_OPSET_FIRST, BY_OPSET_LAST);
    return 0;
}

static int convert_nodes(struct by_pass_context *context, const struct conversion *c,
                         struct baryon_error *err)
{
    struct baryon_node **nodes;
    size_t count;
    if (by_all_nodes(context->model, &nodes, &count, err))
        return -1;
    int failed = 0;
    for (size_t i = 0; i < count && !failed; i++)
        failed = convert_node(c, nodes[i], err);
    by_free(nodes);
    return failed;
}

static int run_convert_opset(struct by_pass_context *context, struct baryon_error *err)
{
    const struct conversion c = {context, by_model_opset(context->model, ""), context->opset};
    if (!c.to || c.to == c.from || !c.from)
        return 0;
    if (check_range(&c, err) || convert_nodes(context, &c, err))
        return -1;
    context->changes++;
    return by_model_set_opset(context->model, "", c.to, err);
}

const struct by_pass by_pass_convert_opset = {
    .name = "convert-opset",
    .alias = "ConvertOpsetVersion",
    .help = "Convert the model to the requested opset, if any",
    .exact = true,
    .shapes = true,
    .run = run_convert_opset,
};
