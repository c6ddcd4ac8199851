/* What the driver asks of a model (reconstruct/model.h), answered by ONNX Runtime's stages. */
#include "base/thread.h"
#include "rounding/rounding_internal.h"

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
        by_rounding_give_back(run);
}

/* --- The model --- */

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
        .judge = by_rounding_judge,
        .undo = by_rounding_undo,
        .key = by_rounding_key,
    };
}
