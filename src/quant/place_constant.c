/* Rows of weights, other constants and biases. */
#include "quant/place_internal.h"

static const char *const role_names[] = {
    [BY_SLOT_WEIGHT] = "weight",
    [BY_SLOT_CONSTANT] = "constant",
    [BY_SLOT_TABLE] = "table",
    [BY_SLOT_BIAS] = "bias",
};

static const char *reason(struct by_placing *placing, const struct baryon_node *node,
                          enum by_slot_role role, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    return by_place_text(placing, err, "%s of %s", role_names[role],
                         by_node_label(node, label, sizeof label));
}

/* What cannot have parameters along an axis has one pair for all. */
static void settle_granularity(struct by_tensor_spec *spec, int axis, int group_axis)
{
    if (axis < 0)
        spec->granularity = BY_PER_TENSOR;
    else if (group_axis < 0)
        spec->granularity = BY_PER_CHANNEL;
    if (spec->granularity != BY_PER_GROUP)
        spec->group = 0;
}

/* Where the parameters of a constant lie. */
struct axes {
    int channel, group, block;
    bool matrix; /* of the constant as one matrix */
};

static bool is_same(const struct by_quant_row *row, enum by_role role,
                    const struct by_tensor_spec *spec, const struct axes *axes)
{
    return row->role == role && role == BY_ROLE_WEIGHT && row->spec.elem == spec->elem &&
           row->spec.format == spec->format && row->spec.bits == spec->bits &&
           row->spec.symmetric == spec->symmetric && row->spec.scale == spec->scale &&
           row->spec.reduce_range == spec->reduce_range && row->spec.method == spec->method &&
           row->spec.group == spec->group && row->params.axis == axes->channel &&
           row->params.group_axis == axes->group && (row->matrix.count > 0) == axes->matrix &&
           (!by_spec_is_block(spec) || row->block_axis == axes->block);
}

/* A constant that other places want otherwise gets a copy, which shares its bytes. */
static struct baryon_value *own_constant(struct baryon_node *node, size_t slot,
                                         struct baryon_error *err)
{
    struct baryon_value *old = by_node_in(node, slot);
    struct baryon_value *copy = by_graph_duplicate_initializer(old, err);
    if (!copy)
        return NULL;
    copy->elem = old->elem;
    copy->shape = old->shape;
    return by_node_set_input(node, slot, copy, err) ? NULL : copy;
}

static size_t add_constant(struct by_placing *placing, struct baryon_node *node, size_t slot,
                           enum by_role role, const struct by_tensor_spec *spec, const char *why,
                           struct baryon_error *err)
{
    struct baryon_value *value = by_node_in(node, slot);
    if (by_quant_find(placing->plan, value) != BY_NO_ROW)
        value = own_constant(node, slot, err);
    const size_t row =
        value && why ? by_quant_add(placing->plan, value, role, spec, why, err) : BY_NO_ROW;
    if (row == BY_NO_ROW ||
        by_quant_add_reader(placing->plan, row, node, placing->graph, slot, err))
        return BY_NO_ROW;
    return row;
}

static size_t elements_of_constant(const struct baryon_value *value)
{
    size_t count;
    return by_tensor_count(value->initializer, &count, NULL) ? 0 : count;
}

/* --- Few bits --- */

#define BEFORE_2_BITS 24 /* the last opset whose operators have no types of 2 bits */

/* ONNX Runtime 1.31 makes MatMulNBits of a product with 2 bits, and mixes up columns that do not
 * fill bytes. */
static bool is_misread(const struct baryon_node *node, size_t slot)
{
    const struct by_ints *dims = &by_node_in(node, slot)->initializer->dims;
    const bool product =
        by_node_is(node, "MatMul") || (by_node_is(node, "Gemm") && !by_node_int(node, "transB", 0));
    return product && slot == 1 && dims->count == 2 && dims->at[1] % 4;
}

/* A single element stays as it is in blocks, of whatever type. */
static bool can_store_blocks(const struct by_recipe *recipe, const struct by_tensor_spec *spec,
                             const struct baryon_value *value)
{
    return by_spec_is_block(spec) && !recipe->keep_float_blocks && value->elem == BY_ELEM_FLOAT &&
           elements_of_constant(value) > 1;
}

