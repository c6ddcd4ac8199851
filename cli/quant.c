/* Finds out how a model is quantized from its nodes, for `baryon inspect`. */
#include "cli/summary.h"

#include <string.h>

const char *by_quant_grain_name(enum by_quant_grain grain)
{
    static const char *const names[] = {
        [BY_GRAIN_TENSOR] = "per tensor",
        [BY_GRAIN_CHANNEL] = "per channel",
        [BY_GRAIN_BLOCK] = "per block",
    };
    return names[grain];
}

static void add_kind(struct by_quant *quant, enum by_quant_part role, enum by_quant_grain grain,
                     int64_t elem)
{
    for (size_t i = 0; i < quant->kind_count; i++) {
        struct by_quant_kind *kind = &quant->kinds[i];
        if (kind->role == role && kind->grain == grain && kind->elem == elem) {
            kind->count++;
            return;
        }
    }
    if (quant->kind_count < BY_QUANT_KINDS_MAX)
        quant->kinds[quant->kind_count++] = (struct by_quant_kind){role, grain, elem, 1};
}

static enum by_quant_grain grain_of(const struct baryon_node *node)
{
    const struct baryon_tensor *scale = by_value_constant(by_node_in(node, 1));
    size_t count;
    if (by_node_int(node, "block_size", 0) > 0)
        return BY_GRAIN_BLOCK;
    if (!scale || by_tensor_count(scale, &count, NULL) < 0 || count <= 1)
        return BY_GRAIN_TENSOR;
    return BY_GRAIN_CHANNEL;
}

static int64_t quantized_type(const struct baryon_node *node)
{
    const struct baryon_tensor *zero_point = by_value_constant(by_node_in(node, 2));
    if (zero_point)
        return zero_point->data_type;
    return by_node_int(node, "output_dtype", BY_ELEM_UINT8);
}

void by_quant_look(struct by_quant *quant, const struct baryon_node *node)
{
    const enum by_quant_form form = by_quant_form_of(node);
    if (form == BY_QUANT_FORMS)
        return;
    quant->forms[form]++;
    if (form != BY_QUANT_QDQ)
        return;
    const struct baryon_value *input = by_node_in(node, 0);
    const struct baryon_tensor *weight = by_value_constant(input);
    if (!strcmp(node->op_type, "QuantizeLinear"))
        add_kind(quant, weight ? BY_PART_WEIGHT : BY_PART_ACTIVATION, grain_of(node),
                 quantized_type(node));
    else if (weight)
        add_kind(quant, BY_PART_WEIGHT, grain_of(node), weight->data_type);
}
