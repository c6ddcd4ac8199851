/* Runs rounding reconstruction as a stage of quantization. */
#include "rounding/rounding_internal.h"

#include "base/thread.h"
#include "ir/shape.h"
#include "quant/refine.h"

#include <string.h>

static const char *const way_names[] = {
    [BY_ROUNDING_NO_SCALES] = "",
    [BY_ROUNDING_SCALES_OF_LAYERS] = ", with scales by the outputs of layers",
    [BY_ROUNDING_SCALES_OF_MODEL] = ", with scales by the outputs of the model",
};

/* --- Which layers --- */

bool by_rounding_is_asked_for(const struct by_recipe *recipe, const struct baryon_node *node)
{
    const struct by_patterns *types = &recipe->rounding_op_types;
    for (size_t i = 0; i < types->count; i++)
        if (!strcmp(node->op_type, types->at[i].text))
            return true;
    return !types->count;
}

static int may_solve(const struct by_rounding_run *run, const struct by_rounding_layer *layer,
                     bool *may, struct baryon_error *err)
{
    const struct by_recipe *recipe = run->q->options->recipe;
    const struct by_quant_plan *plan = run->q->plan;
    *may = by_rounding_is_asked_for(recipe, layer->node) && by_rounding_can(plan, layer) &&
           by_rounding_wanted(run, layer) &&
           (!recipe->rounding_on_float || by_rounding_given(run, layer));
    return *may ? by_rounding_is_finite(plan, layer, may, err) : 0;
}

/* At which the layer gives something, in one sample. */
static double places_of(const struct by_rounding_layer *layer)
{
    const struct baryon_value *out = by_node_out(layer->node, 0);
    double count = 1;
    for (size_t i = 0; out && out->shape && i < out->shape->rank; i++)
        if (out->shape->dims[i].size > 0)
            count *= (double)out->shape->dims[i].size;
    return count / (double)(layer->groups * layer->outs);
}

struct by_reconstruct_layer by_rounding_describe(const struct by_quantization *q,
                                                 const struct by_rounding_layer *layer)
{
    return (struct by_reconstruct_layer){
        .name = layer->node->name ? layer->node->name : layer->rows.name,
        .groups = layer->groups,
        .outs = layer->outs,
        .columns = layer->columns,
        .keeps_values = q->options->recipe->approach != BY_APPROACH_STATIC ||
                        by_rounding_has_steps(q->plan, layer),
        .places = places_of(layer),
    };
}

