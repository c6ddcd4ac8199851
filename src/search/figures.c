/* Adds up the multiply-adds of a plan by type and cost. */
#include "search/figures.h"

#include "base/format.h"
#include "dtype/dtype.h"
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

/* Bits of a value, scales and exponents left out. */
static double type_bits(const struct by_tensor_spec *spec)
{
    const struct by_elem_info *info = by_elem_info(spec->elem);
    if (spec->format)
        return by_dtype_bits(spec->format);
    if (spec->bits)
        return spec->bits;
    return info ? info->bits : 32;
}

static const struct by_tensor_spec as_float = {0};

static void take_wider(const struct by_tensor_spec **now, const struct by_tensor_spec *other)
{
    if (!*now || type_bits(other) > type_bits(*now))
        *now = other;
}

/* What a node multiplies; a value without a row is a float. */
static void find_specs(const struct by_quant_plan *plan, const struct by_quant_node *node,
                       const struct by_tensor_spec **activation,
                       const struct by_tensor_spec **weight)
{
    *activation = *weight = NULL;
    for (size_t slot = 0; slot < node->node->input.count && slot < 2; slot++) {
        const size_t row = by_quant_read(plan, node->node, slot);
        const struct by_quant_row *at = row == BY_NO_ROW ? NULL : &plan->rows.at[row];
        if (at && by_quant_reads(at, node->node, slot))
            take_wider(at->role == BY_ROLE_ACTIVATION ? activation : weight, &at->spec);
    }
    if (!*activation)
        *activation = &as_float;
    if (!*weight)
        *weight = *activation;
}

static const struct by_mac_cost *cost_of(const struct by_target_ladder *ladder,
                                         const struct by_tensor_spec *activation,
                                         const struct by_tensor_spec *weight)
{
    char one[64], other[64];
    by_spec_type(activation, one, sizeof one);
    by_spec_type(weight, other, sizeof other);
    for (size_t i = 0; i < ladder->mac_count; i++)
        if (by_glob(ladder->macs[i].activation, one) && by_glob(ladder->macs[i].weight, other))
            return &ladder->macs[i];
    return NULL;
}

static void add_width(struct by_auto_figures *figures, const char *type, double macs)
{
    size_t i = 0;
    while (i < figures->width_count && strcmp(figures->widths[i].type, type) != 0)
        i++;
    if (i == figures->width_count) {
        if (i == BY_AUTO_WIDTHS)
            return;
        figures->width_count++;
        by_format(figures->widths[i].type, sizeof figures->widths[i].type, "%s", type);
    }
    figures->widths[i].share += macs;
}

static void sort_widths(struct by_auto_figures *figures)
{
    for (size_t i = 1; i < figures->width_count; i++)
        for (size_t k = i; k && figures->widths[k].share > figures->widths[k - 1].share; k--) {
            const struct by_auto_width other = figures->widths[k];
            figures->widths[k] = figures->widths[k - 1];
            figures->widths[k - 1] = other;
        }
}

void by_auto_figures_of(const struct by_quant_plan *plan, const struct by_target_ladder *ladder,
                        double bytes, struct by_auto_figures *figures)
{
    double all = 0;
    *figures = (struct by_auto_figures){0};
    for (size_t i = 0; i < plan->node_count; i++) {
        const struct by_quant_node *node = &plan->nodes[i];
        const struct by_tensor_spec *activation = &as_float, *weight = &as_float;
        char type[64];
        if (!(node->macs > 0) || node->state == BY_NODE_OTHER)
            continue;
        if (node->state == BY_NODE_QUANTIZED)
            find_specs(plan, node, &activation, &weight);
        const struct by_mac_cost *cost = cost_of(ladder, activation, weight);
        const struct by_tensor_spec *wider =
            type_bits(weight) > type_bits(activation) ? weight : activation;
        all += node->macs;
        figures->cost += node->macs * (cost ? cost->cost : 1);
        figures->wide_share += cost && cost->wide ? node->macs : 0;
        figures->low_share += type_bits(wider) <= 8 ? node->macs : 0;
        add_width(figures, by_spec_type(wider, type, sizeof type), node->macs);
    }
    const double unit = all > 0 ? all : 1;
    figures->cost = (figures->cost + bytes * ladder->byte_cost) / unit;
    figures->wide_share /= unit;
    figures->low_share /= unit;
    for (size_t i = 0; i < figures->width_count; i++)
        figures->widths[i].share /= unit;
    sort_widths(figures);
}
