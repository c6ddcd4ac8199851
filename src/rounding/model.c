/* What the driver asks of a model (reconstruct/model.h), answered by ONNX Runtime's stages. */
#include "base/thread.h"
#include "onnx/load.h"
#include "quant/floats.h"
#include "quant/params.h"
#include "rounding/rounding_internal.h"
#include "trial/verdict.h"

#include <string.h>

struct baryon_node *by_rounding_node_in_copy(const struct by_rounding_run *run,
                                             const struct by_rounding_layer *layer)
{
    return run->copy.plan->rows.at[layer->weight].readers.at[0].node;
}

struct baryon_value *by_rounding_wanted(const struct by_rounding_run *run,
                                        const struct by_rounding_layer *layer)
{
    return by_map_get(&run->reference->graph->values, layer->rows.name);
}

struct baryon_value *by_rounding_given(const struct by_rounding_run *run,
                                       const struct by_rounding_layer *layer)
{
    return by_map_get(&run->reference->graph->values, by_node_in(layer->node, 0)->name);
}

int by_rounding_go_on(void *context, const struct by_reconstruct_progress *now,
                      struct baryon_error *err)
{
    const struct by_rounding_run *run = context;
    const struct by_calibrate_options *options = &run->q->options->calibrate;
    const struct by_calibrate_progress progress = {.stage = "round",
                                                   .unit = "layers",
                                                   .done = now->done,
                                                   .total = now->total,
                                                   .before = now->taken_up,
                                                   .share = now->share,
                                                   .keeps = run->q->options->checkpoint != NULL,
                                                   .seconds = by_seconds() - run->begun};
    if (!options->progress || !options->progress(options->context, &progress))
        return 0;
    by_fail(err, BARYON_ERR_CANCELLED, "rounding reconstruction: stopped after %zu of %zu layers",
            now->done, now->total);
    return run->q->options->checkpoint ? by_err_hint(err, "run the same command to resume") : -1;
}

/* Layers: memory that is given back after each of them is soon taken again, page by page. */
#define GIVE_BACK_EVERY 8

/* What sessions that are closed had, and pages of the model's file, which copies look at as well.
 */
static void give_back(const struct by_rounding_run *run)
{
    by_trim_memory();
    by_model_pages_done(run->q->model);
}

/* --- A layer --- */

static const struct by_rounding_layer *layer_in_hand(const struct by_rounding_run *run)
{
    return &run->layers[run->place];
}

/* What the reference gives for the layer, and reads where that is what it is solved on. */
static int reach_reference(struct by_rounding_run *run, const struct by_rounding_layer *layer,
                           struct baryon_error *err)
{
    struct baryon_value **reached = run->reached;
    reached[0] = by_rounding_wanted(run, layer);
    reached[1] = run->recipe.rounding_on_float ? by_rounding_given(run, layer) : NULL;
    return by_stages_reach(run->exact, reached, 1 + (reached[1] != NULL), err);
}

static int reach_layer(void *context, size_t place, const struct by_round_target **target,
                       struct baryon_error *err)
{
    struct by_rounding_run *run = context;
    const struct by_rounding_layer *layer = &run->layers[place];
    run->place = place;
    if (reach_reference(run, layer, err) < 0 ||
        (run->scales == BY_ROUNDING_SCALES_OF_LAYERS && by_rounding_scale(run, layer, err) < 0) ||
        by_rounding_source_of(by_rounding_node_in_copy(run, layer), &run->source, err) < 0 ||
        by_stages_reach(run->rounded, &run->source.value, 1, err) < 0)
        return -1;
    run->source.reference = run->reached[1];
    *target = &run->target.target;
    const int status =
        by_rounding_target_open(&run->target, run->q->plan, layer, run->q->pool, err);
    if (status < 0)
        by_rounding_target_close(&run->target);
    return status;
}

static int read_sample(void *context, size_t sample, const struct by_array **x,
                       const struct by_array **y, struct baryon_error *err)
{
    struct by_rounding_run *run = context;
    return by_rounding_sample(run, layer_in_hand(run), &run->source, sample, x, y, err);
}

static int rescale_layer(void *context, const struct by_round_choice *choice, bool *moved,
                         struct baryon_error *err)
{
    struct by_rounding_run *run = context;
    return by_rounding_move_weight(run, layer_in_hand(run), choice, moved, err);
}

