#include "rounding/rounding_internal.h"

#include "base/thread.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/floats.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/plan_copy.h"
#include "quant/refine.h"

#include <string.h>

/* Of the samples a quarter judges, as far as there are so many. */
#define JUDGING_MOST 24
/* Bytes that wait in memory; more would hardly be faster, since what is in a file is in the
 * system's cache as long as there is room, and memory would grow with samples up to there. */
#define WAITING ((uint64_t)8 << 20)

/* --- Samples --- */

static int open_depot(struct by_solving *solving, struct baryon_error *err)
{
    const uint64_t asked = solving->q->options->calibrate.max_memory;
    const struct by_depot_options options = {
        .folder = solving->q->options->folder,
        .budget = asked && asked < WAITING ? asked : WAITING,
    };
    return by_depot_open(&solving->depot, &options, err);
}

/* Statistics of an earlier run do not say how many samples there are to take. */
static void count_samples(struct by_solving *solving)
{
    const uint64_t most = (uint64_t)solving->q->options->recipe->rounding_samples;
    uint64_t all = by_quantization_samples(solving->q);
    all = !all || all > most ? most : all;
    solving->judging = (size_t)(all / 4 < JUDGING_MOST ? all / 4 : JUDGING_MOST);
    solving->train = (size_t)all - solving->judging;
}

static int open_judge(struct by_solving *solving, struct baryon_error *err)
{
    const struct by_quantize_options *all = solving->q->options;
    struct by_judge_options options = {
        .data = all->data,
        .samples = all->calibrate.samples,
        .input = all->calibrate.input,
        .session = all->calibrate.session,
        .look = solving->train,
        .aside = solving->judging,
        .most = solving->judging,
        .shares = true,
        .depot = solving->depot,
    };
    options.input.log = NULL;
    const size_t count = solving->train + solving->judging;
    if (options.input.random && (!options.input.count || options.input.count > count))
        options.input.count = count;
    return by_judge_open(&solving->judge, solving->reference, &options, err);
}

/* Where there is a single sample, it judges what was solved on it. */
static int read_samples(struct by_solving *solving, struct baryon_error *err)
{
    size_t inputs;
    count_samples(solving);
    if (open_depot(solving, err) < 0 || open_judge(solving, err) < 0)
        return -1;
    solving->train = by_judge_looks(solving->judge);
    solving->judging = by_judge_count(solving->judge);
    const size_t count = solving->train + solving->judging;
    solving->inputs = by_alloc(count, sizeof *solving->inputs, err);
    if (!solving->inputs)
        return -1;
    for (size_t i = 0; i < count; i++)
        solving->inputs[i] = by_judge_parked(
            solving->judge, i < by_judge_kept(solving->judge) ? i : i - solving->train, &inputs);
    return by_judge_references(solving->judge, solving->q->pool, err);
}

/* --- The models --- */

static int open_reference(struct by_solving *solving, struct baryon_error *err)
{
    const struct by_frame *exact = &solving->q->exact;
    solving->reference = solving->q->model;
    if (!exact->count)
        return 0;
    if (by_frame_copy(exact, &solving->loaded, err) < 0)
        return -1;
    solving->reference = solving->loaded;
    return by_model_settle(solving->loaded, err);
}

static int open_copy(struct by_solving *solving, struct baryon_error *err)
{
    struct by_quantization *q = solving->q;
    struct by_trial_copy *copy = &solving->copy;
    solving->recipe = by_recipe_to_run(q->options->recipe);
    solving->recipe.format = BY_FORMAT_QDQ;
    if (by_frame_take(&solving->frame, q->model, err) < 0 ||
        (solving->scales == BY_ROUNDING_SCALES_OF_MODEL && by_rounding_search(solving, err) < 0) ||
        by_frame_copy(&solving->frame, &copy->model, err) < 0 ||
        by_model_settle(copy->model, err) < 0 || by_model_infer(copy->model, NULL, err) < 0 ||
        by_quant_plan_copy(&copy->plan, q->plan, copy->model, &solving->recipe,
                           BY_ROLES_WEIGHTS | BY_ROLES_ACTIVATIONS, NULL, err) < 0)
        return -1;
    return by_rounding_floats_stay(solving) ? by_rounding_nearest_floats(solving, err)
                                            : by_lower(copy->plan, q->pool, err);
}

