/* Reconstructs one layer: gathers moments, solves, and judges on held-out samples. */
#include "base/decibels.h"
#include "reconstruct/reconstruct_internal.h"
#include "solve/round_given.h"

enum { NEAREST, SOLVED, SCALED, CHOICES }; /* SCALED: scales of weights are solved as well */

/* --- Looking at samples --- */

static int read_sample(const struct by_reconstruction *all, size_t sample,
                       const struct by_array **x, const struct by_array **y,
                       struct baryon_error *err)
{
    return all->model->sample(all->model->context, sample, x, y, err);
}

/* Other methods look at the whole matrix. */
static bool may_keep_rows(const struct by_round_options *options)
{
    return !options->gptq && !options->relaxation && options->starts < 2;
}

static bool looks_again(const struct by_reconstruction *all)
{
    return by_round_hides(all->target) &&
           !(all->options->round.fixed_biases && all->target->biases);
}

static int gather_moments(const struct by_reconstruction *all, struct by_round_moments *moments,
                          struct baryon_error *err)
{
    if (by_round_moments_init(moments, all->target, err) < 0)
        return -1;
    if (may_keep_rows(&all->options->round))
        moments->samples = all->model->train;
    by_round_keep(all->options->scratch, looks_again(all) ? BY_ROUND_KEPT : 0);
    for (size_t i = 0; i < all->model->train; i++) {
        const struct by_array *x, *y;
        if (by_reconstruct_go_on(all, err) < 0 || read_sample(all, i, &x, &y, err) < 0 ||
            by_round_moments_look(moments, all->options->scratch, all->target, x, y, i, err) < 0)
            return -1;
    }
    return moments->rows ? by_round_moments_finish(moments, all->target->biases != NULL,
                                                   all->options->pool, err)
                         : 0;
}

static int find_moments(const struct by_reconstruction *all, struct by_round_moments *moments,
                        struct baryon_error *err)
{
    const struct by_reconstruct_model *model = all->model;
    return model->moments ? model->moments(model->context, false, moments, err)
                          : gather_moments(all, moments, err);
}

static int look_again(void *context, struct by_round_behind *behind, struct baryon_error *err)
{
    const struct by_reconstruction *all = context;
    struct by_round_scratch *scratch = all->options->scratch;
    const uint64_t left_out = by_round_left_out(scratch);
    if (by_round_behind_look_kept(behind, scratch, all->target, err) < 0)
        return -1;
    for (size_t i = by_round_kept_samples(scratch); i < all->model->train; i++) {
        const struct by_array *x, *y;
        if (by_reconstruct_go_on(all, err) < 0 || read_sample(all, i, &x, &y, err) < 0 ||
            by_round_behind_look(behind, scratch, all->target, x, y, i, err) < 0)
            return -1;
    }
    by_round_set_left_out(scratch, left_out);
    return 0;
}

static int measure_moments(const struct by_reconstruction *all, struct by_round_errors *errors,
                           struct baryon_error *err)
{
    struct by_round_moments moments = {0};
    int status = all->model->moments(all->model->context, true, &moments, err);
    if (status == 0)
        status = by_round_errors_take(errors, all->target, &moments, all->options->pool, err);
    by_round_moments_release(&moments);
    return status;
}

