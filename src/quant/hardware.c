/* Checks a quantized model against the rules of a target. */
#include "quant/hardware.h"

#include "base/err.h"
#include "ir/tensor.h"
#include "quant/raise.h"
#include "quant/refine.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const struct by_hardware_target targets[] = {
    {
        .name = "xint8",
        .help = "Ryzen AI: symmetric int8, one power-of-two scale per tensor, shifts in the range "
                "of the hardware",
        .symmetric_int8 = true,
        .pow2 = true,
    },
    {
        .name = "vitis-ai",
        .help = "Vitis AI compiler: as xint8, but parts of the model may stay float",
        .symmetric_int8 = true,
        .pow2 = true,
        .float_nodes = true,
    },
};

const struct by_hardware_target *by_hardware_targets(size_t *count)
{
    *count = sizeof targets / sizeof *targets;
    return targets;
}

const struct by_hardware_target *by_hardware_target_find(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}

/* --- Rules on single tensors --- */

static void check_type(const struct by_quant_row *row, struct by_str *broken)
{
    const struct by_params *params = &row->params;
    const bool is_signed = row->spec.elem == BY_ELEM_INT8;
    char quoted[BY_QUOTE_MAX];
    by_quote(quoted, row->value->name);
    if (!is_signed && row->spec.elem != BY_ELEM_UINT8) {
        by_str_printf(broken, "%s\ttype %s, must have 8 bits\n", quoted,
                      by_elem_name(row->spec.elem));
        return;
    }
    for (size_t i = 0; i < params->count; i++)
        if (params->zeros[i] != (is_signed ? 0 : 128)) {
            by_str_printf(broken,
                          "%s\tzero point %" PRId64 ", must be 0 for int8 and 128 for uint8\n",
                          quoted, params->zeros[i]);
            return;
        }
}

static void check_scale(const struct by_quant_row *row, struct by_str *broken)
{
    char quoted[BY_QUOTE_MAX];
    int exponent;
    by_quote(quoted, row->value->name);
    if (row->params.count != 1)
        by_str_printf(broken, "%s\t%zu scales, must be one per tensor\n", quoted,
                      row->params.count);
    else if (frexpf(row->params.scales[0], &exponent) != 0.5f)
        by_str_printf(broken, "%s\tscale %.9g, must be a power of two\n", quoted,
                      (double)row->params.scales[0]);
}

static void check_rows(const struct by_quant_plan *plan, const struct by_hardware_target *target,
                       struct by_str *broken)
{
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        if (target->symmetric_int8)
            check_type(row, broken);
        if (target->pow2)
            check_scale(row, broken);
    }
}

/* --- Layers that are not quantized at all --- */

static void check_layers_quantized(const struct by_quant_plan *plan, struct by_str *broken)
{
    static const char *const layers[] = {"Conv", "ConvTranspose", "Gemm", "MatMul", NULL};
    char label[BY_QUOTE_MAX + 64];
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].state != BY_NODE_QUANTIZED &&
            by_node_is_one_of(plan->nodes[i].node, layers))
            by_str_printf(broken, "%s\tlayer is float, must be quantized\n",
                          by_node_label(plan->nodes[i].node, label, sizeof label));
}

int by_hardware_check(struct baryon_model *model, const struct by_hardware_target *target,
                      struct by_str *broken, size_t *count, struct baryon_error *err)
{
    const struct by_recipe recipe = {.hardware = BY_HARDWARE_XINT8};
    struct by_quant_plan *plan;
    if (by_quant_plan_open(&plan, model, &recipe, err) < 0)
        return -1;
    int status = by_raise(plan, err);
    if (status == 0) {
        check_rows(plan, target, broken);
        if (!target->float_nodes)
            check_layers_quantized(plan, broken);
        status = by_refine_check(plan, broken, count, err);
    }
    by_quant_plan_close(plan);
    return status == 0 ? by_str_error(broken, err) : -1;
}
