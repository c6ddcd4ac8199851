/* Makes the choices of the config: each on drafts, by held-out samples. */
#include "trial/choices.h"
#include "trial/trial.h"

static int make_choice(const struct by_quantization *q, struct by_trial *trial,
                       const struct by_choice_row *row, struct by_candidate *now,
                       struct baryon_error *err)
{
    struct by_candidate candidates[] = {*now, *now};
    struct by_trial_score scores[2];
    candidates[1].edits[row->kind] = row->value;
    if (by_trial_contest(trial, candidates, 2, scores, err) < 0)
        return -1;
    if (by_trial_prefers(q, row->rule, &scores[1], &scores[0]))
        *now = candidates[1];
    return 0;
}

static bool can_judge(const struct by_quantization *q)
{
    return by_trial_has_samples(q) && q->options->recipe == &q->recipe &&
           by_recipe_needs_data(&q->recipe) && q->plan->node_count <= BY_TRIAL_NODES_MOST;
}

static size_t count_open(const struct by_quantization *q)
{
    size_t count, open = 0;
    const struct by_choice_row *rows = by_choices(&count);
    for (size_t i = 0; i < count; i++)
        open += rows[i].applies(q->plan);
    return open;
}

static int choose_all(struct by_quantization *q, struct by_trial *trial, struct by_candidate *now,
                      struct baryon_error *err)
{
    size_t count;
    const struct by_choice_row *rows = by_choices(&count);
    for (size_t i = 0; i < count; i++)
        if (rows[i].applies(q->plan) && make_choice(q, trial, &rows[i], now, err) < 0)
            return -1;
    return 0;
}

int by_choose(struct by_quantization *q, bool *changed, struct baryon_error *err)
{
    struct by_trial *trial;
    struct by_candidate now = {0};
    const size_t open = count_open(q);
    *changed = false;
    if (!open || !can_judge(q))
        return 0;
    if (by_trial_open(&trial, q, 1 + open, err) < 0)
        return -1;
    const int status = choose_all(q, trial, &now, err);
    *changed = by_candidate_edits_config(&now);
    if (status == 0 && !*changed) {
        q->trial = trial;
        return 0;
    }
    by_trial_close(trial); /* it is of another config */
    return status < 0 ? -1 : by_candidate_edit_config(&now, &q->recipe, err);
}
