/* Copies the model that is quantized, with a plan of its own. */
#include "trial/copy.h"

#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/place.h"

static void copy_exclusions(const struct by_trial_copy *copy, const struct by_quantization *q)
{
    const struct by_ptrs *nodes = &q->model->graph->node;
    size_t count;
    struct by_user_node *user = by_origins_user(copy->origins, &count);
    for (size_t i = 0; i < copy->model->graph->node.count; i++) {
        size_t from_count;
        const char *why = by_origins_excluded(q->origins, nodes->at[i]);
        const size_t *from =
            by_origins_of(copy->origins, copy->model->graph->node.at[i], &from_count);
        for (size_t k = 0; k < from_count; k++) {
            user[from[k]].spans = by_origins_spans(q->origins, nodes->at[i]);
            user[from[k]].excluded = user[from[k]].excluded || why;
            user[from[k]].why = why ? why : user[from[k]].why;
        }
    }
}

int by_trial_copy_place(struct by_trial_copy *copy, struct baryon_error *err)
{
    by_quant_plan_close(copy->plan);
    copy->plan = NULL;
    if (by_model_settle(copy->model, err) < 0 || by_model_infer(copy->model, NULL, err) < 0 ||
        by_quant_plan_open(&copy->plan, copy->model, &copy->recipe, err) < 0)
        return -1;
    return by_place(copy->plan, copy->origins, NULL, err);
}

int by_trial_copy_open(struct by_trial_copy *copy, const struct by_quantization *q,
                       const struct by_frame *frame, const struct by_recipe *recipe,
                       struct baryon_error *err)
{
    *copy = (struct by_trial_copy){.recipe = by_recipe_to_run(recipe)};
    if (by_frame_copy(frame, &copy->model, err) < 0 ||
        by_origins_open(&copy->origins, copy->model, err) < 0)
        return -1;
    copy_exclusions(copy, q);
    return by_trial_copy_place(copy, err);
}

void by_trial_copy_close(struct by_trial_copy *copy)
{
    by_quant_plan_close(copy->plan);
    by_origins_close(copy->origins);
    by_model_free(copy->model);
    *copy = (struct by_trial_copy){0};
}
