/* Equalizes, quantizes and opens copies of the model that are candidates. */
#include "calibrate/size.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/refine.h"
#include "trial/biases.h"
#include "trial/copy.h"
#include "trial/trial_internal.h"

/* Copies stand side by side as long as they take no more than this; each takes about so many times
 * its weights, and what a run holds. */
#define TOGETHER ((uint64_t)512 << 20)
#define COPIES   3

/* --- One copy --- */

struct candidate {
    struct by_trial *trial;
    struct by_trial_entry *entry;
    struct by_trial_copy copy;
};

static int equalize(struct candidate *candidate, struct baryon_error *err)
{
    struct by_trial *trial = candidate->trial;
    struct by_stats **seen = &trial->seen[candidate->entry->way.mode];
    if (by_trial_equalize(candidate->copy.plan, trial->seen[BY_CLE_OFF], candidate->entry->way.mode,
                          err) < 0 ||
        by_trial_copy_place(&candidate->copy, err) < 0)
        return -1;
    return *seen ? 0
                 : by_trial_look(trial, candidate->copy.model, candidate->copy.plan, false, seen,
                                 err);
}

static int quantize_candidate(struct candidate *candidate, struct by_pool *pool,
                              struct baryon_error *err)
{
    if (candidate->entry->way.mode != BY_CLE_OFF && equalize(candidate, err) < 0)
        return -1;
    struct by_stats *stats = candidate->trial->seen[candidate->entry->way.mode];
    if (by_quant_find_params(candidate->copy.plan, stats, pool, err) < 0 ||
        by_refine(candidate->copy.plan, err) < 0 ||
        (candidate->entry->way.corrects &&
         by_biases_correct(candidate->copy.plan, stats, pool, NULL, err) < 0))
        return -1;
    return by_lower(candidate->copy.plan, pool, err);
}

/* The session is all that is left of it. */
static int prepare_candidate(struct candidate *candidate, struct baryon_error *err)
{
    struct by_trial *trial = candidate->trial;
    int status = by_trial_go_on(trial, 0, err);
    if (status == 0)
        status = by_trial_copy_open(&candidate->copy, trial->q, &trial->frame,
                                    trial->q->options->recipe, err);
    if (status == 0)
        status = quantize_candidate(candidate, trial->q->pool, err);
    if (status == 0)
        status =
            by_judge_session(trial->judge, candidate->copy.model, &candidate->entry->session, err);
    by_trial_copy_close(&candidate->copy);
    return status;
}

/* --- Several copies side by side --- */

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
        struct candidate candidate = {.trial = batch->trial, .entry = batch->entries[i]};
        if (prepare_candidate(&candidate, err) < 0)
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
        looks += !part->trial->seen[part->entries[i]->way.mode];
    return looks ? looks : 1;
}

int by_candidates_prepare(struct by_trial *trial, struct by_trial_entry *const *entries,
                          size_t count, struct baryon_error *err)
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
