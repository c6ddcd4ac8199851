/*
 * Steps that move scales of finished models, by the rules that quantization has for plans: pairs
 * are read as a plan, the rules move its rows, and what moved is written back.
 */
#include "convert/params.h"

#include "base/str.h"
#include "config/nodes.h"
#include "pass/origins.h"
#include "quant/bias.h"
#include "quant/raise.h"
#include "quant/refine.h"
#include "quant/rescale.h"

#include <math.h>
#include <string.h>

/* Rules settle in a few rounds; some models have two that contradict each other. */
#define ROUNDS_MAX 100

/* --- Parameters --- */

static bool is_aligned(const char *op_type)
{
    size_t count;
    const struct by_refine_rule *const *rules = by_refine_rules(&count);
    for (size_t i = 0; i < count; i++)
        if (!rules[i]->pow2 && by_has_word(rules[i]->op_types, op_type))
            return true;
    return false;
}

static int refuse_operator(const struct by_doc_node *value, const char *op_type,
                           struct baryon_error *err)
{
    struct by_str text;
    char quoted[BY_QUOTE_MAX];
    size_t count;
    const struct by_refine_rule *const *rules = by_refine_rules(&count);
    by_str_init(&text);
    for (size_t i = 0; i < count; i++)
        if (!rules[i]->pow2)
            by_str_printf(&text, "%s%s", text.size ? " " : "", rules[i]->op_types);
    by_node_fail(value, err, "scales of %s cannot be aligned, the operator must be one of %s",
                 by_quote(quoted, op_type), by_str_text(&text));
    by_str_release(&text);
    return -1;
}

int by_take_align(struct by_converting *at, const struct by_doc_node *value,
                  struct baryon_error *err)
{
    const struct by_patterns *types = &at->step->op_types;
    if (by_take_only_ops(at, value, err))
        return -1;
    for (size_t i = 0; i < types->count; i++)
        if (!is_aligned(types->at[i].text))
            return refuse_operator(value, types->at[i].text, err);
    if (value->kind != BY_DOC_NULL)
        at->on = types->count > 0;
    return 0;
}

static int take_number(const struct by_doc_node *value, const char *name, double least, bool above,
                       double *number, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (value->kind == BY_DOC_SCALAR && by_parse_double(value->text, number) && isfinite(*number) &&
        (above ? *number > least : *number >= least))
        return 0;
    return by_node_fail(value, err, "%s: %s, must be a number %s %g", name,
                        by_node_kind(value, quoted), above ? "greater than" : "of at least", least);
}

int by_take_least_scale(struct by_converting *at, const struct by_doc_node *value,
                        struct baryon_error *err)
{
    return take_number(value, "min_w_scale", 0, true, &at->step->bound.least, err);
}

int by_take_ratio(struct by_converting *at, const struct by_doc_node *value,
                  struct baryon_error *err)
{
    return take_number(value, "maxmin_scale_ratio", 1, false, &at->step->bound.ratio, err);
}

int by_take_adaptive(struct by_converting *at, const struct by_doc_node *value,
                     struct baryon_error *err)
{
    return by_node_flag(value, &at->step->bound.adaptive, err);
}

int by_take_follow(struct by_converting *at, const struct by_doc_node *value,
                   struct baryon_error *err)
{
    bool follow;
    if (by_node_flag(value, &follow, err))
        return -1;
    at->step->leave_biases = !follow;
    return 0;
}

/* --- The model as a plan, and back --- */

struct moving {
    const struct by_convert_step *step;
    struct by_pass_context *context;
    struct by_quant_plan *plan;
};

typedef int move_fn(const struct moving *moving, struct baryon_error *err);

static int refuse_float(struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "nothing is quantized: there is no DequantizeLinear with a constant scale");
    return by_err_hint(err, "passes that move scales are for quantized models with Q/DQ pairs: "
                            "quantize the model first");
}

static int move_and_write(const struct moving *moving, move_fn *move, struct baryon_error *err)
{
    struct by_rescaling rescaling;
    struct by_pass_context *context = moving->context;
    if (by_raise(moving->plan, err))
        return -1;
    if (!moving->plan->rows.count)
        return refuse_float(err);
    return by_rescale_open(&rescaling, moving->plan, err) || move(moving, err) ||
                   by_origins_before(context->origins, err) ||
                   by_rescale_write(&rescaling, context->log, &context->changes, err) ||
                   by_origins_after(context->origins, err)
               ? -1
               : 0;
}

/* Constants of nodes become initializers, which is where plans look for parameters. */
static int lift_constants(const struct moving *moving, struct baryon_error *err)
{
    struct by_pass_context context = *moving->context;
    struct by_arena arena;
    size_t count;
    by_passes(&count);
    by_arena_init(&arena, 0);
    bool *on = by_arena_alloc(&arena, count, sizeof *on, err);
    const int failed = !on || by_pass_switch(on, "lift-constants", true, err) ||
                       by_passes_run(&context, on, NULL, err);
    by_arena_release(&arena);
    return failed ? -1 : 0;
}

