/* What a run over all layers stands on: the samples, the reference, the copy. */
#include "rounding/rounding_internal.h"

#include "base/thread.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/lower.h"
#include "quant/plan_copy.h"

/* Of the samples a quarter judges, as far as there are so many. */
#define JUDGING_MOST 24
/* Bytes that wait in memory; more would hardly be faster, since what is in a file is in the
 * system's cache as long as there is room, and memory would grow with samples up to there. */
#define WAITING ((uint64_t)8 << 20)

/* --- Samples --- */

static int open_depot(struct by_rounding_run *run, struct baryon_error *err)
{
    const uint64_t asked = run->q->options->calibrate.max_memory;
    const struct by_depot_options options = {
        .folder = run->q->options->folder,
        .budget = asked && asked < WAITING ? asked : WAITING,
    };
    return by_depot_open(&run->shared->depot, &options, err);
}

/* Statistics of an earlier run do not say how many samples there are to take. */
static void count_samples(struct by_rounding_run *run)
{
    const uint64_t most = (uint64_t)run->q->options->recipe->rounding_samples;
    uint64_t all = by_quantization_samples(run->q);
    all = !all || all > most ? most : all;
    run->judging = (size_t)(all / 4 < JUDGING_MOST ? all / 4 : JUDGING_MOST);
    run->train = (size_t)all - run->judging;
}

static int open_judge(struct by_rounding_run *run, struct baryon_error *err)
{
    const struct by_quantize_options *all = run->q->options;
    struct by_judge_options options = {
        .data = all->data,
        .samples = all->calibrate.samples,
        .input = all->calibrate.input,
        .session = all->calibrate.session,
        .look = run->train,
        .aside = run->judging,
        .most = run->judging,
        .unsaturated = !run->q->options->recipe->compat,
        .shares = true,
        .depot = run->shared->depot,
    };
    options.input.log = NULL;
    const size_t count = run->train + run->judging;
    if (options.input.random && (!options.input.count || options.input.count > count))
        options.input.count = count;
    return by_judge_open(&run->shared->judge, run->reference, &options, err) < 0
               ? -1
               : by_judge_references(run->shared->judge, run->q->pool, err);
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

/* Where there is a single sample, it judges what was solved on it. */
static int read_samples(struct by_rounding_run *run, struct baryon_error *err)
{
    size_t inputs;
    count_samples(run);
    if (!run->shared->judge &&
        (rewind_samples(run->q, err) < 0 || open_depot(run, err) < 0 || open_judge(run, err) < 0))
        return -1;
    run->depot = run->shared->depot;
    run->judge = run->shared->judge;
    run->train = by_judge_looks(run->judge);
    run->judging = by_judge_count(run->judge);
    const size_t count = run->train + run->judging;
    run->inputs = by_alloc(count, sizeof *run->inputs, err);
    if (!run->inputs)
        return -1;
    for (size_t i = 0; i < count; i++)
        run->inputs[i] = by_judge_parked(
            run->judge, i < by_judge_kept(run->judge) ? i : i - run->train, &inputs);
    return 0;
}

/* --- The models --- */

int by_rounding_open_reference(struct by_rounding_run *run, struct baryon_error *err)
{
    const struct by_frame *exact = &run->q->exact;
    run->reference = run->q->model;
    if (!exact->count)
        return 0;
    struct baryon_model **loaded = &run->shared->loaded;
    if (!*loaded && by_frame_copy(exact, loaded, err) < 0)
        return -1;
    run->reference = *loaded;
    return by_model_settle(*loaded, err);
}

static int open_copy(struct by_rounding_run *run, struct baryon_error *err)
{
    struct by_quantization *q = run->q;
    run->recipe = by_recipe_to_run(q->options->recipe);
    run->recipe.format = BY_FORMAT_QDQ;
    if (by_frame_take(&run->frame, q->model, err) < 0 ||
        (run->scales == BY_ROUNDING_SCALES_OF_MODEL && by_rounding_search(run, err) < 0) ||
        by_draft_open_planned(&run->copy, &run->frame, q->plan,
                              BY_ROLES_WEIGHTS | BY_ROLES_ACTIVATIONS, NULL, err) < 0)
        return -1;
    return by_rounding_floats_stay(run) ? by_rounding_nearest_floats(run, err)
                                        : by_lower(run->copy.plan, q->pool, err);
}

/* Pairs are computed as they stand, for which more optimization would take longer than it gains. */
static int open_stages(struct by_rounding_run *run, struct baryon_error *err)
{
    const struct by_quantization *q = run->q;
    struct by_stages_options options = {
        .session = q->options->calibrate.session, .pool = q->pool, .depot = run->depot};
    const size_t samples = run->train + run->judging;
    size_t inputs;
    (void)by_judge_parked(run->judge, 0, &inputs);
    if (by_stages_open(&run->exact, run->reference, run->inputs, inputs, samples, &options, err) <
        0)
        return -1;
    options.session.as_written = true;
    options.session.optimization = 1;
    options.outputs_wait = true;
    return by_stages_open(&run->rounded, run->copy.model, run->inputs, inputs, samples, &options,
                          err);
}

/* --- All of it --- */

int by_rounding_open(struct by_rounding_run *run, struct baryon_error *err)
{
    return read_samples(run, err) < 0 || open_copy(run, err) < 0 || open_stages(run, err) < 0 ||
                   by_round_scratch_open(&run->scratch, run->q->pool, err) < 0
               ? -1
               : 0;
}

void by_rounding_close(struct by_rounding_run *run)
{
    by_stages_close(run->exact);
    by_stages_close(run->rounded);
    by_round_scratch_close(run->scratch);
    by_unpark_room_release(&run->read_room);
    by_unpark_room_release(&run->wanted_room);
    by_draft_close(&run->copy);
    by_frame_release(&run->frame);
    by_snapshot_release(&run->as_came);
    by_rounding_move_close(&run->move);
    by_free(run->layers);
    by_free(run->described);
    by_free((void *)run->inputs);
    by_free(run->values);
}

void by_rounding_shared_close(struct by_rounding_shared *shared)
{
    by_judge_close(shared->judge);
    by_depot_close(shared->depot);
    by_model_free(shared->loaded);
    by_free(shared->nearest);
    by_free(shared->corrected);
}