static int constant_spec(struct by_placing *placing, const struct baryon_node *node, size_t slot,
                         enum by_slot_role role, struct by_tensor_spec *spec,
                         struct baryon_error *err)
{
    const int64_t opset = by_model_opset(placing->plan->model, "");
    const bool wider = opset > BEFORE_2_BITS && is_misread(node, slot);
    if (by_place_constant_spec(placing, node, slot, role, spec, err))
        return -1;
    by_spec_store(spec, placing->recipe, wider ? BEFORE_2_BITS : opset);
    if (spec->format)
        spec->granularity = BY_PER_TENSOR;
    if (can_store_blocks(placing->recipe, spec, by_node_in(node, slot)))
        spec->elem = by_spec_block_codes(spec->format, placing->recipe->block_form, opset)->elem;
    return 0;
}

/* --- Weights --- */

static void nbits_spec(const struct by_recipe *recipe, struct by_tensor_spec *spec)
{
    spec->elem = recipe->nbits.bits == 2   ? BY_ELEM_UINT2
                 : recipe->nbits.bits == 4 ? BY_ELEM_UINT4
                                           : BY_ELEM_UINT8;
    spec->symmetric = recipe->nbits.symmetric;
    spec->scale = BY_SCALE_FLOAT32;
    spec->granularity = BY_PER_GROUP;
    spec->group = recipe->nbits.group;
}

/* DequantizeLinear has scales along one axis: of two directions they lie along the rows of both. */
static bool wants_matrix(const struct by_placing *placing, const struct baryon_node *node,
                         size_t slot, const struct by_tensor_spec *spec, int channel)
{
    const struct by_place_op *op = placing->ops[node->index];
    return (op->flags & BY_PLACE_RECURRENT) && channel == 1 && by_spec_is_integer(spec) &&
           !placing->recipe->keep_float_weights &&
           by_node_in(node, slot)->initializer->dims.at[0] > 1;
}

static void find_axes(const struct by_placing *placing, const struct baryon_node *node, size_t slot,
                      struct by_tensor_spec *spec, struct axes *axes)
{
    by_place_axes(placing, node, slot, spec, &axes->channel, &axes->group);
    axes->matrix = wants_matrix(placing, node, slot, spec, axes->channel);
    if (axes->matrix) {
        axes->channel = 0;
        axes->group = axes->group < 0 ? -1 : 1;
    }
    settle_granularity(spec, axes->channel, axes->group);
    if (spec->granularity != BY_PER_GROUP)
        axes->group = -1;
    axes->block = by_place_block_axis(node, slot, spec);
}

static int set_axes(struct by_quant_plan *plan, size_t index, const struct axes *axes,
                    struct baryon_error *err)
{
    struct by_quant_row *row = &plan->rows.at[index];
    const struct by_ints *dims = &row->value->initializer->dims;
    row->block_axis = axes->block;
    row->params.axis = axes->channel;
    row->params.group_axis = axes->group;
    if (!axes->matrix)
        return 0;
    int64_t *matrix = by_arena_alloc(&plan->arena, 2, sizeof *matrix, err);
    if (!matrix)
        return -1;
    matrix[0] = dims->at[0] * dims->at[1];
    matrix[1] = dims->at[2];
    row->matrix = (struct by_ints){.at = matrix, .count = 2};
    return 0;
}

int by_place_constant(struct by_placing *placing, struct baryon_node *node, size_t slot,
                      enum by_slot_role role, struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    struct by_tensor_spec spec;
    struct axes axes;
    if (constant_spec(placing, node, slot, role, &spec, err))
        return -1;
    if (!spec.elem)
        return 0;
    if (placing->recipe->approach == BY_APPROACH_NBITS)
        nbits_spec(placing->recipe, &spec);
    const bool wants_channels = spec.granularity == BY_PER_CHANNEL;
    find_axes(placing, node, slot, &spec, &axes);
    const size_t known = by_quant_find(plan, by_node_in(node, slot));
    if (known != BY_NO_ROW && is_same(&plan->rows.at[known], BY_ROLE_WEIGHT, &spec, &axes))
        return by_quant_add_reader(plan, known, node, placing->graph, slot, err);
    const size_t row = add_constant(placing, node, slot, BY_ROLE_WEIGHT, &spec,
                                    reason(placing, node, role, err), err);
    if (row == BY_NO_ROW)
        return -1;
    if (wants_channels && spec.granularity == BY_PER_TENSOR && by_node_is(node, "MatMul") &&
        by_quant_remark(plan, row, "granularity", err,
                        "one scale: QLinearMatMul takes scales per channel of matrices only") < 0)
        return -1;
    return set_axes(plan, row, &axes, err);
}

