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

/* ONNX Runtime makes QLinearConv and the like of pairs of either domain; ONNX has them from here.
 */
#define LEAST_OPSET 10

int64_t by_quant_least_opset(const struct by_recipe *recipe)
{
    const struct by_tensor_spec *specs[] = {&recipe->activation, &recipe->weight, &recipe->bias};
    int64_t least = LEAST_OPSET + 1; /* 10 has few operators that runtimes keep */
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        const struct by_elem_info *info = by_elem_info(specs[i]->elem);
        if (specs[i]->granularity == BY_PER_CHANNEL && least < 13)
            least = 13;
        if (specs[i]->granularity == BY_PER_GROUP ||
            (recipe->domain == BY_Q_ONNX && info && info->bits == 16))
            least = 21;
        /* Levels of fewer bits are stored as what the opset has. */
        if (recipe->domain != BY_Q_MICROSOFT && info && info->bits == 4 && !specs[i]->bits)
            least = 21;
    }
    return recipe->approach == BY_APPROACH_NBITS ? 0 : least;
}

bool by_quant_must_raise(const struct by_recipe *recipe, int64_t opset)
{
    const struct by_tensor_spec *specs[] = {&recipe->activation, &recipe->weight, &recipe->bias};
    const int64_t least = by_quant_least_opset(recipe);
    bool only_onnx = recipe->domain == BY_Q_ONNX;
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        only_onnx |= specs[i]->granularity == BY_PER_GROUP;
    return opset < (only_onnx ? least : least ? LEAST_OPSET : 0);
}

static struct need need_of(const struct by_quant_plan *plan)
{
    struct need need = {LEAST_OPSET, "QuantizeLinear"};
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

int by_quant_domain(const struct by_quant_plan *plan, const char **domain, struct baryon_error *err)
{
    const struct need need = need_of(plan);
    const int64_t opset = by_model_opset(plan->model, "");
    const enum by_q_domain asked = plan->recipe->domain;
    const bool groups = has_groups(plan);
    *domain = "";
    if (opset < LEAST_OPSET)
        return too_old(&need, opset, "", err);
    if (asked != BY_Q_MICROSOFT && opset >= need.opset)
        return 0;
    if (groups)
        return opset >= need.opset ? 0 : too_old(&need, opset, "", err);
    if (asked == BY_Q_ONNX)
        return too_old(&need, opset, ", or take the operators of com.microsoft", err);
    *domain = "com.microsoft";
    return 0;
}
