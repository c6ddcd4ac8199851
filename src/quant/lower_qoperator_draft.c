/* Makes nodes of integer operators from their drafts. */
#include "quant/lower_qoperator.h"

#include "ir/tensor.h"

#include <string.h>

bool by_qop_draft(struct by_qop *qop, struct baryon_node *node, size_t inputs, size_t outputs,
                  struct by_qop_draft *draft)
{
    *draft = (struct by_qop_draft){.node = node, .cap = inputs, .output_count = outputs};
    draft->inputs = by_arena_alloc(&qop->arena, inputs, sizeof(void *), qop->err);
    draft->outputs = by_arena_alloc(&qop->arena, outputs, sizeof *draft->outputs, qop->err);
    qop->failed |= !draft->inputs || !draft->outputs;
    return !qop->failed;
}

void by_qop_add(struct by_qop_draft *draft, struct baryon_value *value)
{
    if (draft->count < draft->cap)
        draft->inputs[draft->count++] = value;
}

void by_qop_add_params(struct by_qop_draft *draft, const struct by_qop_params *params)
{
    by_qop_add(draft, params->scale);
    by_qop_add(draft, params->zero);
}

void by_qop_add_input(struct by_qop_draft *draft, const struct by_qop_input *input)
{
    by_qop_add(draft, input->levels);
    by_qop_add_params(draft, &input->params);
}

/* --- Constants of the other sign: 128 more or less, zero point too, mean the same --- */

static struct baryon_value *other_sign(struct by_qop *qop, const struct baryon_value *value,
                                       int64_t elem)
{
    const struct baryon_tensor *tensor = value->initializer;
    struct by_span bytes;
    struct baryon_value *made = NULL;
    if (by_tensor_bytes(tensor, &qop->arena, &bytes, qop->err) == 0)
        made = by_lower_new(qop->graph, value->name, by_elem_name(elem), elem, tensor->dims.at,
                            tensor->dims.count, bytes.data, bytes.size, qop->err);
    for (size_t i = 0; made && i < bytes.size; i++)
        by_lower_room(made)[i] ^= 0x80;
    qop->failed |= !made;
    return made;
}

void by_qop_change_sign(struct by_qop *qop, struct by_qop_input *input)
{
    const int64_t elem = input->params.elem == BY_ELEM_INT8 ? BY_ELEM_UINT8 : BY_ELEM_INT8;
    input->levels = other_sign(qop, input->levels, elem);
    input->params.zero = qop->failed ? NULL : other_sign(qop, input->params.zero, elem);
    input->params.elem = elem;
}

/* --- What nobody needs any more --- */

static bool may_go(const struct baryon_node *node)
{
    return node && (!strcmp(node->op_type, "DequantizeLinear") ||
                    !strcmp(node->op_type, "QuantizeLinear") || by_node_is(node, "Constant"));
}

static int drop(struct by_qop *qop, struct baryon_value *value)
{
    if (!value || !value->graph || value->use_count || by_value_is_kept(value))
        return 0;
    if (value->initializer)
        return by_lower_drop(value, qop->err);
    if (!may_go(value->producer))
        return 0;
    struct baryon_node *node = value->producer;
    struct baryon_value *inputs[3];
    for (size_t i = 0; i < 3; i++)
        inputs[i] = by_node_in(node, i);
    if (by_graph_remove_node(node, qop->err))
        return -1;
    for (size_t i = 0; i < 3; i++)
        if (drop(qop, inputs[i]))
            return -1;
    return 0;
}

/* The node and what only it needed. */
static int remove_node(struct by_qop *qop, struct baryon_node *node)
{
    const size_t count = node->input.count;
    struct baryon_value **inputs =
        by_arena_alloc(&qop->arena, count ? count : 1, sizeof(void *), qop->err);
    if (!inputs)
        return -1;
    for (size_t i = 0; i < count; i++)
        inputs[i] = by_node_in(node, i);
    if (by_graph_remove_node(node, qop->err))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (drop(qop, inputs[i]))
            return -1;
    return 0;
}

/* --- Outputs --- */

static struct baryon_value *bound(struct by_qop *qop, const struct by_qop_output *output,
                                  const char *suffix, int64_t level)
{
    const uint8_t byte = (uint8_t)level;
    return by_lower_new(qop->graph, output->value->name, suffix, output->params.elem, NULL, 0,
                        &byte, 1, qop->err);
}

/* What Relu or Clip cut and the levels do not. */
static struct baryon_value *clip(struct by_qop *qop, const struct by_qop_output *output,
                                 struct baryon_value *value)
{
    int64_t low, high;
    by_qop_range(output->params.elem, &low, &high);
    if (output->low <= low && output->high >= high)
        return value;
    struct baryon_value *inputs[] = {value, bound(qop, output, "least", output->low), NULL};
    inputs[2] = inputs[1] ? bound(qop, output, "most", output->high) : NULL;
    return inputs[2]
               ? by_lower_step(qop->graph, "Clip", output->value->name, "Clip", inputs, 3, qop->err)
               : NULL;
}

/* The levels take the place of what QuantizeLinear gave, whose name they get. */
static int replace_output(struct by_qop *qop, const struct by_qop_output *output,
                          struct baryon_value *made)
{
    struct baryon_value *was = by_node_out(output->quantize, 0), *now;
    const char *name = was->name;
    made->elem = output->params.elem;
    made->shape = output->value->shape;
    if (!(now = clip(qop, output, made)))
        return -1;
    now->elem = made->elem;
    now->shape = made->shape;
    if (by_value_replace_uses(was, now, NULL, qop->err) || remove_node(qop, output->quantize))
        return -1;
    if (output->activation && remove_node(qop, output->activation))
        return -1;
    return by_value_rename(now, name, qop->err);
}

struct baryon_node *by_qop_carry_out(struct by_qop *qop, const struct by_qop_draft *draft,
                                     const char *op_type, const char *domain)
{
    struct baryon_node *node = draft->node, *made;
    const char **names = by_arena_alloc(&qop->arena, draft->output_count, sizeof *names, qop->err);
    if (!names)
        return NULL;
    for (size_t i = 0; i < draft->output_count; i++) {
        names[i] = NULL;
        if (draft->outputs[i].value &&
            !(names[i] = by_model_fresh_name(qop->model, draft->outputs[i].value->name, qop->err)))
            return NULL;
    }
    made = by_graph_add_node(qop->graph, op_type ? op_type : node->op_type, domain, node->name,
                             draft->inputs, draft->count, names, draft->output_count, qop->err);
    if (!made || by_lower_copy_attributes(node, made, qop->err))
        return NULL;
    for (size_t i = 0; i < draft->output_count; i++)
        if (draft->outputs[i].quantize &&
            replace_output(qop, &draft->outputs[i], by_node_out(made, i)))
            return NULL;
    return remove_node(qop, node) ? NULL : made;
}
