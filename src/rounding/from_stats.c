/* Solves layers on Gram matrices of a statistics file: of what they read in the float model. */
#include "base/text.h"
#include "base/thread.h"
#include "quant/refine.h"
#include "rounding/rounding_internal.h"
#include "solve/round_given.h"
#include "stats/layers.h"

#define NAMED 3 /* layers, in a message */

/* The statistics of a layer. */
struct gathered {
    const struct by_layer_stats *solves, *judges;
};

struct solving {
    struct by_rounding_run run; /* q, layers, place, target and move of it */
    struct gathered *gathered;  /* by layer */
    size_t missing;             /* layers that keep the nearest integers */
    struct by_text names;       /* of the first of them */
    char names_room[512];
    bool aside;
};

/* --- Which layers --- */

static int refuse_parts(const struct solving *solving, const struct by_layer_stats *found,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "layer %s: parts of its Gram matrix are missing, the calibration was not finished",
            by_quote(quoted, found->layer.name));
    by_err_hint(err, "finish it with the same 'baryon calibrate --moments' command");
    return by_err_file(err, solving->run.q->options->stats);
}

/* Whoever has no rows of its own to judge on judges on those it is solved on. */
static int gather(struct solving *solving, const struct by_rounding_layer *layer,
                  struct gathered *gathered, struct baryon_error *err)
{
    const struct by_stats *stats = solving->run.q->stats;
    struct by_moments_layer source = layer->rows;
    by_layer_to_source(solving->run.q->model->graph, &source);
    gathered->solves = by_stats_find_columns(stats, &source, BY_SHARE_SOLVES);
    gathered->judges = by_stats_find_columns(stats, &source, BY_SHARE_JUDGES);
    if (!gathered->solves || !gathered->solves->moments.rows)
        gathered->solves = NULL;
    else if (!by_layer_stats_complete(gathered->solves))
        return refuse_parts(solving, gathered->solves, err);
    if (!gathered->judges || !gathered->judges->moments.rows)
        gathered->judges = gathered->solves;
    else if (!by_layer_stats_complete(gathered->judges))
        return refuse_parts(solving, gathered->judges, err);
    return 0;
}

static int leave_nearest(struct solving *solving, const struct by_rounding_layer *layer,
                         struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (solving->missing < NAMED)
        by_text_add(&solving->names, "%s%s", solving->missing ? ", " : "",
                    by_quote(quoted, layer->rows.input));
    solving->missing++;
    return by_quant_remark(solving->run.q->plan, layer->weight, "rounding", err,
                           "rounded to nearest, because the statistics have no Gram matrix of the "
                           "layer's input %s",
                           by_quote(quoted, layer->rows.input));
}

static int take_layer(struct solving *solving, const struct by_rounding_layer *layer,
                      struct baryon_error *err)
{
    struct by_rounding_run *run = &solving->run;
    const struct by_quant_plan *plan = run->q->plan;
    struct gathered *gathered = &solving->gathered[run->layer_count];
    bool finite;
    if (!by_rounding_is_asked_for(plan->recipe, layer->node) || !by_rounding_can(plan, layer))
        return 0;
    if (by_rounding_is_finite(plan, layer, &finite, err) < 0)
        return -1;
    if (!finite)
        return 0;
    if (gather(solving, layer, gathered, err) < 0)
        return -1;
    if (!gathered->solves)
        return leave_nearest(solving, layer, err);
    solving->aside &= gathered->judges != gathered->solves;
    run->described[run->layer_count] = by_rounding_describe(run->q, layer);
    run->layers[run->layer_count++] = *layer;
    return 0;
}

static int refuse_all(const struct solving *solving, struct baryon_error *err)
{
    const struct by_quantization *q = solving->run.q;
    if (!q->stats->layer_count) {
        by_fail(err, BARYON_ERR_UNSUPPORTED,
                "rounding reconstruction requires Gram matrices of layer inputs, these statistics "
                "have none");
        by_err_hint(err, "calibrate with --moments, give samples (--data) instead of --stats, or "
                         "--rounding nearest");
    } else {
        by_fail(err, BARYON_ERR_UNSUPPORTED,
                "rounding reconstruction: these statistics have no Gram matrix of the inputs of "
                "any of the %zu layers, %s first",
                solving->missing, solving->names.buf);
        by_err_hint(err, "give samples (--data) instead of --stats, or --rounding nearest");
    }
    return by_err_file(err, q->options->stats);
}

