/* Makes drafts with the edits of candidates, quantizes and opens them. */
#include "calibrate/size.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/plan_copy.h"
#include "quant/refine.h"
#include "trial/biases.h"
#include "trial/equalize.h"
#include "trial/trial_internal.h"

/* Drafts are made side by side as long as they take no more than this; each takes about so many
 * times its weights, and what a run holds. */
#define TOGETHER ((uint64_t)512 << 20)
#define COPIES   5

/* --- One draft --- */

struct preparing {
    struct by_trial *trial;
    struct by_trial_entry *entry;
    struct by_draft draft;
};

/* If it is adopted, the stage after it looks at the model as it is then, with channels. */
static bool is_seen_again(const struct preparing *preparing)
{
    const int *edits = preparing->entry->candidate.edits;
    const struct by_quant_plan *plan = preparing->draft.plan;
    if (edits[BY_EDIT_ROTATION] && plan->recipe->smooth != BY_SMOOTH_OFF)
        return true;
    if ((edits[BY_EDIT_ROTATION] || edits[BY_EDIT_SMOOTHING]) &&
        plan->recipe->split != BY_SPLIT_OFF)
        return true;
    return (edits[BY_EDIT_ROTATION] || edits[BY_EDIT_SMOOTHING] || edits[BY_EDIT_SPLITTING]) &&
           by_equalize_is_tried(plan);
}

static int observe(const struct preparing *preparing, bool by_channel, struct by_stats **stats,
                   struct baryon_error *err)
{
    if (by_trial_look(preparing->trial, preparing->draft.model, preparing->draft.plan, by_channel,
                      stats, NULL, err) < 0)
        return -1;
    if (*stats)
        (void)by_stats_find(*stats, ""); /* from here on they are only read */
    return 0;
}

static bool has_all(struct by_stats *stats, const char *const *names, size_t count)
{
    size_t found = 0;
    while (found < count && stats && by_stats_find(stats, names[found]))
        found++;
    return found == count;
}

/* Of more tensors than the first candidate had. They stay for others if none has any yet. */
static int observe_more(struct preparing *preparing, const char *const *names, size_t count,
                        struct by_stats **stats, struct by_stats **own, struct baryon_error *err)
{
    struct by_trial *trial = preparing->trial;
    struct by_trial_seen *seen = preparing->entry->seen;
    pthread_mutex_lock(&trial->lock);
    *stats = seen->wider; /* stays as it is */
    pthread_mutex_unlock(&trial->lock);
    if (*stats && has_all(*stats, names, count))
        return 0;
    if (observe(preparing, false, own, err) < 0)
        return -1;
    *stats = *own;
    pthread_mutex_lock(&trial->lock);
    if (!seen->wider) {
        seen->wider = *own;
        *own = NULL;
    }
    pthread_mutex_unlock(&trial->lock);
    return 0;
}

/* What was observed of the same model is enough, unless other tensors are quantized. own: what the
 * caller frees. */
static int find_stats(struct preparing *preparing, struct by_stats **stats, struct by_stats **own,
                      struct baryon_error *err)
{
    struct by_trial_seen *seen = preparing->entry->seen;
    const char *const *names;
    size_t count;
    *own = NULL;
    if (!seen->observed) {
        seen->observed = true;
        seen->by_channel = is_seen_again(preparing);
        if (observe(preparing, seen->by_channel, &seen->stats, err) < 0)
            return -1;
    }
    *stats = seen->stats;
    if (by_quant_wanted(preparing->draft.plan, &names, &count, err) < 0)
        return -1;
    return has_all(seen->stats, names, count)
               ? 0
               : observe_more(preparing, names, count, stats, own, err);
}

/* Solving makes up for most of what rounding weights does: what activations lose remains. */
static int lower_activations(struct preparing *preparing, struct baryon_error *err)
{
    struct by_draft *draft = &preparing->draft;
    struct by_quant_plan *part = NULL;
    draft->recipe.format = BY_FORMAT_QDQ;
    int status = by_quant_plan_copy(&part, draft->plan, draft->model, &draft->recipe,
                                    BY_ROLES_ACTIVATIONS, NULL, err);
    if (status == 0)
        status = by_lower(part, preparing->trial->q->pool, err);
    by_quant_plan_close(part);
    return status;
}

static int find_ranges(struct preparing *preparing, struct by_stats *stats,
                       struct baryon_error *err)
{
    struct by_pool *pool = preparing->trial->q->pool;
    const struct by_edit_sources sources = {.own = stats, .pool = pool};
    struct by_quant_plan *plan = preparing->draft.plan;
    const struct by_trial_seen *seen = preparing->entry->seen;
    plan->known = seen->known;
    plan->known_ranges = stats == seen->stats ? seen->ranges : NULL;
    if (by_quant_find_params(plan, stats, pool, err) < 0 || by_refine(plan, err) < 0 ||
        by_candidate_edit_plan(&preparing->entry->candidate, plan, &sources, err) < 0)
        return -1;
    return by_trial_leaves_weights(&preparing->draft.recipe) ? lower_activations(preparing, err)
                                                             : by_lower(plan, pool, err);
}