static int find_layers(struct by_rounding_run *run, struct baryon_error *err)
{
    size_t count;
    if (by_rounding_layers(run->q->plan, &run->layers, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        bool may;
        if (may_solve(run, &run->layers[i], &may, err) < 0)
            return -1;
        if (may)
            run->layers[run->layer_count++] = run->layers[i];
    }
    run->described = by_alloc(run->layer_count, sizeof *run->described, err);
    if (!run->described)
        return -1;
    for (size_t i = 0; i < run->layer_count; i++)
        run->described[i] = by_rounding_describe(run->q, &run->layers[i]);
    return 0;
}

/* --- One run --- */

struct by_round_options by_rounding_options(const struct by_recipe *recipe, bool scales)
{
    return (struct by_round_options){
        .scales = scales,
        .mix = recipe->rounding_mix,
        .damping = recipe->rounding_damping,
        .free = recipe->rounding_free,
        .fixed_biases = !recipe->rounding_biases,
        .gptq = recipe->rounding == BY_ROUNDING_GPTQ,
        .starts = recipe->rounding == BY_ROUNDING_DESCENT ? recipe->rounding_starts : 1,
        .relaxation = recipe->rounding == BY_ROUNDING_RELAXATION ? recipe->rounding_iterations : 0,
    };
}

static int remark_layers(const struct by_rounding_run *run, struct baryon_error *err)
{
    const struct by_solved *solved = &run->q->report.solved;
    for (size_t i = 0; i < run->layer_count; i++)
        if (solved->layers[i].kept &&
            by_quant_remark(
                run->q->plan, run->layers[i].weight, "rounding", err,
                "reconstructed on samples: %.1f dB at the layer's output, nearest rounding %.1f",
                solved->layers[i].solved, solved->layers[i].nearest) < 0)
            return -1;
    return 0;
}

static int solve_layers(struct by_rounding_run *run, struct by_reconstruct_keep *keep,
                        struct baryon_error *err)
{
    const struct by_quantize_options *all = run->q->options;
    struct by_solved *solved = &run->q->report.solved;
    const struct by_reconstruct_model model = by_rounding_model(run);
    const struct by_reconstruct_options options = {
        .round = by_rounding_options(&run->recipe, run->scales != BY_ROUNDING_NO_SCALES),
        .pool = run->q->pool,
        .scratch = run->scratch,
        .log = all->log,
        .progress = by_rounding_go_on,
        .context = run,
        .checkpoint = all->checkpoint,
        .keep = keep,
        .run = run->scales,
        .repeats = run->repeats,
        .run_name = way_names[run->scales],
    };
    if (by_reconstruct(&model, &options, solved, err) < 0 ||
        (solved->kept && remark_layers(run, err) < 0))
        return -1;
    return by_refine(run->q->plan, err);
}

static int open_layers(struct by_rounding_run *run, struct baryon_error *err)
{
    struct by_solved *solved = &run->q->report.solved;
    if (by_rounding_open_reference(run, err) < 0 || find_layers(run, err) < 0)
        return -1;
    solved->count = run->layer_count;
    solved->on_float = run->q->options->recipe->rounding_on_float;
    solved->layers = by_alloc_zero(run->layer_count, sizeof *solved->layers, err);
    for (size_t i = 0; solved->layers && i < run->layer_count; i++)
        solved->layers[i].name = run->described[i].name;
    return solved->layers ? by_rounding_remember(run, err) : -1;
}

/* Without other scales this way is one of those before, but for weights' own scales. */
static bool has_to_solve(const struct by_rounding_run *run)
{
    return run->moved || run->scales != BY_ROUNDING_SCALES_OF_MODEL;
}

int by_rounding_once(struct by_quantization *q, struct by_rounding_shared *shared,
                     struct by_rounding_way *way, struct by_reconstruct_keep *keep,
                     struct baryon_error *err)
{
    struct by_rounding_run run = {.q = q,
                                  .shared = shared,
                                  .repeats = way->repeats,
                                  .scales = way->scales,
                                  .begun = by_seconds()};
    int status = open_layers(&run, err);
    if (status == 0 && run.layer_count &&
        (by_rounding_open(&run, err) < 0 ||
         (has_to_solve(&run) && solve_layers(&run, keep, err) < 0)))
        status = -1;
    way->moved = run.moved;
    way->weights = run.weights;
    by_rounding_close(&run);
    return status;
}

/* --- All of it --- */

int by_rounding_solve(struct by_quantization *q, struct baryon_error *err)
{
    const struct by_recipe *recipe = q->options->recipe;
    if (recipe->rounding == BY_ROUNDING_NEAREST)
        return 0;
    if (by_rounding_report_shared(q, err) < 0)
        return -1;
    if (q->options->stats)
        return by_rounding_from_stats(q, err);
    if (recipe->rounding_scales && recipe->approach == BY_APPROACH_STATIC)
        return by_rounding_best(q, err);
    struct by_reconstruct_keep keep = {0};
    struct by_rounding_shared shared = {0};
    const int status = by_rounding_once(q, &shared, &(struct by_rounding_way){0}, &keep, err);
    by_reconstruct_keep_close(&keep, status ? NULL : q->options->log);
    by_rounding_shared_close(&shared);
    return status;
}

/* What it was for is done: that it stays is no failure. */
void by_rounding_clean(const struct by_quantize_options *options)
{
    char text[1024];
    struct baryon_error problem;
    by_err_clear(&problem);
    if (!options->checkpoint || by_remove_file(options->checkpoint, &problem) == 0)
        return;
    baryon_error_format(&problem, text, sizeof text);
    by_log(options->log, BY_LOG_WARNING, "the checkpoint cannot be removed: %s", text);
}