/* Pairs are computed as they stand, for which more optimization would take longer than it gains. */
static int open_stages(struct by_solving *solving, struct baryon_error *err)
{
    const struct by_quantization *q = solving->q;
    struct by_stages_options options = {
        .session = q->options->calibrate.session, .pool = q->pool, .depot = solving->depot};
    const size_t samples = solving->train + solving->judging;
    size_t inputs;
    (void)by_judge_parked(solving->judge, 0, &inputs);
    if (by_stages_open(&solving->exact, solving->reference, solving->inputs, inputs, samples,
                       &options, err) < 0)
        return -1;
    options.session.as_written = true;
    options.session.optimization = 1;
    return by_stages_open(&solving->rounded, solving->copy.model, solving->inputs, inputs, samples,
                          &options, err);
}

/* What sessions that are closed had, and pages of the model's file, which copies look at as well.
 */
static void give_back(const struct by_solving *solving)
{
    by_trim_memory();
    by_model_pages_done(solving->q->model);
}

/* --- Judging --- */

/* The copy as it is now, sample by sample; by_free() it. */
static struct by_judgement *judge(const struct by_solving *solving, struct baryon_error *err)
{
    struct by_judgement *each = by_alloc_zero(solving->judging + 1, sizeof *each, err);
    if (!each)
        return NULL;
    give_back(solving);
    const int status =
        by_judge_model(solving->judge, solving->copy.model, solving->q->pool, each, err);
    give_back(solving);
    if (status == 0)
        return each;
    by_free(each);
    return NULL;
}

/* --- All layers --- */

static bool is_asked_for(const struct by_recipe *recipe, const struct baryon_node *node)
{
    const struct by_patterns *types = &recipe->rounding_op_types;
    for (size_t i = 0; i < types->count; i++)
        if (!strcmp(node->op_type, types->at[i].text))
            return true;
    return !types->count;
}

static int may_solve(const struct by_solving *solving, const struct by_round_layer *layer,
                     bool *may, struct baryon_error *err)
{
    const struct by_recipe *recipe = solving->q->options->recipe;
    const struct by_quant_plan *plan = solving->q->plan;
    *may = is_asked_for(recipe, layer->node) && by_round_can(plan, layer) &&
           by_rounding_wanted(solving, layer) &&
           (!recipe->rounding_on_float || by_rounding_given(solving, layer));
    return *may ? by_round_is_finite(plan, layer, may, err) : 0;
}

