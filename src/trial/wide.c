/* Chooses how many activations have 16 bits instead of 8. */
#include "trial/wide.h"

#include "quant/own_sqnr.h"

/* In steps of about a bit, from tensors that are lost in 8 bits to those that are good. */
static const int levels[BY_WIDE_LEVELS] = {25, 30, 35};
/* Nearly all tensors. One whose few large rows are good hides that all others are lost, which a
 * norm behind it enlarges again: class tokens beside patches. */
#define LAST_LEVEL 45

static size_t count_below(const struct by_recipe *recipe, double level)
{
    size_t count = 0;
    for (size_t i = 0; i < recipe->own.count; i++)
        count += recipe->own.at[i].sqnr < level;
    return count;
}

static int list_own(struct by_quantization *q, struct by_stats *stats, bool at_best,
                    struct baryon_error *err)
{
    struct by_recipe *recipe = &q->recipe;
    by_free(q->own);
    q->own = NULL;
    recipe->own.count = 0;
    if (by_quant_own_list(q->plan, stats, at_best, &q->own, &recipe->own.count, err) < 0)
        return -1;
    recipe->own.at = q->own;
    return 0;
}

int by_wide_list(struct by_quantization *q, struct baryon_error *err)
{
    const struct by_recipe *recipe = &q->recipe;
    return (recipe->wide_auto || recipe->wide_below > 0) && q->stats
               ? list_own(q, q->stats, false, err)
               : 0;
}

int by_wide_foresee(struct by_quantization *q, struct by_stats *seen, int *level,
                    struct baryon_error *err)
{
    const int greatest = levels[BY_WIDE_LEVELS - 1];
    *level = 0;
    if (!seen || !by_wide_that_judges(&q->recipe))
        return 0;
    if (list_own(q, seen, true, err) < 0)
        return -1;
    *level = count_below(&q->recipe, greatest) ? greatest : 0;
    return 0;
}

bool by_wide_is_open(const struct by_recipe *recipe)
{
    return recipe->wide_auto && recipe->domain != BY_Q_ONNX &&
           count_below(recipe, levels[BY_WIDE_LEVELS - 1]) > 0;
}

int by_wide_that_judges(const struct by_recipe *recipe)
{
    return recipe->wide_auto && recipe->domain != BY_Q_ONNX ? BY_WIDE_ALL : 0;
}

/* The unchanged one first; levels that add no tensor to it are left out. */
static size_t list_candidates(const struct by_recipe *recipe, const struct by_candidate *now,
                              struct by_candidate *candidates)
{
    size_t count = 1, tensors = count_below(recipe, now->edits[BY_EDIT_WIDE]);
    candidates[0] = *now;
    for (size_t i = 0; i < BY_WIDE_LEVELS; i++) {
        const size_t below = count_below(recipe, levels[i]);
        if (below <= tensors)
            continue;
        tensors = below;
        candidates[count] = *now;
        candidates[count++].edits[BY_EDIT_WIDE] = levels[i];
    }
    return count;
}

/* Upwards as long as it pays and the model is not good yet. */
static size_t climb(const struct by_quantization *q, const struct by_trial_score *scores,
                    size_t count)
{
    size_t place = 0;
    for (size_t i = 1; i < count && !by_trial_is_good(&scores[place]); i++)
        if (by_trial_prefers(q, BY_VERDICT_WIDER, &scores[i], &scores[place]))
            place = i;
    return place;
}

static bool reads_wide(const struct by_quantization *q, const struct baryon_node *node, int level)
{
    for (size_t i = 0; i < node->input.count; i++) {
        const size_t row = by_quant_read(q->plan, node, i);
        if (row != BY_NO_ROW &&
            by_quant_is_below(&q->recipe, q->plan->rows.at[row].value->name, level))
            return true;
    }
    return false;
}

static double share_of_macs(const struct by_quantization *q, int level)
{
    double all = 0, wide = 0;
    for (size_t i = 0; i < q->plan->node_count; i++) {
        const struct by_quant_node *node = &q->plan->nodes[i];
        all += node->macs;
        if (node->state == BY_NODE_QUANTIZED && reads_wide(q, node->node, level))
            wide += node->macs;
    }
    return all > 0 ? wide / all : 0;
}

