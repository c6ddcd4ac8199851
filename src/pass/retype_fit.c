/* Which nodes can compute in the new type, and why the others stay. */
#include "ir/opfloat.h"
#include "pass/retype_internal.h"

#include <stdio.h>
#include <string.h>

/* --- What operators say of their inputs and outputs --- */

bool by_retype_slot_stays(const struct baryon_node *node, size_t slot)
{
    return (by_node_is(node, "Resize") && (slot == 1 || slot == 2)) ||
           (by_node_is(node, "Upsample") && slot == 1);
}

/* Word `slot` of "0 float 3|0": a number means that the output is as that input. */
static bool word_follows(const char *words, size_t slot)
{
    for (; slot && words; slot--) {
        words = strchr(words, ' ');
        words = words ? words + 1 : NULL;
    }
    return words && *words >= '0' && *words <= '9';
}

static bool special_follows(const struct baryon_node *node)
{
    if (by_node_is(node, "Constant") || by_node_is(node, "ConstantOfShape"))
        return by_node_attr(node, "value") || by_node_attr(node, "sparse_value");
    return true;
}

bool by_retype_follows(const struct by_retype *r, const struct baryon_node *node, size_t slot)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    const struct baryon_attribute *attr;
    switch (info ? info->type_rule : BY_TYPE_SAME) {
    case BY_TYPE_FIXED:
        return false;
    case BY_TYPE_ATTR:
        attr = by_node_attr(node, info->type_text);
        return attr && by_retype_is_from(r, attr->i);
    case BY_TYPE_EACH:
        return word_follows(info->type_text, slot);
    case BY_TYPE_SPECIAL:
        return special_follows(node);
    default:
        return true;
    }
}

bool by_retype_touches(const struct by_retype *r, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        const struct by_use use = {(struct baryon_node *)(uintptr_t)node, node->graph, i};
        if (value && by_retype_is_from(r, value->elem) && !by_retype_slot_stays(node, i) &&
            by_retype_wants(r, &use) != BY_TAKES_ANY)
            return true;
    }
    for (size_t i = 0; i < node->output.count; i++)
        if (by_node_out(node, i) && by_retype_is_from(r, by_node_out(node, i)->elem))
            return true;
    return false;
}

/* --- Whole numbers in float --- */

static bool is_constant_value(const struct baryon_value *value)
{
    return value->initializer || value->sparse ||
           (value->producer && by_node_is(value->producer, "Constant"));
}

static bool counts(const struct by_retype *r, const struct baryon_value *value)
{
    const struct by_retype_part *part = by_retype_part(r, value->graph);
    return part && value->index < part->value_count && part->counts[value->index];
}

/* Operators that whole numbers go through on their way to sizes, places and masks. */
static bool hands_on_integers(const struct baryon_node *node)
{
    static const char *const moves[] = {
        "Concat",    "Expand",    "Flatten",    "Gather",    "Identity", "Range",
        "ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum", "Reshape",  "Slice",
        "Squeeze",   "Tile",      "Transpose",  "Unsqueeze", "Where",    NULL};
    const struct by_opinfo *info = by_node_opinfo(node);
    for (const char *const *name = moves; *name; name++)
        if (by_node_is(node, *name))
            return true;
    return info && by_op_keeps_places(info) && !by_node_is(node, "Cast");
}

static bool comes_from_integers(const struct baryon_node *node)
{
    const struct baryon_value *from = by_node_in(node, 0);
    return by_node_is(node, "Cast") && from &&
           (from->elem == BY_ELEM_INT32 || from->elem == BY_ELEM_INT64 ||
            from->elem == BY_ELEM_UINT32 || from->elem == BY_ELEM_UINT64);
}

static bool node_counts(const struct by_retype *r, const struct baryon_node *node)
{
    size_t seen = 0;
    if (comes_from_integers(node))
        return true;
    if (!hands_on_integers(node))
        return false;
    for (size_t i = 0; i < node->input.count; i++) {
        const struct baryon_value *value = by_node_in(node, i);
        if (!value || !by_retype_is_from(r, value->elem) || is_constant_value(value))
            continue;
        if (!counts(r, value))
            return false;
        seen++;
    }
    return seen > 0;
}

static void find_counts(struct by_retype *r)
{
    for (size_t p = 0; p < r->parts.count; p++) {
        const struct by_retype_part *part = r->parts.at[p];
        for (size_t i = 0; i < part->node_count; i++) {
            const struct baryon_node *node = part->graph->node.at[i];
            if (!node || !node_counts(r, node))
                continue;
            for (size_t k = 0; k < node->output.count; k++)
                if (by_node_out(node, k) && by_retype_is_from(r, by_node_out(node, k)->elem))
                    part->counts[by_node_out(node, k)->index] = true;
        }
    }
}

