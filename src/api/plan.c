/* The public interface: plans. */
#include "api/plan.h"

#include "base/str.h"
#include "quant/plan_view.h"

struct baryon_plan {
    struct by_plan_view view;
    struct baryon_plan_node *nodes;
    struct baryon_plan_tensor *tensors;
    struct baryon_plan_operator *operators;
    struct baryon_plan_stage stages[BY_STAGES_MAX];
    size_t stage_count;
    struct baryon_plan_rounding rounding; /* of no layers: there was none */
    struct by_str text;
};

static const char *const states[] = {
    [BY_NODE_QUANTIZED] = "quantized",
    [BY_NODE_FLOAT] = "float",
    [BY_NODE_OTHER] = "other",
};
static const char *const roles[] = {
    [BY_ROLE_ACTIVATION] = "activation",
    [BY_ROLE_WEIGHT] = "weight",
    [BY_ROLE_BIAS] = "bias",
};

static void fill_node(const struct by_view_node *from, struct baryon_plan_node *node)
{
    *node = (struct baryon_plan_node){.name = from->name,
                                      .op_type = from->op_type,
                                      .state = states[from->state],
                                      .why = from->why,
                                      .multiply_adds = from->open ? 0 : from->macs};
}

static void fill_tensor(const struct by_view_row *from, struct baryon_plan_tensor *tensor)
{
    *tensor = (struct baryon_plan_tensor){.name = from->tensor,
                                          .role = roles[from->role],
                                          .type = from->type,
                                          .why = from->why,
                                          .remarks = from->remarks,
                                          .shares = from->shares,
                                          .scales = from->params,
                                          .scale = from->scale,
                                          .last_scale = from->last_scale,
                                          .zero_point = from->zero,
                                          .low = from->low,
                                          .high = from->high,
                                          .readers = from->readers};
}

static void fill_operator(const struct by_view_op *from, struct baryon_plan_operator *row)
{
    *row = (struct baryon_plan_operator){.op_type = from->op_type,
                                         .nodes = from->nodes,
                                         .quantized_nodes = from->quantized,
                                         .multiply_adds = from->macs,
                                         .quantized_multiply_adds = from->quantized_macs,
                                         .activations = from->activation,
                                         .weights = from->weight,
                                         .biases = from->bias};
}

static int fill_public_plan(struct baryon_plan *plan, const struct by_quant_plan *from,
                            struct baryon_error *err)
{
    struct by_plan_view *view = &plan->view;
    if (by_plan_view_make(view, from, 0, err) < 0)
        return -1;
    plan->nodes = by_arena_alloc(&view->arena, view->node_count, sizeof *plan->nodes, err);
    plan->tensors = by_arena_alloc(&view->arena, view->row_count, sizeof *plan->tensors, err);
    plan->operators = by_arena_alloc(&view->arena, view->ops.count, sizeof *plan->operators, err);
    if (!plan->nodes || !plan->tensors || !plan->operators)
        return -1;
    for (size_t i = 0; i < view->node_count; i++)
        fill_node(&view->nodes[i], &plan->nodes[i]);
    for (size_t i = 0; i < view->row_count; i++)
        fill_tensor(&view->rows[i], &plan->tensors[i]);
    for (size_t i = 0; i < view->ops.count; i++)
        fill_operator(&view->ops.at[i], &plan->operators[i]);
    return 0;
}

int by_api_plan_make(struct baryon_plan **out, const struct by_quant_plan *from,
                     struct baryon_error *err)
{
    struct baryon_plan *plan = by_alloc_zero(1, sizeof *plan, err);
    if (!plan)
        return -1;
    if (fill_public_plan(plan, from, err) < 0) {
        baryon_plan_free(plan);
        return -1;
    }
    *out = plan;
    return 0;
}

static void fill_rounding(struct baryon_plan *plan, const struct by_solved *solved)
{
    by_solved_say(solved, &plan->text);
    plan->rounding = (struct baryon_plan_rounding){
        .layers = solved->count,
        .kept_layers = by_solved_kept(solved),
        .samples = solved->train,
        .held_out = solved->aside ? solved->judging : 0,
        .nearest = solved->before,
        .solved = solved->after,
        .kept = solved->kept,
        .text = by_str_text(&plan->text),
    };
}

void by_api_plan_report(struct baryon_plan *plan, const struct by_quantize_report *report)
{
    fill_rounding(plan, &report->solved);
    plan->stage_count = report->stage_count;
    for (size_t i = 0; i < report->stage_count; i++)
        plan->stages[i] =
            (struct baryon_plan_stage){report->stages[i].stage, report->stages[i].seconds};
}

void baryon_plan_free(struct baryon_plan *plan)
{
    if (!plan)
        return;
    by_str_release(&plan->text);
    by_plan_view_release(&plan->view);
    by_free(plan);
}

const struct baryon_plan_node *baryon_plan_node(const struct baryon_plan *plan, size_t place)
{
    return plan && place < plan->view.node_count ? &plan->nodes[place] : NULL;
}

const struct baryon_plan_tensor *baryon_plan_tensor(const struct baryon_plan *plan, size_t place)
{
    return plan && place < plan->view.row_count ? &plan->tensors[place] : NULL;
}

const struct baryon_plan_operator *baryon_plan_operator(const struct baryon_plan *plan,
                                                        size_t place)
{
    return plan && place < plan->view.ops.count ? &plan->operators[place] : NULL;
}

const struct baryon_plan_rounding *baryon_plan_rounding(const struct baryon_plan *plan)
{
    return plan && plan->rounding.layers ? &plan->rounding : NULL;
}

const struct baryon_plan_stage *baryon_plan_stage(const struct baryon_plan *plan, size_t place)
{
    return plan && place < plan->stage_count ? &plan->stages[place] : NULL;
}
