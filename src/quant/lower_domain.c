/* Where QuantizeLinear and DequantizeLinear come from. ONNX's own take more types and forms the
 * newer the opset is; those of com.microsoft take 16 and 4 bits and axes with any. */
#include "ir/tensor.h"
#include "quant/lower.h"

struct need {
    int64_t opset;
    const char *what;
};

static void want(struct need *need, int64_t opset, const char *what)
{
    if (opset > need->opset)
        *need = (struct need){opset, what};
}

static struct need need_of(const struct by_quant_plan *plan)
{
    struct need need = {10, "QuantizeLinear"};
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct by_quant_row *row = &plan->rows.at[i];
        const int64_t since = (int64_t)by_elem_info(row->spec.elem)->opset;
        if (row->spec.elem != BY_ELEM_INT32)
            want(&need, since, by_elem_name(row->spec.elem));
        if (row->spec.elem == BY_ELEM_INT16 || row->spec.elem == BY_ELEM_UINT16)
            want(&need, 21, by_elem_name(row->spec.elem));
        if (row->params.axis >= 0)
            want(&need, 13, "quantization by channel");
        if (row->value->elem == BY_ELEM_FLOAT16)
            want(&need, 19, "quantization of float16");
        if (row->spec.granularity == BY_PER_GROUP)
            want(&need, 21, "quantization by group");
    }
    return need;
}

static bool has_groups(const struct by_quant_plan *plan)
{
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].spec.granularity == BY_PER_GROUP)
            return true;
    return false;
}

static int too_old(const struct need *need, int64_t opset, const char *also,
                   struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED, "%s needs opset %lld, the model has %lld", need->what,
            (long long)need->opset, (long long)opset);
    return by_err_hint(err, "convert it: --opset %lld%s", (long long)need->opset, also);
}

int by_quant_domain(const struct by_quant_plan *plan, const char **domain,
                    struct baryon_error *err)
{
    const struct need need = need_of(plan);
    const int64_t opset = by_model_opset(plan->model, "");
    const enum by_q_domain asked = plan->recipe->domain;
    const bool groups = has_groups(plan);
    *domain = "";
    if (asked != BY_Q_MICROSOFT && opset >= need.opset)
        return 0;
    if (groups)
        return opset >= need.opset ? 0 : too_old(&need, opset, "", err);
    if (asked == BY_Q_ONNX)
        return too_old(&need, opset, ", or take the operators of com.microsoft", err);
    *domain = "com.microsoft";
    return 0;
}
