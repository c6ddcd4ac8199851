#include "calibrate_size.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/place.h"
#include "quant/refine.h"
#include "quantize_biases.h"
#include "quantize_trial_internal.h"

/* Copies stand side by side as long as they take no more than this; each takes about so many times
 * its weights, and what a run holds. */
#define TOGETHER ((uint64_t)512 << 20)
#define COPIES   4

/* --- One copy --- */

struct candidate {
    struct by_trial *trial;
    struct by_trial_entry *entry;
    struct baryon_model *model;
    struct by_origins *origins;
    struct by_quant_plan *plan;
};

/* Nodes of a copy stand where the original's do, and stay float where those do. */
static int copy_exclusions(struct candidate *candidate, struct baryon_error *err)
{
    const struct by_quantization *q = candidate->trial->q;
    const struct by_ptrs *nodes = &q->model->graph->node;
    if (by_origins_open(&candidate->origins, candidate->model, err) < 0)
        return -1;
    size_t count;
    struct by_user_node *user = by_origins_user(candidate->origins, &count);
    for (size_t i = 0; i < candidate->model->graph->node.count; i++) {
        size_t from_count;
        const char *why = by_origins_excluded(q->origins, nodes->at[i]);
        const size_t *from =
            by_origins_of(candidate->origins, candidate->model->graph->node.at[i], &from_count);
        for (size_t k = 0; why && k < from_count; k++) {
            user[from[k]].excluded = true;
            user[from[k]].why = why;
        }
    }
    return 0;
}

static int place(struct candidate *candidate, struct baryon_error *err)
{
    by_quant_plan_close(candidate->plan);
    candidate->plan = NULL;
    if (by_model_settle(candidate->model, err) < 0 ||
        by_model_infer(candidate->model, NULL, err) < 0)
        return -1;
    const struct by_recipe *recipe = candidate->trial->q->options->recipe;
    if (by_quant_plan_open(&candidate->plan, candidate->model, recipe, err) < 0)
        return -1;
    return by_place(candidate->plan, candidate->origins, err);
}

static int copy(struct candidate *candidate, struct baryon_error *err)
{
    const struct by_str *bytes = &candidate->trial->bytes;
    if (by_model_load_bytes(&candidate->model, bytes->text, bytes->size, NULL, NULL, err) < 0 ||
        by_model_link(candidate->model, err) < 0 || copy_exclusions(candidate, err) < 0)
        return -1;
    return place(candidate, err);
}

static int equalize(struct candidate *candidate, struct baryon_error *err)
{
    struct by_trial *trial = candidate->trial;
    struct by_stats **seen = &trial->seen[candidate->entry->way.mode];
    if (by_trial_equalize(candidate->plan, trial->seen[BY_CLE_OFF], candidate->entry->way.mode,
                          err) < 0 ||
        place(candidate, err) < 0)
        return -1;
    return *seen ? 0 : by_trial_look(trial, candidate->model, candidate->plan, false, seen, err);
}

static int quantize(struct candidate *candidate, struct by_pool *pool, struct baryon_error *err)
{
    if (candidate->entry->way.mode != BY_CLE_OFF && equalize(candidate, err) < 0)
        return -1;
    struct by_stats *stats = candidate->trial->seen[candidate->entry->way.mode];
    if (by_quant_find_params(candidate->plan, stats, pool, err) < 0 ||
        by_refine(candidate->plan, err) < 0 ||
        (candidate->entry->way.corrects &&
         by_quantize_correct(candidate->plan, stats, pool, NULL, err) < 0))
        return -1;
    return by_lower(candidate->plan, pool, err);
}

/* The session is all that is left of it. */
static int prepare(struct candidate *candidate, struct baryon_error *err)
{
    struct by_trial *trial = candidate->trial;
    int status = by_trial_go_on(trial, 0, err);
    if (status == 0)
        status = copy(candidate, err);
    if (status == 0)
        status = quantize(candidate, trial->q->pool, err);
    if (status == 0)
        status = by_judge_session(trial->judge, candidate->model, &candidate->entry->session, err);
    by_quant_plan_close(candidate->plan);
    by_origins_close(candidate->origins);
    by_model_free(candidate->model);
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
        if (prepare(&candidate, err) < 0)
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
    const uint64_t weights = COPIES * (uint64_t)trial->bytes.size + 1;
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