static void tell_missing(const struct solving *solving)
{
    const struct by_quantization *q = solving->run.q;
    if (solving->missing)
        by_log(q->options->log, BY_LOG_NOTICE,
               "rounding reconstruction: %zu of %zu layers keep nearest rounding, the statistics "
               "have no Gram matrices of their inputs: %s%s",
               solving->missing, solving->missing + solving->run.layer_count, solving->names.buf,
               solving->missing > NAMED ? ", ..." : "");
    if (q->options->recipe->rounding_scales)
        by_log(q->options->log, BY_LOG_NOTICE,
               "--rounding-scales: scales of activations are not optimized, which requires samples "
               "(--data); those of weights are");
}

static int find_layers(struct solving *solving, struct baryon_error *err)
{
    struct by_rounding_run *run = &solving->run;
    struct by_rounding_layer *all;
    size_t count;
    int status = 0;
    if (by_rounding_layers(run->q->plan, &all, &count, err) < 0)
        return -1;
    run->layers = all; /* those that are taken move to the front */
    run->described = by_alloc(count, sizeof *run->described, err);
    solving->gathered = by_alloc(count, sizeof *solving->gathered, err);
    if (!run->described || !solving->gathered)
        return -1;
    for (size_t i = 0; status == 0 && i < count; i++) {
        const struct by_rounding_layer layer = all[i];
        status = take_layer(solving, &layer, err);
    }
    if (status < 0)
        return -1;
    if (!run->layer_count && solving->missing)
        return refuse_all(solving, err);
    tell_missing(solving);
    return 0;
}

/* --- What the driver asks for --- */

static int reach_layer(void *context, size_t place, const struct by_round_target **target,
                       struct baryon_error *err)
{
    struct by_rounding_run *run = &((struct solving *)context)->run;
    run->place = place;
    *target = &run->target.target;
    const int status =
        by_rounding_target_open(&run->target, run->q->plan, &run->layers[place], run->q->pool, err);
    if (status < 0)
        by_rounding_target_close(&run->target);
    return status;
}

struct reading {
    const struct by_layer_stats *stats;
    struct by_pool *pool;
    const char *path;
};

static void read_means(void *context, size_t group, double *x)
{
    const struct by_layer_stats *stats = ((const struct reading *)context)->stats;
    by_moments_mean(&stats->moments, &stats->layer, group, x);
}

static int read_gram(void *context, size_t group, const double *means, float *gram,
                     struct baryon_error *err)
{
    const struct reading *reading = context;
    return by_stats_gram(reading->stats, group, means, reading->pool, gram, err) < 0
               ? by_err_file(err, reading->path)
               : 0;
}

static int read_moments(void *context, bool judging, struct by_round_moments *moments,
                        struct baryon_error *err)
{
    const struct solving *solving = context;
    const struct by_rounding_run *run = &solving->run;
    const struct gathered *gathered = &solving->gathered[run->place];
    struct reading reading = {judging ? gathered->judges : gathered->solves, run->q->pool,
                              run->q->options->stats};
    const struct by_round_given given = {.rows = reading.stats->moments.rows,
                                         .means = read_means,
                                         .gram = read_gram,
                                         .context = &reading};
    return by_round_moments_take(moments, &run->target.target, &given, run->q->pool, err);
}

static int rescale_layer(void *context, const struct by_round_choice *choice, bool *moved,
                         struct baryon_error *err)
{
    struct by_rounding_run *run = &((struct solving *)context)->run;
    return by_rounding_move_weight(run, &run->layers[run->place], choice, moved, err);
}

static int patch_layer(void *context, const struct by_round_choice *choice,
                       struct baryon_error *err)
{
    const struct by_rounding_run *run = &((struct solving *)context)->run;
    return by_rounding_take(run->q->plan, &run->layers[run->place], choice, run->q->pool, err);
}