static int find_layers(struct by_solving *solving, struct baryon_error *err)
{
    const struct by_quant_plan *plan = solving->q->plan;
    struct by_solved *solved = &solving->q->report.solved;
    size_t count, kept = 0;
    if (by_round_layers(plan, &solving->layers, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        bool may;
        if (may_solve(solving, &solving->layers[i], &may, err) < 0)
            return -1;
        if (may)
            solving->layers[kept++] = solving->layers[i];
    }
    solving->layer_count = solved->count = kept;
    solving->old_biases = by_alloc_zero(kept, sizeof *solving->old_biases, err);
    solved->layers = by_alloc_zero(kept, sizeof *solved->layers, err);
    if (!solving->old_biases || !solved->layers)
        return -1;
    for (size_t i = 0; i < kept; i++) {
        const struct by_round_layer *layer = &solving->layers[i];
        solved->layers[i].name = layer->node->name ? layer->node->name : layer->rows.name;
    }
    return 0;
}

int by_rounding_go_on(const struct by_solving *solving, struct baryon_error *err)
{
    const size_t done = solving->done;
    const struct by_calibrate_options *options = &solving->q->options->calibrate;
    const struct by_calibrate_progress now = {.stage = "round",
                                              .unit = "layers",
                                              .done = done,
                                              .total = solving->layer_count,
                                              .before = solving->taken_up,
                                              .share = solving->share,
                                              .keeps = solving->q->options->checkpoint != NULL,
                                              .seconds = by_seconds() - solving->begun};
    if (!options->progress || !options->progress(options->context, &now))
        return 0;
    by_fail(err, BARYON_ERR_CANCELLED, "rounding reconstruction: stopped after %zu of %zu layers",
            done, solving->layer_count);
    return solving->q->options->checkpoint ? by_err_hint(err, "run the same command to resume")
                                           : -1;
}

static int solve_all(struct by_solving *solving, struct baryon_error *err)
{
    for (; solving->done < solving->layer_count; solving->done++) {
        solving->share = by_rounding_share(solving, solving->done);
        if (by_rounding_go_on(solving, err) < 0 ||
            by_rounding_layer(solving, solving->done, err) < 0)
            return -1;
        give_back(solving);
    }
    solving->share = 1;
    return by_rounding_go_on(solving, err);
}

static int take_back(struct by_solving *solving, struct baryon_error *err)
{
    struct by_quantization *q = solving->q;
    for (size_t i = 0; i < solving->layer_count; i++) {
        const struct by_round_layer *layer = &solving->layers[i];
        q->plan->rows.at[layer->weight].rounded = NULL;
        q->plan->rows.at[layer->weight].solved = NULL;
        if (!solving->old_biases[i])
            continue;
        const size_t row = by_quant_find(q->plan, layer->bias);
        if (by_floats_write(q->model, layer->bias->initializer, solving->old_biases[i],
                            layer->groups * layer->outs, err) < 0 ||
            (row != BY_NO_ROW && by_quant_find_constant(q->plan, row, q->pool, err) < 0))
            return -1;
    }
    return 0;
}

static int remark(struct by_solving *solving, struct baryon_error *err)
{
    const struct by_solved *solved = &solving->q->report.solved;
    for (size_t i = 0; i < solving->layer_count; i++)
        if (solved->layers[i].kept &&
            by_quant_remark(
                solving->q->plan, solving->layers[i].weight, "rounding", err,
                "reconstructed on samples: %.1f dB at the layer's output, nearest rounding %.1f",
                solved->layers[i].solved, solved->layers[i].nearest) < 0)
            return -1;
    return 0;
}

/* What makes the solution worth less than it looks. */
static void tell_limits(const struct by_solving *solving)
{
    const struct by_solved *solved = &solving->q->report.solved;
    const struct by_log *log = solving->q->options->log;
    const uint64_t left_out = solving->left_out + by_round_left_out(solving->scratch);
    size_t scarce = 0;
    if (!solved->aside)
        by_log(log, BY_LOG_NOTICE,
               "rounding reconstruction is judged on its own %zu samples, none are held out; give "
               "4 or more samples",
               solving->train);
    if (left_out)
        by_log(log, BY_LOG_NOTICE,
               "rounding reconstruction: inputs or outputs of layers contain NaN, infinities or "
               "magnitudes of 2^56 and more; %llu rows are skipped",
               (unsigned long long)left_out);
    for (size_t i = 0; i < solved->count; i++)
        scarce += solved->layers[i].rows < solved->layers[i].columns;
    if (scarce)
        by_log(log, BY_LOG_INFO,
               "rounding reconstruction: %zu of %zu layers have more columns than rows of samples; "
               "directions that no sample covers stay near nearest rounding",
               scarce, solved->count);
}

static bool has_grids(const struct by_solving *solving)
{
    for (size_t i = 0; i < solving->layer_count; i++)
        if (by_round_has_grid(solving->q->plan, &solving->layers[i]))
            return true;
    return false;
}

static bool is_certain(const struct by_gain *gain)
{
    return gain->decibels > 0 && gain->decibels >= gain->error;
}

/* Rounding of integers gains so much that samples hardly tell otherwise. Floats and blocks have
 * small errors, of which a sample or two often are nearly all: chance has to be ruled out, in all
 * samples together or in what each of them says. */
static bool is_better(const struct by_solving *solving, const struct by_judgement *after,
                      const struct by_judgement *before)
{
    const struct by_gain all = by_judge_gain(after, before, solving->judging);
    const struct by_gain usual = by_judge_usual_gain(after, before, solving->judging);
    return has_grids(solving) ? is_certain(&all) || is_certain(&usual) : all.decibels > 0;
}

static int solve_and_judge(struct by_solving *solving, struct baryon_error *err)
{
    struct by_solved *solved = &solving->q->report.solved;
    struct by_judgement *before = judge(solving, err), *after = NULL;
    if (before && by_rounding_keep_open(solving, err) == 0 && solve_all(solving, err) == 0)
        after = judge(solving, err);
    if (after) {
        solved->before = by_judge_sqnr(before, solving->judging);
        solved->after = by_judge_sqnr(after, solving->judging);
        solved->kept = is_better(solving, after, before);
    }
    by_free(before);
    by_free(after);
    return after ? 0 : -1;
}

static int solve(struct by_solving *solving, struct baryon_error *err)
{
    struct by_solved *solved = &solving->q->report.solved;
    solved->train = solving->train;
    by_round_set_samples(solving->scratch, solving->train);
    solved->judging = solving->judging;
    solved->aside = by_judge_kept(solving->judge) > solving->train;
    if (solve_and_judge(solving, err) < 0)
        return -1;
    by_log(solving->q->options->log, BY_LOG_INFO,
           "rounding reconstruction: %.2f dB on %zu held-out samples, nearest rounding %.2f dB%s",
           solved->after, solved->aside ? solving->judging : 0, solved->before,
           solved->kept ? "" : ", nearest rounding kept");
    if (solving->scales == BY_ROUNDING_NO_SCALES)
        tell_limits(solving);
    if ((solved->kept ? remark : take_back)(solving, err) < 0)
        return -1;
    return by_refine(solving->q->plan, err);
}

static void release(struct by_solving *solving)
{
    by_round_choice_release(&solving->known.choice);
    by_stages_close(solving->exact);
    by_stages_close(solving->rounded);
    by_round_scratch_close(solving->scratch);
    by_judge_close(solving->judge);
    by_unpark_room_release(&solving->read_room);
    by_unpark_room_release(&solving->wanted_room);
    by_depot_close(solving->depot);
    by_model_free(solving->loaded);
    by_trial_copy_close(&solving->copy);
    by_frame_release(&solving->frame);
    for (size_t i = 0; solving->old_biases && i < solving->layer_count; i++)
        by_free(solving->old_biases[i]);
    by_free(solving->old_biases);
    by_rounding_move_close(&solving->move);
    by_free(solving->layers);
    by_free((void *)solving->inputs);
    by_free(solving->values);
}

/* From the first one again. */
static int rewind_samples(const struct by_quantization *q, struct baryon_error *err)
{
    const struct by_input_callback *samples = q->options->calibrate.samples;
    if (!samples)
        return 0;
    if (samples->rewind)
        return samples->rewind(samples->context, err);
    by_fail(err, BARYON_ERR_USAGE,
            "rounding reconstruction reads the samples again after calibration, and these samples "
            "can be read only once");
    return by_err_hint(err, "give samples with a function that restarts them, or rounding nearest");
}

int by_rounding_solve(struct by_quantization *q, struct baryon_error *err)
{
    const struct by_recipe *recipe = q->options->recipe;
    if (recipe->rounding == BY_ROUNDING_NEAREST)
        return 0;
    if (by_rounding_tell_shared(q, err) < 0)
        return -1;
    if (recipe->rounding_scales && recipe->approach == BY_APPROACH_STATIC)
        return by_rounding_best(q, err);
    struct by_rounding_keep keep = {0};
    const int status = by_rounding_once(q, &(struct by_rounding_way){0}, &keep, err);
    by_rounding_keep_close(&keep);
    return status;
}

/* Everything that is done before the first layer. */
static int prepare(struct by_solving *solving, struct baryon_error *err)
{
    return rewind_samples(solving->q, err) < 0 || read_samples(solving, err) < 0 ||
                   open_copy(solving, err) < 0 || open_stages(solving, err) < 0 ||
                   by_round_scratch_open(&solving->scratch, solving->q->pool, err) < 0
               ? -1
               : 0;
}

int by_rounding_once(struct by_quantization *q, struct by_rounding_way *way,
                     struct by_rounding_keep *keep, struct baryon_error *err)
{
    struct by_solving solving = {
        .q = q, .scales = way->scales, .keep = keep, .begun = by_seconds()};
    int status = open_reference(&solving, err) < 0 ? -1 : find_layers(&solving, err);
    if (status == 0 && solving.layer_count &&
        (prepare(&solving, err) < 0 ||
         ((solving.moved || !way->has_to_move) && solve(&solving, err) < 0)))
        status = -1;
    way->moved = solving.moved;
    release(&solving);
    return status;
}
