/* Tensors of operators on integers: QLinearConv, MatMulInteger and their like. */
#include "compare/profile.h"

#include "ir/tensor.h"

#include <string.h>

#define NONE                                                                                       \
    {                                                                                              \
        -1, -1, -1                                                                                 \
    }

static const struct by_profile_operator_row rows[] = {
    {"QLinearConv", {0, 1, 2}, {3, 4, 5}, {8, -1, -1}, {0, 6, 7}},
    {"QLinearMatMul", {0, 1, 2}, {3, 4, 5}, NONE, {0, 6, 7}},
    {"QGemm", {0, 1, 2}, {3, 4, 5}, {6, -1, -1}, {0, 7, 8}},
    {"QLinearAdd", {0, 1, 2}, {3, 4, 5}, NONE, {0, 6, 7}},
    {"QLinearMul", {0, 1, 2}, {3, 4, 5}, NONE, {0, 6, 7}},
    {"QLinearWhere", {1, 2, 3}, {4, 5, 6}, NONE, {0, 7, 8}},
    {"QLinearConcat", {2, 3, 4}, {5, 6, 7}, NONE, {0, 0, 1}},
    {"QLinearAveragePool", {0, 1, 2}, NONE, NONE, {0, 3, 4}},
    {"QLinearGlobalAveragePool", {0, 1, 2}, NONE, NONE, {0, 3, 4}},
    {"QLinearLeakyRelu", {0, 1, 2}, NONE, NONE, {0, 3, 4}},
    {"QLinearReduceMean", {0, 1, 2}, NONE, NONE, {0, 3, 4}},
    {"QLinearSigmoid", {0, 1, 2}, NONE, NONE, {0, 3, 4}},
    {"QLinearSoftmax", {0, 1, 2}, NONE, NONE, {0, 3, 4}},
    {"ConvInteger", {0, -1, 2}, {1, -1, 3}, NONE, NONE},
    {"MatMulInteger", {0, -1, 2}, {1, -1, 3}, NONE, NONE},
    {"MatMulIntegerToFloat", {0, 2, 4}, {1, 3, 5}, {6, -1, -1}, NONE},
    {"DynamicQuantizeMatMul", {0, -1, -1}, {1, 2, 3}, {4, -1, -1}, NONE},
    {"DynamicQuantizeLSTM", {0, -1, -1}, {1, 8, 9}, NONE, NONE},
    {"QAttention", {0, 3, 6}, {1, 4, 7}, {2, -1, -1}, NONE},
};

const struct by_profile_operator_row *by_profile_operator_row(const struct baryon_node *node)
{
    for (size_t i = 0; node->op_type && i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].op_type, node->op_type))
            return &rows[i];
    return NULL;
}

static const struct baryon_value *input_at(const struct baryon_node *node, int slot)
{
    return slot < 0 ? NULL : by_node_in(node, (size_t)slot);
}

static int64_t type_of_part(const struct baryon_node *node, const struct by_profile_slots *slots,
                            const struct baryon_value *value)
{
    const struct baryon_tensor *zeros = by_value_constant(input_at(node, slots->zero)),
                               *stored = by_value_constant(value);
    if (stored || zeros)
        return stored ? stored->data_type : zeros->data_type;
    return value && value->elem ? value->elem : BY_ELEM_UINT8;
}

static int add_part(struct by_profile *profile, const struct baryon_node *node,
                    const struct by_profile_slots *slots, const struct baryon_value *value,
                    enum by_role role, struct baryon_error *err)
{
    struct by_profile_tensor tensor = {.role = role, .elem = type_of_part(node, slots, value)};
    const struct baryon_tensor *stored = by_value_constant(value);
    const size_t rank = stored ? stored->dims.count : 0;
    const bool is_conv = strstr(node->op_type, "Conv") != NULL;
    size_t at;
    tensor.stored = stored;
    tensor.type = by_profile_elem(tensor.elem);
    tensor.name = by_profile_name(&profile->arena, value->name, err);
    if (!tensor.name ||
        by_profile_read(&profile->arena, by_value_constant(input_at(node, slots->scale)),
                        by_value_constant(input_at(node, slots->zero)),
                        is_conv || !rank ? 0 : (int)rank - 1, &tensor.params, err) < 0 ||
        by_profile_add(profile, &tensor, &at, err) < 0)
        return -1;
    return by_profile_set_holds(profile, value, at, err);
}

/* Constants; what nodes compute was added where it came from. */
static int add_constant(struct by_profile *profile, const struct baryon_node *node,
                        const struct by_profile_slots *slots, enum by_role role,
                        struct baryon_error *err)
{
    const struct baryon_value *value = input_at(node, slots->value);
    const struct baryon_tensor *stored = by_value_constant(value);
    const struct by_elem_info *info = stored ? by_elem_info(stored->data_type) : NULL;
    if (!info || info->class != BY_CLASS_INT || by_profile_holds(profile, value) != BY_NO_ROW)
        return 0;
    return add_part(profile, node, slots, value, role, err);
}

static int add_dynamic(struct by_profile *profile, const struct baryon_node *node,
                       struct baryon_error *err)
{
    struct by_profile_tensor tensor = {.role = BY_ROLE_ACTIVATION, .elem = BY_ELEM_UINT8};
    size_t at;
    if (!by_node_in(node, 0) || !by_node_out(node, 0))
        return 0;
    if (by_value_constant(by_node_in(node, 0)))
        tensor.role = BY_ROLE_WEIGHT;
    tensor.type = by_profile_elem(tensor.elem);
    tensor.name = by_profile_name(&profile->arena, by_node_in(node, 0)->name, err);
    if (!tensor.name || by_profile_add(profile, &tensor, &at, err) < 0)
        return -1;
    return by_profile_set_holds(profile, by_node_out(node, 0), at, err);
}

int by_profile_operator(struct by_profile *profile, struct baryon_node *node,
                        struct baryon_error *err)
{
    const struct by_profile_operator_row *row = by_profile_operator_row(node);
    if (by_node_is(node, "DynamicQuantizeLinear"))
        return add_dynamic(profile, node, err);
    if (!row)
        return 0;
    if (add_constant(profile, node, &row->data, BY_ROLE_WEIGHT, err) < 0 ||
        add_constant(profile, node, &row->weight, BY_ROLE_WEIGHT, err) < 0 ||
        add_constant(profile, node, &row->bias, BY_ROLE_BIAS, err) < 0)
        return -1;
    if (row->output.value < 0 || !by_node_out(node, 0))
        return 0;
    return add_part(profile, node, &row->output, by_node_out(node, 0), BY_ROLE_ACTIVATION, err);
}