static void report_wide(struct by_quantization *q, int level, const struct by_trial_score *wide,
                        const struct by_trial_score *narrow)
{
    struct by_choice_made *made = by_trial_report_choice(q, BY_EDIT_WIDE, level, wide, narrow);
    made->tensors = count_below(&q->recipe, level);
    made->macs_share = share_of_macs(q, level);
    by_log(q->options->log, BY_LOG_NOTICE,
           "%zu of %zu activations get 16 bits, since 8 bits represent them with less than %d dB: "
           "%.1f dB better on held-out samples; %.0f %% of multiply-adds read them; "
           "--wide-auto=false keeps 8 bits",
           made->tensors, q->recipe.own.count, level, made->gain, 100 * made->macs_share);
}

/* Where the last level is not enough and the one below it is worse, none of them is tried. scores:
 * of the first and the last one, which move to their places. */
static int keep_last(const struct by_quantization *q, struct by_trial *trial,
                     const struct by_candidate *candidates, size_t count,
                     struct by_trial_score *scores, bool *keep, struct baryon_error *err)
{
    struct by_trial_score two[2];
    *keep = false;
    if (count <= 2 || by_trial_is_good(&scores[1]))
        return 0;
    if (by_trial_compare(q, trial, BY_VERDICT_WIDER, &candidates[count - 2], two, keep, err) < 0)
        return -1;
    scores[count - 1] = two[1];
    return 0;
}

/* The lowest level that is enough, or that all further ones gain nothing over. */
static int choose_level(const struct by_quantization *q, struct by_trial *trial,
                        const struct by_candidate *candidates, size_t count,
                        struct by_trial_score *scores, size_t *place, struct baryon_error *err)
{
    const struct by_candidate ends[] = {candidates[0], candidates[count - 1]};
    bool better;
    *place = 0;
    if (by_trial_ahead(trial, ends, 2, err) < 0 ||
        by_trial_contest(trial, ends, 1, scores, err) < 0)
        return -1;
    if (by_trial_is_good(&scores[0]))
        return 0;
    if (by_trial_compare(q, trial, BY_VERDICT_WIDE, ends, scores, &better, err) < 0)
        return -1;
    if (!better)
        return 0;
    if (keep_last(q, trial, candidates, count, scores, &better, err) < 0)
        return -1;
    if (!better && by_trial_contest(trial, candidates, count, scores, err) < 0)
        return -1;
    *place = better ? count - 1 : climb(q, scores, count);
    return 0;
}

/* Where that is not good, what the levels cannot see. scores: of the model without wide tensors,
 * which stays, and of the best one. */
static int look_further(const struct by_quantization *q, struct by_trial *trial,
                        struct by_candidate *best, struct by_trial_score *scores,
                        struct baryon_error *err)
{
    struct by_candidate both[] = {*best, *best};
    struct by_trial_score two[2];
    bool better;
    both[1].edits[BY_EDIT_WIDE] = LAST_LEVEL;
    if (by_trial_is_good(&scores[1]) ||
        count_below(&q->recipe, LAST_LEVEL) <= count_below(&q->recipe, best->edits[BY_EDIT_WIDE]))
        return 0;
    if (by_trial_compare(q, trial, BY_VERDICT_WIDEST, both, two, &better, err) < 0)
        return -1;
    *best = both[better];
    scores[1] = two[better];
    return 0;
}

int by_choose_wide(struct by_quantization *q, struct by_trial *trial, struct by_candidate *now,
                   struct baryon_error *err)
{
    struct by_candidate candidates[1 + BY_WIDE_LEVELS];
    struct by_trial_score scores[1 + BY_WIDE_LEVELS];
    const size_t count = list_candidates(&q->recipe, now, candidates);
    size_t place;
    if (count == 1)
        return 0;
    if (choose_level(q, trial, candidates, count, scores, &place, err) < 0)
        return -1;
    struct by_trial_score both[] = {scores[0], scores[place]};
    struct by_candidate best = candidates[place];
    if (look_further(q, trial, &best, both, err) < 0)
        return -1;
    if (best.edits[BY_EDIT_WIDE] != now->edits[BY_EDIT_WIDE])
        report_wide(q, best.edits[BY_EDIT_WIDE], &both[1], &both[0]);
    *now = best;
    return 0;
}
