/* Copies the model that is being quantized. */
#include "trial/draft.h"

#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/place.h"
#include "quant/plan_copy.h"

int by_draft_open(struct by_draft *draft, const struct by_quantization *q,
                  const struct by_frame *frame, struct baryon_error *err)
{
    *draft = (struct by_draft){.recipe = by_recipe_to_run(q->options->recipe), .like = q->plan};
    return by_frame_copy(frame, &draft->model, err) < 0 ||
                   by_origins_copy(&draft->origins, q->origins, draft->model, err) < 0
               ? -1
               : 0;
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
    draft->plan->like = draft->like;
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
