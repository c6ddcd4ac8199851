/* Refuses models, passes and plans that cannot be quantized as asked for. */
#include "quantize/refuse.h"

#include "ir/tensor.h"
#include "quant/form.h"

#include <string.h>

/* --- The model --- */

static int refuse_quantized_node(const struct baryon_node *node, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 64];
    by_fail(err, BARYON_ERR_UNSUPPORTED, "the model is already quantized: %s",
            by_node_label(node, label, sizeof label));
    return by_err_hint(
        err, "start from the float model; 'baryon inspect' shows how this model is quantized");
}

static int refuse_quantized(void *context, struct baryon_graph *graph, unsigned depth,
                            struct baryon_error *err)
{
    (void)context;
    (void)depth;
    for (size_t i = 0; i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (node && by_quant_form_of(node) != BY_QUANT_FORMS)
            return refuse_quantized_node(node, err);
    }
    return 0;
}

static int refuse_no_data(const struct by_quantize_options *options, struct baryon_error *err)
{
    const struct by_calibrate_options *calibrate = &options->calibrate;
    if (!by_recipe_needs_data(options->recipe) || options->data || options->stats ||
        calibrate->samples || calibrate->input.random)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "%s requires samples, none are given",
            options->recipe->approach == BY_APPROACH_STATIC ? "static quantization"
                                                            : "rounding reconstruction");
    return by_err_hint(err, "give samples (--data PATH), statistics of an earlier calibration "
                            "(--stats FILE), or random samples for a trial (--random N)");
}

int by_quantize_refuse(struct baryon_model *model, const struct by_quantize_options *options,
                       struct baryon_error *err)
{
    if (by_model_each_graph(model, refuse_quantized, NULL, err) < 0)
        return -1;
    return refuse_no_data(options, err);
}

/* --- Passes --- */

/* What the shifters and tables of the DPU compute instead of the operator. */
static bool simulates_dpu(const struct by_pass *pass)
{
    static const char *const names[] = {"leaky-relu-dpu",   "sigmoid-to-hard-sigmoid",
                                        "hard-sigmoid-dpu", "average-pool-dpu",
                                        "reduce-mean-dpu",  NULL};
    for (const char *const *name = names; *name; name++)
        if (!strcmp(pass->name, *name))
            return true;
    return false;
}

static bool by_default(const struct by_pass *pass, const struct by_recipe *recipe)
{
    const bool npu =
        recipe->hardware != BY_HARDWARE_NONE || recipe->operators == BY_OPERATORS_TRANSFORMER;
    if (simulates_dpu(pass))
        return recipe->simulate_dpu;
    if (!recipe->optimize)
        return false;
    return pass->fallback == BY_PASS_ON || (pass->fallback == BY_PASS_NPU && npu);
}

int by_quantize_choose_passes(const struct by_recipe *recipe, bool *on, struct baryon_error *err)
{
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    for (size_t i = 0; i < count; i++)
        on[i] = by_default(passes[i], recipe);
    for (size_t k = 0; k < recipe->passes.count; k++) {
        const char *name = recipe->passes.at[k].text;
        const bool off = *name == '-';
        if (by_pass_switch(on, name + off, !off, err) < 0)
            return -1;
    }
    return 0;
}

/* --- The plan and statistics --- */

int by_quantize_refuse_empty(const struct by_quant_plan *plan, struct baryon_error *err)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].state == BY_NODE_QUANTIZED)
            return 0;
    const char *why = "it has none of the operators to quantize";
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].state == BY_NODE_FLOAT && plan->nodes[i].why)
            why = plan->nodes[i].why;
    by_fail(err, BARYON_ERR_UNSUPPORTED, "no node of the model can be quantized: %s", why);
    return by_err_hint(err, "add operators with --extra-op-types or --all-op-types; 'baryon plan' "
                            "shows the reason for every node");
}
