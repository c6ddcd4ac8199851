/* Operators that do to levels what they do to numbers, where levels mean the same before and
 * after. */
#include "quant/lower_qoperator.h"

#include "pass/edit.h"

#include <string.h>

/* An output that nobody reads may be of any type. */
static bool is_unread(const struct baryon_value *value)
{
    return !value || (!value->use_count && !by_value_is_kept(value));
}

static bool begin_move_draft(struct by_qop *qop, struct baryon_node *node, size_t inputs,
                             const struct by_qop_params *params, struct by_qop_draft *draft)
{
    bool any = false;
    if (!by_qop_draft(qop, node, inputs, node->output.count, draft))
        return false;
    for (size_t i = 0; i < node->output.count; i++) {
        struct baryon_value *value = by_node_out(node, i);
        struct by_qop_output *output = &draft->outputs[i];
        *output = (struct by_qop_output){.value = value};
        if (is_unread(value))
            continue;
        if (!by_qop_output(qop, value, output) || !by_qop_equal(params, &output->params))
            return false;
        any = true;
    }
    return any;
}

bool by_qop_move(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    struct by_qop_input input;
    if (!by_qop_tensor(qop, by_node_in(node, 0), &input) ||
        !begin_move_draft(qop, node, node->input.count, &input.params, draft))
        return false;
    by_qop_add(draft, input.levels);
    for (size_t i = 1; i < node->input.count; i++)
        by_qop_add(draft, by_node_in(node, i));
    return true;
}

/* All inputs mean the same. */
bool by_qop_join(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    struct by_qop_input input;
    if (!by_qop_tensor(qop, by_node_in(node, 0), &input) ||
        !begin_move_draft(qop, node, node->input.count, &input.params, draft))
        return false;
    for (size_t i = 0; i < node->input.count; i++) {
        if (!by_qop_tensor(qop, by_node_in(node, i), &input) ||
            !by_qop_equal(&input.params, &draft->outputs[0].params))
            return false;
        by_qop_add(draft, input.levels);
    }
    return true;
}

bool by_qop_pool(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    return is_unread(by_node_out(node, 1)) && by_qop_move(qop, node, draft);
}

static bool has_text(const struct baryon_node *node, const char *name, const char *text)
{
    const struct baryon_attribute *attr = by_node_attr(node, name);
    return attr && attr->s.size == strlen(text) && !memcmp(attr->s.data, text, attr->s.size);
}

/* Of the ways to resize only this one makes no new numbers. */
bool by_qop_resize(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    const bool picks = !by_node_attr(node, "mode") || has_text(node, "mode", "nearest");
    return picks && !has_text(node, "coordinate_transformation_mode", "tf_crop_and_resize") &&
           by_qop_move(qop, node, draft);
}

/* --- Numbers that become levels --- */

static struct baryon_value *level(struct by_qop *qop, const struct baryon_node *node,
                                  const char *suffix, const struct by_qop_params *params,
                                  int64_t at)
{
    const uint8_t byte = (uint8_t)at;
    struct baryon_value *value = by_lower_new(qop->graph, by_node_out(node, 0)->name, suffix,
                                              params->elem, NULL, 0, &byte, 1, qop->err);
    qop->failed |= !value;
    return value;
}

/* The number that is put in, 0 where none is told. */
static bool padding(struct by_qop *qop, const struct baryon_value *value, double *number)
{
    double *numbers;
    size_t count;
    *number = 0;
    if (!value)
        return true;
    if (value->producer && !strcmp(value->producer->op_type, "DequantizeLinear"))
        return false;
    if (by_pass_doubles(value, &qop->arena, &numbers, &count, qop->err)) {
        qop->failed = true;
        return false;
    }
    if (!numbers || count != 1)
        return false;
    *number = numbers[0];
    return true;
}

/* Other modes repeat elements: a float that is given besides has no effect and the wrong type. */
bool by_qop_pad(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    const bool repeats = by_node_attr(node, "mode") && !has_text(node, "mode", "constant");
    struct by_qop_input input;
    double number = 0;
    if (!by_qop_tensor(qop, by_node_in(node, 0), &input) ||
        (!repeats && !padding(qop, by_node_in(node, 2), &number)) ||
        !begin_move_draft(qop, node, 4, &input.params, draft))
        return false;
    by_qop_add(draft, input.levels);
    by_qop_add(draft, by_node_in(node, 1));
    if (!repeats)
        by_qop_add(draft,
                   level(qop, node, "filling", &input.params, by_qop_level(&input.params, number)));
    else if (node->input.count > 3)
        by_qop_add(draft, NULL);
    if (node->input.count > 3)
        by_qop_add(draft, by_node_in(node, 3));
    return !qop->failed;
}

bool by_qop_clip(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    struct by_qop_input input;
    int64_t low, high;
    if (!by_qop_tensor(qop, by_node_in(node, 0), &input) ||
        !by_qop_bounds(qop, node, &input.params, &low, &high) ||
        !begin_move_draft(qop, node, 3, &input.params, draft))
        return false;
    by_qop_add(draft, input.levels);
    by_qop_add(draft, level(qop, node, "least", &input.params, low));
    by_qop_add(draft, level(qop, node, "most", &input.params, high));
    return !qop->failed;
}