static void leave_layer(void *context)
{
    by_rounding_target_close(&((struct solving *)context)->run.target);
    by_trim_memory();
}

static int go_on(void *context, const struct by_reconstruct_progress *now, struct baryon_error *err)
{
    return by_rounding_go_on(&((struct solving *)context)->run, now, err);
}

/* --- The run --- */

static size_t most_samples(const struct by_stats *stats, enum by_moments_share share)
{
    uint64_t most = 0;
    for (size_t i = 0; i < stats->layer_count; i++)
        if (stats->layers[i].layer.share == share && stats->layers[i].moments.samples > most)
            most = stats->layers[i].moments.samples;
    return (size_t)most;
}

static struct by_reconstruct_model describe_model(struct solving *solving)
{
    const struct by_rounding_run *run = &solving->run;
    return (struct by_reconstruct_model){
        .context = solving,
        .layers = run->described,
        .layer_count = run->layer_count,
        .train = most_samples(run->q->stats, BY_SHARE_SOLVES),
        .judging = most_samples(run->q->stats, BY_SHARE_JUDGES),
        .held_out = solving->aside,
        .reach = reach_layer,
        .moments = read_moments,
        .rescale = rescale_layer,
        .patch = patch_layer,
        .leave = leave_layer,
    };
}

static int remark_layers(const struct by_rounding_run *run, struct baryon_error *err)
{
    const struct by_solved *solved = &run->q->report.solved;
    for (size_t i = 0; i < run->layer_count; i++)
        if (solved->layers[i].kept &&
            by_quant_remark(run->q->plan, run->layers[i].weight, "rounding", err,
                            "reconstructed from statistics: %.1f dB at the layer's output, nearest "
                            "rounding %.1f",
                            solved->layers[i].solved, solved->layers[i].nearest) < 0)
            return -1;
    return 0;
}

/* Rows that the calibration passed over. */
static uint64_t count_left_out(const struct solving *solving)
{
    uint64_t count = 0;
    for (size_t i = 0; i < solving->run.layer_count; i++)
        count += solving->gathered[i].solves->moments.nonfinite_rows;
    return count;
}

static int solve_layers(struct solving *solving, struct baryon_error *err)
{
    struct by_rounding_run *run = &solving->run;
    struct by_solved *solved = &run->q->report.solved;
    const struct by_recipe *recipe = run->q->options->recipe;
    const struct by_reconstruct_model model = describe_model(solving);
    struct by_reconstruct_options options = {
        .round = by_rounding_options(recipe, recipe->rounding_scales &&
                                                 recipe->approach == BY_APPROACH_STATIC),
        .pool = run->q->pool,
        .scratch = run->scratch,
        .log = run->q->options->log,
        .progress = go_on,
        .context = solving,
        .run_name = "",
    };
    options.round.mix = 0; /* what the float layer gave is what its weights give */
    solved->from_statistics = solved->on_float = true;
    solved->layers = by_alloc_zero(run->layer_count, sizeof *solved->layers, err);
    by_round_set_left_out(run->scratch, count_left_out(solving));
    if (!solved->layers || by_reconstruct(&model, &options, solved, err) < 0 ||
        remark_layers(run, err) < 0)
        return -1;
    return by_refine(run->q->plan, err);
}

static void close_solving(struct solving *solving)
{
    struct by_rounding_run *run = &solving->run;
    by_rounding_move_close(&run->move);
    by_round_scratch_close(run->scratch);
    by_free(run->layers);
    by_free(run->described);
    by_free(solving->gathered);
}

int by_rounding_from_stats(struct by_quantization *q, struct baryon_error *err)
{
    struct solving solving = {.run = {.q = q, .begun = by_seconds()}, .aside = true};
    by_text_init(&solving.names, solving.names_room, sizeof solving.names_room);
    int status = find_layers(&solving, err);
    if (status == 0 && solving.run.layer_count &&
        (by_round_scratch_open(&solving.run.scratch, q->pool, err) < 0 ||
         solve_layers(&solving, err) < 0))
        status = -1;
    close_solving(&solving);
    return status;
}