static int quantize_draft(struct preparing *preparing, struct baryon_error *err)
{
    struct by_stats *stats, *own;
    if (find_stats(preparing, &stats, &own, err) < 0)
        return -1;
    const int status = find_ranges(preparing, stats, err);
    by_stats_close(own);
    return status;
}

static int edit_draft(struct preparing *preparing, struct baryon_error *err)
{
    const struct by_candidate *candidate = &preparing->entry->candidate;
    struct by_draft *draft = &preparing->draft;
    const struct by_edit_sources sources = {.seen = preparing->trial->seen[0].stats};
    if (by_candidate_edit_config(candidate, &draft->recipe, err) < 0 ||
        by_draft_place(draft, err) < 0)
        return -1;
    if (!by_candidate_edits_model(candidate))
        return 0;
    return by_candidate_edit_model(candidate, draft->plan, &sources, err) < 0
               ? -1
               : by_draft_place(draft, err);
}

static int open_draft(struct preparing *preparing, struct baryon_error *err)
{
    struct by_trial *trial = preparing->trial;
    struct by_trial_entry *entry = preparing->entry;
    struct baryon_error refusal = {0};
    if (by_trial_open_session(trial, entry, preparing->draft.model, &refusal) == 0 ||
        by_trial_refused(trial, entry, &refusal))
        return 0;
    if (err)
        *err = refusal;
    return -1;
}

/* The session is all that is left of it. */
static int prepare_entry(struct preparing *preparing, struct baryon_error *err)
{
    struct by_trial *trial = preparing->trial;
    const int status = by_trial_go_on(trial, 0, err) < 0 ||
                               by_draft_open(&preparing->draft, trial->q, &trial->frame, err) < 0 ||
                               edit_draft(preparing, err) < 0 ||
                               quantize_draft(preparing, err) < 0 || open_draft(preparing, err) < 0
                           ? -1
                           : 0;
    by_draft_close(&preparing->draft);
    return status;
}

bool by_trial_refused(struct by_trial *trial, struct by_trial_entry *entry,
                      const struct baryon_error *err)
{
    char what[256], why[1024];
    if (err->code != BARYON_ERR_ENGINE && err->code != BARYON_ERR_UNSUPPORTED)
        return false;
    baryon_error_format(err, why, sizeof why);
    pthread_mutex_lock(&trial->lock);
    if (!entry->failed)
        by_log(trial->q->options->log, BY_LOG_NOTICE,
               "candidate %s is out, because ONNX Runtime refuses it: %s",
               by_candidate_describe(&entry->candidate, what, sizeof what), why);
    entry->failed = entry->lost = true;
    pthread_mutex_unlock(&trial->lock);
    return true;
}

/* --- Several drafts side by side --- */

struct batch {
    struct by_trial *trial;
    struct by_trial_entry *const *entries;
    size_t count;
};

static int prepare_each(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct batch *batch = context;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        struct preparing preparing = {.trial = batch->trial, .entry = batch->entries[i]};
        if (prepare_entry(&preparing, err) < 0)
            return -1;
    }
    return 0;
}

/* How many fit into memory together while they are made. */
static int together(const struct by_trial *trial, size_t *count, struct baryon_error *err)
{
    uint64_t held;
    if (by_activation_bytes(trial->q->model->graph, &held, err) < 0)
        return -1;
    if (held == UINT64_MAX)
        held = by_trial_seen_bytes(trial);
    const unsigned threads = by_pool_threads(trial->q->pool);
    const uint64_t weights = COPIES * by_frame_payload(&trial->frame) + 1;
    const uint64_t most = held < TOGETHER ? TOGETHER / (weights + held) : 1;
    *count = most < threads ? (size_t)most : threads;
    if (!*count)
        *count = 1;
    return 0;
}

/* Those that others wait for. */
static unsigned count_looks(const struct batch *part)
{
    unsigned looks = 0;
    for (size_t i = 0; i < part->count; i++)
        looks += !part->entries[i]->seen->observed;
    return looks ? looks : 1;
}

int by_trial_prepare(struct by_trial *trial, struct by_trial_entry *const *entries, size_t count,
                     struct baryon_error *err)
{
    const unsigned threads = by_pool_threads(trial->q->pool);
    size_t most;
    if (together(trial, &most, err) < 0)
        return -1;
    for (size_t done = 0, some; done < count; done += some) {
        some = count - done < most ? count - done : most;
        struct batch part = {.trial = trial, .entries = entries + done, .count = some};
        /* Each thread holds a sample's values. */
        const unsigned looks = count_looks(&part);
        trial->threads = threads > looks ? threads / looks : 1;
        if (by_par_for(trial->q->pool, some, 1, prepare_each, &part, err) < 0)
            return -1;
    }
    return 0;
}