static bool gives_counts(const struct by_retype *r, const struct baryon_node *node)
{
    for (size_t i = 0; i < node->output.count; i++)
        if (by_node_out(node, i) && counts(r, by_node_out(node, i)))
            return true;
    return false;
}

/* --- Nodes --- */

static bool has_unknown_types(const struct baryon_node *node)
{
    for (size_t i = 0; i < node->input.count; i++)
        if (by_node_in(node, i) && !by_node_in(node, i)->elem)
            return true;
    for (size_t i = 0; i < node->output.count; i++)
        if (by_node_out(node, i) && !by_node_out(node, i)->elem)
            return true;
    return false;
}

static bool quantizes(const struct baryon_node *node)
{
    return strstr(node->op_type, "QuantizeLinear") || strstr(node->op_type, "DequantizeLinear") ||
           strncmp(node->op_type, "QLinear", 7) == 0;
}

/* True when the node stays, and why. */
static bool is_kept(const struct by_retype *r, const struct baryon_node *node, struct by_kept *kept)
{
    const struct by_opinfo *info = by_node_opinfo(node);
    *kept = (struct by_kept){.op_type = node->op_type, .to = r->to};
    if ((r->narrows || r->options->keep_excluded) && by_pass_is_excluded(r->context, node)) {
        kept->why = BY_KEPT_ASKED;
    } else if (has_unknown_types(node)) {
        kept->why = BY_KEPT_TYPES;
    } else if (by_node_is(node, "BitCast")) {
        kept->why = BY_KEPT_BITS;
    } else if (!r->narrows) {
        return false;
    } else if (!info || *info->domain) {
        kept->why = BY_KEPT_UNKNOWN;
    } else if (quantizes(node)) {
        kept->why = BY_KEPT_SCALES;
    } else if (gives_counts(r, node)) {
        kept->why = BY_KEPT_COUNTS;
    } else {
        kept->opset = by_op_float_opset(node->op_type, r->to);
        kept->why = kept->opset ? BY_KEPT_OPSET : BY_KEPT_NEVER;
        return !kept->opset || by_model_opset(r->context->model, "") < kept->opset;
    }
    return true;
}

static int report(struct by_retype *r, const struct by_kept *kept, struct baryon_error *err)
{
    struct by_retype_report *report = r->report;
    for (size_t i = 0; i < report->kept.count; i++) {
        struct by_kept *row = &report->kept.at[i];
        if (row->why == kept->why && row->to == kept->to &&
            strcmp(row->op_type, kept->op_type) == 0) {
            row->count++;
            return 0;
        }
    }
    if (by_list_reserve(report->arena, &report->kept, 1, sizeof *report->kept.at, err))
        return -1;
    report->kept.at[report->kept.count] = *kept;
    report->kept.at[report->kept.count++].count = 1;
    return 0;
}

static int fit_part(struct by_retype *r, struct by_retype_part *part, struct baryon_error *err)
{
    struct by_kept kept;
    for (size_t i = 0; i < part->node_count; i++) {
        const struct baryon_node *node = part->graph->node.at[i];
        if (!node || !part->inside[i] || !is_kept(r, node, &kept))
            continue;
        part->inside[i] = false;
        if (by_retype_touches(r, node) && report(r, &kept, err))
            return -1;
    }
    return 0;
}

int by_retype_fit(struct by_retype *r, struct baryon_error *err)
{
    if (r->whole)
        return 0;
    if (r->narrows)
        find_counts(r);
    for (size_t p = 0; p < r->parts.count; p++)
        if (fit_part(r, r->parts.at[p], err))
            return -1;
    return 0;
}

const char *by_kept_text(const struct by_kept *kept, char *buf, size_t size)
{
    static const char *const texts[] = {
        [BY_KEPT_ASKED] = "it is excluded",
        [BY_KEPT_UNKNOWN] = "ONNX does not define the operator",
        [BY_KEPT_TYPES] = "the types of its inputs or outputs are unknown, or not tensors",
        [BY_KEPT_SCALES] = "its scales require more than 16 bits",
        [BY_KEPT_COUNTS] = "it computes with integers",
        [BY_KEPT_BITS] = "it depends on the bits of the type",
    };
    if (kept->why == BY_KEPT_OPSET)
        snprintf(buf, size, "%s requires opset %lld", by_elem_name(kept->to),
                 (long long)kept->opset);
    else if (kept->why == BY_KEPT_NEVER)
        snprintf(buf, size, "no opset supports it in %s", by_elem_name(kept->to));
    else
        snprintf(buf, size, "%s", texts[kept->why]);
    return buf;
}