static int patch_layer(void *context, const struct by_round_choice *choice,
                       struct baryon_error *err)
{
    struct by_rounding_run *run = context;
    const struct by_rounding_layer *layer = layer_in_hand(run);
    if (layer->bias) {
        run->old_biases[run->place] = by_floats_copy(layer->bias->initializer, NULL, err);
        if (!run->old_biases[run->place])
            return -1;
    }
    if (by_rounding_take(run->q->plan, layer, choice, run->q->pool, err) < 0)
        return -1;
    return by_rounding_patch_copy(run, layer, choice, err);
}

static void leave_layer(void *context)
{
    struct by_rounding_run *run = context;
    by_rounding_target_close(&run->target);
    by_stages_let_go(run->exact, run->reached[0]);
    if (run->reached[1])
        by_stages_let_go(run->exact, run->reached[1]);
    by_stages_let_go(run->rounded, run->source.value);
    if (run->place % GIVE_BACK_EVERY == GIVE_BACK_EVERY - 1)
        give_back(run);
}

/* --- The model --- */

static bool has_steps(const struct by_rounding_run *run)
{
    for (size_t i = 0; i < run->layer_count; i++)
        if (by_rounding_has_steps(run->q->plan, &run->layers[i]))
            return true;
    return false;
}

static bool is_better(const struct by_rounding_run *run, const struct by_judgement *after)
{
    return by_verdict_of(by_threshold(BY_VERDICT_SOLVED, has_steps(run)), after, run->before,
                         run->judging);
}

/* With scales as they came nearest integers are the same in all ways. */
static bool is_as_it_came(const struct by_rounding_run *run)
{
    return !run->before && !run->moved;
}

static int judge_samples(struct by_rounding_run *run, struct by_judgement *each,
                         struct baryon_error *err)
{
    struct by_judgement **nearest = &run->shared->nearest;
    const size_t bytes = run->judging * sizeof *each;
    if (is_as_it_came(run) && *nearest) {
        memcpy(each, *nearest, bytes);
        return 0;
    }
    give_back(run);
    const int status = by_judge_model(run->judge, run->copy.model, run->q->pool, each, err);
    give_back(run);
    if (status < 0 || !is_as_it_came(run))
        return status;
    *nearest = by_alloc(run->judging + 1, sizeof **nearest, err);
    if (*nearest)
        memcpy(*nearest, each, bytes);
    return *nearest ? 0 : -1;
}

static int judge_copy(void *context, struct by_reconstruct_score *score, struct baryon_error *err)
{
    struct by_rounding_run *run = context;
    struct by_judgement *each = by_alloc_zero(run->judging + 1, sizeof *each, err);
    if (!each)
        return -1;
    const int status = judge_samples(run, each, err);
    if (status == 0) {
        score->sqnr = by_judge_sqnr(each, run->judging);
        score->better = run->before && is_better(run, each);
    }
    by_free(run->before);
    run->before = each;
    return status;
}

static int undo_layers(void *context, struct baryon_error *err)
{
    struct by_rounding_run *run = context;
    struct by_quantization *q = run->q;
    for (size_t i = 0; i < run->layer_count; i++) {
        const struct by_rounding_layer *layer = &run->layers[i];
        q->plan->rows.at[layer->weight].rounded = NULL;
        q->plan->rows.at[layer->weight].solved = NULL;
        if (!run->old_biases[i])
            continue;
        const size_t row = by_quant_find(q->plan, layer->bias);
        if (by_floats_write(q->model, layer->bias->initializer, run->old_biases[i],
                            layer->groups * layer->outs, err) < 0 ||
            (row != BY_NO_ROW && by_quant_find_constant(q->plan, row, q->pool, err) < 0))
            return -1;
    }
    return 0;
}

struct by_reconstruct_model by_rounding_model(struct by_rounding_run *run)
{
    return (struct by_reconstruct_model){
        .context = run,
        .layers = run->described,
        .layer_count = run->layer_count,
        .train = run->train,
        .judging = run->judging,
        .held_out = by_judge_kept(run->judge) > run->train,
        .reach = reach_layer,
        .sample = read_sample,
        .rescale = rescale_layer,
        .patch = patch_layer,
        .leave = leave_layer,
        .judge = judge_copy,
        .undo = undo_layers,
        .key = by_rounding_key,
    };
}