/* --- Biases --- */

static size_t channels_of(const struct by_quant_row *weight)
{
    return weight->params.axis < 0
               ? 1
               : (size_t)weight->value->initializer->dims.at[weight->params.axis];
}

/* The units that a layer counts its sums in are those of its inputs' product. */
static double sum_factor(const struct baryon_node *node)
{
    if (!by_node_is(node, "Gemm"))
        return 1;
    const double beta = (double)by_node_float(node, "beta", 1);
    return beta == 0 ? 0 : (double)by_node_float(node, "alpha", 1) / beta;
}

static int bias_of_own(struct by_placing *placing, struct baryon_node *node, size_t slot,
                       struct baryon_error *err)
{
    struct by_tensor_spec spec;
    if (constant_spec(placing, node, slot, BY_SLOT_BIAS, &spec, err))
        return -1;
    if (!spec.elem)
        return 0;
    const bool channels =
        spec.granularity != BY_PER_TENSOR && by_node_in(node, slot)->initializer->dims.count == 1;
    settle_granularity(&spec, channels ? 0 : -1, -1);
    const size_t row = add_constant(placing, node, slot, BY_ROLE_BIAS, &spec,
                                    reason(placing, node, BY_SLOT_BIAS, err), err);
    if (row == BY_NO_ROW)
        return -1;
    placing->plan->rows.at[row].block_axis = by_place_block_axis(node, slot, &spec);
    placing->plan->rows.at[row].params.axis = channels ? 0 : -1;
    return 0;
}

/* True when a sum's units can be given one scale for each element of the bias, or one for all. */
static bool has_units(const struct by_placing *placing, const struct baryon_node *node, size_t slot,
                      size_t input, size_t weight)
{
    const struct by_quant_plan *plan = placing->plan;
    if (input == BY_NO_ROW || weight == BY_NO_ROW || sum_factor(node) <= 0)
        return false;
    const struct by_quant_row *row = &plan->rows.at[weight];
    const struct baryon_value *bias = by_node_in(node, slot);
    return bias->elem == BY_ELEM_FLOAT && !row->spec.format && !plan->rows.at[input].spec.format &&
           row->spec.granularity != BY_PER_GROUP && plan->rows.at[input].params.axis < 0 &&
           (row->params.axis < 0 || elements_of_constant(bias) == channels_of(row));
}

static int bias_of_product(struct by_placing *placing, struct baryon_node *node, size_t slot,
                           size_t input, size_t weight, struct baryon_error *err)
{
    const struct by_tensor_spec spec = {.elem = BY_ELEM_INT32, .symmetric = true};
    struct by_quant_plan *plan = placing->plan;
    const size_t row = add_constant(placing, node, slot, BY_ROLE_BIAS, &spec,
                                    reason(placing, node, BY_SLOT_BIAS, err), err);
    if (row == BY_NO_ROW)
        return -1;
    struct by_quant_row *at = &plan->rows.at[row];
    at->input_row = input;
    at->weight_row = weight;
    at->beta = sum_factor(node);
    if (plan->rows.at[weight].params.axis >= 0) {
        at->spec.granularity = BY_PER_CHANNEL;
        at->params.axis = (int)at->value->initializer->dims.count - 1;
    }
    return 0;
}

int by_place_bias(struct by_placing *placing, struct baryon_node *node, size_t slot,
                  struct baryon_error *err)
{
    const struct by_recipe *recipe = placing->recipe;
    bool asked;
    if (by_place_bias_asked(placing, node, slot, &asked, err))
        return -1;
    if (asked || recipe->bias_kind == BY_BIAS_OWN)
        return bias_of_own(placing, node, slot, err);
    if (recipe->bias_kind == BY_BIAS_FLOAT)
        return 0;
    const struct by_opinfo *info = by_node_opinfo(node);
    const size_t input = by_quant_read(placing->plan, node, 0);
    const size_t weight = by_quant_find(placing->plan, by_node_in(node, (size_t)info->weight));
    return has_units(placing, node, slot, input, weight)
               ? bias_of_product(placing, node, slot, input, weight, err)
               : 0;
}
