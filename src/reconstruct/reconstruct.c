/* Reconstructs layer after layer and keeps what held-out samples confirm. */
#include "reconstruct/reconstruct_internal.h"

int by_reconstruct_go_on(const struct by_reconstruction *all, struct baryon_error *err)
{
    const struct by_reconstruct_options *options = all->options;
    const struct by_reconstruct_progress now = {.done = all->done,
                                                .total = all->model->layer_count,
                                                .taken_up = all->taken_up,
                                                .share = all->share};
    return options->progress ? options->progress(options->context, &now, err) : 0;
}

uint64_t by_reconstruct_left_out(const struct by_reconstruction *all)
{
    return all->left_out + by_round_left_out(all->options->scratch);
}

static int solve_layers(struct by_reconstruction *all, struct baryon_error *err)
{
    for (; all->done < all->model->layer_count; all->done++) {
        all->share = by_reconstruct_share(all, all->done);
        if (by_reconstruct_go_on(all, err) < 0 || by_reconstruct_layer(all, all->done, err) < 0)
            return -1;
    }
    all->share = 1;
    return by_reconstruct_go_on(all, err);
}

/* What makes the solution worth less than it looks. */
static void report_limits(const struct by_reconstruction *all)
{
    const struct by_solved *solved = all->solved;
    const struct by_log *log = all->options->log;
    const uint64_t left_out = by_reconstruct_left_out(all);
    size_t scarce = 0;
    if (!solved->aside)
        by_log(log, BY_LOG_NOTICE,
               "rounding reconstruction is judged on its own %zu samples, none are held out; give "
               "4 or more samples",
               all->model->train);
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

/* Nobody runs the model: each layer has judged for itself. */
static int solve_alone(struct by_reconstruction *all, struct baryon_error *err)
{
    struct by_solved *solved = all->solved;
    if (by_reconstruct_keep_open(all, err) < 0 || solve_layers(all, err) < 0)
        return -1;
    for (size_t i = 0; i < solved->count; i++) {
        const struct by_solved_layer *layer = &solved->layers[i];
        solved->before += layer->nearest / (double)solved->count;
        solved->after += (layer->kept ? layer->solved : layer->nearest) / (double)solved->count;
        solved->kept |= layer->kept;
    }
    return 0;
}

static int solve_and_judge(struct by_reconstruction *all, struct baryon_error *err)
{
    const struct by_reconstruct_model *model = all->model;
    struct by_reconstruct_score before, after;
    if (!model->judge)
        return solve_alone(all, err);
    if (model->judge(model->context, &before, err) < 0 || by_reconstruct_keep_open(all, err) < 0 ||
        solve_layers(all, err) < 0 || model->judge(model->context, &after, err) < 0)
        return -1;
    all->solved->before = after.against;
    all->solved->after = after.sqnr;
    all->solved->kept = after.better;
    return 0;
}

static int reconstruct_all(struct by_reconstruction *all, struct baryon_error *err)
{
    const struct by_reconstruct_model *model = all->model;
    const struct by_solved *solved = all->solved;
    by_round_set_samples(all->options->scratch, model->train);
    if (solve_and_judge(all, err) < 0)
        return -1;
    by_log(all->options->log, BY_LOG_INFO,
           "rounding reconstruction: %.2f dB%s on %zu held-out samples, nearest rounding %.2f dB%s",
           solved->after, model->judge ? "" : " at the outputs of layers in the mean",
           solved->aside ? model->judging : 0, solved->before,
           solved->kept ? "" : ", nearest rounding kept");
    if (!all->options->repeats)
        report_limits(all);
    return solved->kept || !model->judge ? 0 : model->undo(model->context, err);
}

int by_reconstruct(const struct by_reconstruct_model *model,
                   const struct by_reconstruct_options *options, struct by_solved *solved,
                   struct baryon_error *err)
{
    struct by_reconstruction all = {.model = model, .options = options, .solved = solved};
    solved->count = model->layer_count;
    solved->train = model->train;
    solved->judging = model->judging;
    solved->aside = model->held_out;
    for (size_t i = 0; i < model->layer_count; i++)
        solved->layers[i].name = model->layers[i].name;
    const int status = reconstruct_all(&all, err);
    by_round_choice_release(&all.known.choice);
    return status;
}
