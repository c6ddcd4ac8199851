/* Operators of com.microsoft that take and give scales. Inputs and output have one type. */
#include "quant/lower_qoperator.h"

static bool begin_math_draft(struct by_qop *qop, struct baryon_node *node, size_t inputs,
                             struct by_qop_draft *draft)
{
    return by_qop_draft(qop, node, inputs, 1, draft) &&
           by_qop_output(qop, by_node_out(node, 0), &draft->outputs[0]);
}

/* The operator can read inputs from `first` on, which have the output's type or are constant. */
static bool agree(struct by_qop *qop, const struct baryon_node *node, size_t first,
                  const struct by_qop_draft *draft)
{
    struct by_qop_input input;
    for (size_t i = first; i < node->input.count; i++)
        if (!by_qop_tensor(qop, by_node_in(node, i), &input) ||
            (input.params.elem != draft->outputs[0].params.elem && !input.levels->initializer))
            return false;
    return true;
}

/* Adds levels, scale and zero point of each of them. */
static bool add_level_inputs(struct by_qop *qop, const struct baryon_node *node, size_t first,
                             struct by_qop_draft *draft)
{
    const int64_t elem = draft->outputs[0].params.elem;
    struct by_qop_input input;
    for (size_t i = first; i < node->input.count; i++) {
        if (!by_qop_tensor(qop, by_node_in(node, i), &input))
            return false;
        if (input.params.elem != elem)
            by_qop_change_sign(qop, &input);
        by_qop_add_input(draft, &input);
    }
    return !qop->failed;
}

static bool finish_draft(struct by_qop_draft *draft)
{
    by_qop_add_params(draft, &draft->outputs[0].params);
    return true;
}

bool by_qop_unary(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    return node->input.count == 1 && by_qop_binary(qop, node, draft);
}

bool by_qop_binary(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    return begin_math_draft(qop, node, 8, draft) && agree(qop, node, 0, draft) &&
           add_level_inputs(qop, node, 0, draft) && finish_draft(draft);
}

/* Holes in the window came to AveragePool with opset 19, not to its integer form. */
bool by_qop_average(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    return !by_node_attr(node, "dilations") && by_qop_unary(qop, node, draft);
}

bool by_qop_where(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    if (!begin_math_draft(qop, node, 9, draft) || !agree(qop, node, 1, draft))
        return false;
    by_qop_add(draft, by_node_in(node, 0));
    return add_level_inputs(qop, node, 1, draft) && finish_draft(draft);
}

bool by_qop_concat(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft)
{
    if (!begin_math_draft(qop, node, 2 + 3 * node->input.count, draft) ||
        !agree(qop, node, 0, draft))
        return false;
    by_qop_add_params(draft, &draft->outputs[0].params);
    return add_level_inputs(qop, node, 0, draft);
}
