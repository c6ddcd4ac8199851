/* A step that equalizes channels of layers, as 'baryon quantize --cle' does without samples. */
#include "convert/params.h"

#include "adjust/cle.h"
#include "base/str.h"
#include "config/nodes.h"
#include "ir/tensor.h"
#include "quant/place.h"

#include <math.h>
#include <string.h>

/* --- Parameters --- */

int by_take_replace(struct by_converting *at, const struct by_doc_node *value,
                    struct baryon_error *err)
{
    bool replace;
    if (by_node_flag(value, &replace, err))
        return -1;
    at->step->equalize.mode = replace ? BY_CLE_REPLACE : BY_CLE_KEEP;
    return 0;
}

/* -1, as theirs, or 0, as ours: until nothing moves. */
int by_take_cle_steps(struct by_converting *at, const struct by_doc_node *value,
                      struct baryon_error *err)
{
    int64_t steps;
    if (value->kind != BY_DOC_SCALAR || !by_parse_i64(value->text, &steps) || steps < -1 ||
        steps > 10000)
        return by_node_fail(
            value, err, "cle_steps: must be a whole number from -1 (until it converges) to 10000");
    at->step->equalize.steps = steps < 0 ? 0 : steps;
    return 0;
}

int by_take_cle_threshold(struct by_converting *at, const struct by_doc_node *value,
                          struct baryon_error *err)
{
    double *threshold = &at->step->equalize.threshold;
    if (value->kind == BY_DOC_SCALAR && by_parse_double(value->text, threshold) &&
        *threshold >= 0 && isfinite(*threshold))
        return 0;
    return by_node_fail(value, err, "cle_weight_threshold: must be a number, 0 or more");
}

/* There is one way here: by the greatest magnitude. */
int by_take_cle_balance(struct by_converting *at, const struct by_doc_node *value,
                        struct baryon_error *err)
{
    (void)at;
    if (value->kind == BY_DOC_SCALAR && strcmp(value->text, "max") == 0)
        return 0;
    return by_node_fail(value, err, "cle_balance_method: must be max");
}

int by_take_cle_bias(struct by_converting *at, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    bool with;
    (void)at;
    if (by_node_flag(value, &with, err))
        return -1;
    return !with ? 0
                 : by_node_fail(value, err, "cle_scale_append_bias: not supported, must be false");
}

int by_take_cle_difference(struct by_converting *at, const struct by_doc_node *value,
                           struct baryon_error *err)
{
    (void)at;
    return by_node_fail(value, err,
                        "cle_total_layer_diff_threshold: not supported; equalization ends when it "
                        "converges, or after cle_steps");
}

int by_take_cle_uses(struct by_converting *at, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    bool on;
    if (by_node_flag(value, &on, err))
        return -1;
    at->step->equalize_all = !on;
    return 0;
}

/* --- Running --- */

static struct by_recipe recipe_of(const struct by_convert_step *step)
{
    const struct by_tensor_spec int8 = {.elem = BY_ELEM_INT8, .symmetric = true};
    return (struct by_recipe){.activation = int8,
                              .weight = int8,
                              .bias = int8,
                              .bias_kind = BY_BIAS_OWN,
                              .operators = BY_OPERATORS_CNN,
                              .op_types = step->op_types};
}

static int equalize(struct by_quant_plan *plan, const struct by_convert_step *step,
                    struct by_pass_context *context, struct baryon_error *err)
{
    struct by_cle_report report;
    bool replaced;
    const struct by_cle_options options = {.mode = step->equalize.mode,
                                           .threshold =
                                               step->equalize_all ? 0 : step->equalize.threshold,
                                           .steps = step->equalize.steps,
                                           .only_quantized = true};
    if (by_place(plan, context->origins, NULL, err) || by_origins_before(context->origins, err) ||
        by_cle_run(plan, NULL, &options, &report, &replaced, err) ||
        by_origins_after(context->origins, err))
        return -1;
    by_log(context->log, BY_LOG_INFO, "%zu pairs of layers equalized", report.pairs);
    return 0;
}

int by_convert_equalize(const struct by_convert_step *step, struct by_pass_context *context,
                        struct baryon_error *err)
{
    const struct by_recipe recipe = recipe_of(step);
    struct by_quant_plan *plan;
    if (by_model_infer(context->model, NULL, err) ||
        by_quant_plan_open(&plan, context->model, &recipe, err))
        return -1;
    const int failed = equalize(plan, step, context, err);
    by_quant_plan_close(plan);
    return failed ? -1 : by_model_settle(context->model, err);
}