static int measure_errors(const struct by_reconstruction *all, struct by_round_errors *errors,
                          struct baryon_error *err)
{
    const size_t train = all->model->train;
    if (all->model->moments)
        return measure_moments(all, errors, err);
    for (size_t i = train; i < train + all->model->judging; i++) {
        const struct by_array *x, *y;
        if (read_sample(all, i, &x, &y, err) < 0 ||
            by_round_errors_look(errors, all->options->scratch, all->target, x, y, i, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Deciding --- */

#define WORTH 0.9 /* of the error, or less, or scales of weights stay */

static int keep_choice(struct by_reconstruction *all, const struct by_round_choice *choice,
                       struct baryon_error *err)
{
    all->taken = choice;
    return all->model->patch(all->model->context, choice, err);
}

/* Other scales have to be clearly better, and the model has to let them be. */
static int pick_choice(const struct by_reconstruction *all, const struct by_round_choice *choices,
                       const double noise[CHOICES], size_t *best, struct baryon_error *err)
{
    bool moved = false;
    *best = SOLVED;
    if (!choices[SCALED].scales || !(noise[SCALED] < WORTH * noise[SOLVED]) ||
        !(noise[SCALED] < noise[NEAREST]))
        return 0;
    if (all->model->rescale(all->model->context, &choices[SCALED], &moved, err) < 0)
        return -1;
    *best = moved ? SCALED : SOLVED;
    return 0;
}

/* Samples that judge are none of those that it was solved on, unless there are no others. */
static int decide(struct by_reconstruction *all, size_t place, struct by_round_choice *choices,
                  struct baryon_error *err)
{
    double noise[CHOICES] = {0};
    struct by_round_errors errors = {
        .choices = choices, .count = choices[SCALED].scales ? CHOICES : SCALED, .noise = noise};
    size_t best;
    if (measure_errors(all, &errors, err) < 0 || pick_choice(all, choices, noise, &best, err) < 0)
        return -1;
    struct by_solved_layer *row = &all->solved->layers[place];
    row->nearest = by_decibels(errors.signal, noise[NEAREST]);
    row->solved = by_decibels(errors.signal, noise[best]);
    row->kept = noise[best] < noise[NEAREST];
    by_log(all->options->log, BY_LOG_INFO, "%s: %.2f dB, nearest rounding %.2f dB%s", row->name,
           row->solved, row->nearest,
           !row->kept       ? ", nearest rounding kept"
           : best == SCALED ? ", scales changed"
                            : "");
    return row->kept ? keep_choice(all, &choices[best], err) : 0;
}

/* --- Solving --- */

static struct by_round_options options_for(struct by_reconstruction *all, size_t place)
{
    struct by_round_options options = all->options->round;
    options.look = all->model->moments ? NULL : look_again;
    options.context = all;
    options.lots = place;
    options.scales = options.scales && all->model->rescale;
    return options;
}

static int solve_choices(struct by_reconstruction *all, size_t place,
                         struct by_round_moments *moments, struct by_round_choice choices[CHOICES],
                         struct baryon_error *err)
{
    const struct by_round_target *target = all->target;
    const struct by_round_options options = options_for(all, place);
    struct by_solved_layer *row = &all->solved->layers[place];
    if (find_moments(all, moments, err) < 0)
        return -1;
    row->rows = moments->rows;
    row->columns = target->columns;
    if (!moments->rows)
        return 0;
    if (by_round_nearest(target, &choices[NEAREST], err) < 0 ||
        by_round_solve(target, moments, &options, all->options->pool, &choices[SOLVED],
                       &choices[SCALED], err) < 0)
        return -1;
    by_round_moments_release(moments);
    by_round_keep(all->options->scratch, 0);
    return decide(all, place, choices, err);
}

static int solve_layer(struct by_reconstruction *all, size_t place, struct baryon_error *err)
{
    struct by_round_moments moments = {0};
    struct by_round_choice choices[CHOICES] = {{0}};
    int status = solve_choices(all, place, &moments, choices, err);
    by_round_moments_release(&moments);
    if (status == 0)
        status = by_reconstruct_keep_add(all, place, all->taken, err);
    for (size_t i = 0; i < CHOICES; i++)
        by_round_choice_release(&choices[i]);
    return status;
}

/* As it was solved before it came to an interruption. */
static int repeat_layer(struct by_reconstruction *all, struct baryon_error *err)
{
    const struct by_reconstruct_model *model = all->model;
    const struct by_round_choice *choice = &all->known.choice;
    bool moved = true;
    if (!choice->integers)
        return 0;
    if (choice->scales && model->rescale && model->rescale(model->context, choice, &moved, err) < 0)
        return -1;
    if (!moved)
        return by_fail(err, BARYON_ERR_INTERNAL, "%s: the scales found cannot be applied again",
                       all->target->rows.name);
    return keep_choice(all, choice, err);
}

/* Models are run up to a layer that is known already just the same: in other pieces they could be
 * computed with other bits. */
int by_reconstruct_layer(struct by_reconstruction *all, size_t place, struct baryon_error *err)
{
    const struct by_reconstruct_model *model = all->model;
    all->taken = NULL;
    if (model->reach(model->context, place, &all->target, err) < 0)
        return -1;
    int status = by_reconstruct_keep_next(all, place, err);
    if (status == 0)
        status = all->known.is_there ? repeat_layer(all, err) : solve_layer(all, place, err);
    model->leave(model->context);
    all->target = NULL;
    return status;
}
