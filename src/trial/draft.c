/* Copies the model that is being quantized. */
#include "trial/draft.h"

#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/place.h"
#include "quant/plan_copy.h"

static void copy_exclusions(const struct by_draft *draft, const struct by_quantization *q)
{
    const struct by_ptrs *nodes = &q->model->graph->node;
    size_t count;
    struct by_user_node *user = by_origins_user(draft->origins, &count);
    for (size_t i = 0; i < draft->model->graph->node.count; i++) {
        size_t from_count;
        const char *why = by_origins_excluded(q->origins, nodes->at[i]);
        const size_t *from =
            by_origins_of(draft->origins, draft->model->graph->node.at[i], &from_count);
        for (size_t k = 0; k < from_count; k++) {
            user[from[k]].spans = by_origins_spans(q->origins, nodes->at[i]);
            user[from[k]].excluded = user[from[k]].excluded || why;
            user[from[k]].why = why ? why : user[from[k]].why;
        }
    }
}

int by_draft_open(struct by_draft *draft, const struct by_quantization *q,
                  const struct by_frame *frame, struct baryon_error *err)
{
    *draft = (struct by_draft){.recipe = by_recipe_to_run(q->options->recipe)};
    if (by_frame_copy(frame, &draft->model, err) < 0 ||
        by_origins_open(&draft->origins, draft->model, err) < 0)
        return -1;
    copy_exclusions(draft, q);
    return 0;
}

static int settle(struct by_draft *draft, struct baryon_error *err)
{
    return by_model_settle(draft->model, err) < 0 ? -1 : by_model_infer(draft->model, NULL, err);
}

int by_draft_place(struct by_draft *draft, struct baryon_error *err)
{
    by_quant_plan_close(draft->plan);
    draft->plan = NULL;
    if (settle(draft, err) < 0 ||
        by_quant_plan_open(&draft->plan, draft->model, &draft->recipe, err) < 0)
        return -1;
    return by_place(draft->plan, draft->origins, NULL, err);
}

int by_draft_open_planned(struct by_draft *draft, const struct by_frame *frame,
                          const struct by_quant_plan *plan, unsigned roles, size_t *rows,
                          struct baryon_error *err)
{
    *draft = (struct by_draft){0};
    if (by_frame_copy(frame, &draft->model, err) < 0 || settle(draft, err) < 0)
        return -1;
    if (!plan)
        return 0;
    draft->recipe = by_recipe_to_run(plan->recipe);
    draft->recipe.format = BY_FORMAT_QDQ;
    return by_quant_plan_copy(&draft->plan, plan, draft->model, &draft->recipe, roles, rows, err);
}

void by_draft_close(struct by_draft *draft)
{
    by_quant_plan_close(draft->plan);
    by_origins_close(draft->origins);
    by_model_free(draft->model);
    *draft = (struct by_draft){0};
}