static int move_scales(const struct by_convert_step *step, struct by_pass_context *context,
                       const struct by_recipe *recipe, move_fn *move, struct baryon_error *err)
{
    struct moving moving = {.step = step, .context = context};
    if (lift_constants(&moving, err) ||
        by_quant_plan_open(&moving.plan, context->model, recipe, err))
        return -1;
    const int failed = move_and_write(&moving, move, err);
    by_quant_plan_close(moving.plan);
    return failed ? -1 : by_model_settle(context->model, err);
}

/* --- The rules --- */

/* Biases that are products stay products, whichever scale moves. */
static int refine(const struct moving *moving, struct baryon_error *err)
{
    by_raise_biases(moving->plan, false, NULL);
    return by_refine(moving->plan, err);
}

static size_t count_pow2(const struct by_quant_plan *plan)
{
    size_t count = 0;
    int exponent;
    for (size_t i = 0; i < plan->rows.count; i++)
        count += plan->rows.at[i].params.count == 1 &&
                 frexpf(plan->rows.at[i].params.scales[0], &exponent) == 0.5f;
    return count;
}

/* What is left is what contradicts something: given parameters, or another rule. */
static int tell_broken(const struct moving *moving, struct baryon_error *err)
{
    struct by_str broken;
    size_t count;
    by_str_init(&broken);
    const int failed = by_refine_check(moving->plan, &broken, &count, err);
    if (!failed && count)
        by_log(moving->context->log, BY_LOG_WARNING,
               "%zu rules of XINT8 are still broken; 'baryon check --target xint8' lists them",
               count);
    by_str_release(&broken);
    return failed;
}

static int move_xint8(const struct moving *moving, struct baryon_error *err)
{
    const size_t count = count_pow2(moving->plan);
    if (count < moving->plan->rows.count)
        by_log(moving->context->log, BY_LOG_WARNING,
               "%s: %zu of %zu quantized tensors have one scale that is a power of two, only these "
               "are adjusted",
               moving->step->name, count, moving->plan->rows.count);
    return refine(moving, err) || tell_broken(moving, err) ? -1 : 0;
}

int by_convert_xint8(const struct by_convert_step *step, struct by_pass_context *context,
                     struct baryon_error *err)
{
    const struct by_recipe recipe = {.hardware = BY_HARDWARE_XINT8, .refine_rounds = ROUNDS_MAX};
    return move_scales(step, context, &recipe, move_xint8, err);
}

static bool is_wanted(const struct by_convert_step *step, const struct baryon_node *node)
{
    for (size_t i = 0; i < step->op_types.count; i++)
        if (by_node_is(node, step->op_types.at[i].text))
            return true;
    return !step->op_types.count;
}

/* Rules are only for nodes that count as quantized. */
static int move_aligned(const struct moving *moving, struct baryon_error *err)
{
    for (size_t i = 0; i < moving->plan->node_count; i++)
        if (!is_wanted(moving->step, moving->plan->nodes[i].node))
            moving->plan->nodes[i].state = BY_NODE_FLOAT;
    return refine(moving, err);
}

#define RULES_MAX 32

int by_convert_align(const struct by_convert_step *step, struct by_pass_context *context,
                     struct baryon_error *err)
{
    struct by_pattern on[RULES_MAX];
    struct by_recipe recipe = {.hardware = BY_HARDWARE_EXTENDED, .refine_rounds = ROUNDS_MAX};
    size_t count;
    const struct by_refine_rule *const *rules = by_refine_rules(&count);
    recipe.refine.at = on;
    for (size_t i = 0; i < count && recipe.refine.count < RULES_MAX; i++)
        if (!rules[i]->pow2)
            on[recipe.refine.count++] = (struct by_pattern){.text = rules[i]->name};
    return move_scales(step, context, &recipe, move_aligned, err);
}

static int move_biases(const struct moving *moving, struct baryon_error *err)
{
    size_t kept;
    by_raise_biases(moving->plan, true, &kept);
    if (kept)
        by_log(moving->context->log, BY_LOG_NOTICE,
               "%s: %zu biases keep a scale of their own: they are not int32, several layers read "
               "them, or their channels are not the weight's",
               moving->step->name, kept);
    return by_bias_scales(moving->plan, err);
}

int by_convert_bias_scales(const struct by_convert_step *step, struct by_pass_context *context,
                           struct baryon_error *err)
{
    const struct by_recipe recipe = {0};
    return move_scales(step, context, &recipe, move_biases, err);
}

static int move_bound(const struct moving *moving, struct baryon_error *err)
{
    if (!moving->step->leave_biases)
        by_raise_biases(moving->plan, false, NULL);
    return by_bound_spread(moving->plan, &moving->step->bound, err) ||
                   by_bias_scales(moving->plan, err)
               ? -1
               : 0;
}

int by_convert_bound(const struct by_convert_step *step, struct by_pass_context *context,
                     struct baryon_error *err)
{
    const struct by_recipe recipe = {0};
    return move_scales(step, context, &recipe, move_bound, err);
}
