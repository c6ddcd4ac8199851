/* Quantizes drafts with the rules of decisions, and judges them. */
#include "search/decision_internal.h"

#include "calib/votes.h"
#include "ir/tensor.h"
#include "onnx/load.h"
#include "quant/bias.h"
#include "quant/floats.h"
#include "quant/known.h"
#include "quant/lower.h"
#include "quant/params.h"
#include "quant/refine.h"
#include "stats/targets.h"
#include "trial/biases.h"
#include "trial/draft.h"

#include <math.h>
#include <string.h>

struct candidate {
    const struct by_decisions *d;
    struct by_arena arena;
    struct by_rule_list rules;
    struct by_draft draft;
    struct by_stats *stats;
    bool *behind; /* by node of the plan: it does not keep what was solved; NULL: all do */
};

static bool is_solved(const struct by_decisions *d)
{
    return d->q->options->recipe->rounding != BY_ROUNDING_NEAREST;
}

size_t by_decisions_ways(const struct by_decisions *d, const bool *on)
{
    return is_solved(d) && memchr(on, true, d->decision_count) ? BY_KEPT : 1;
}

/* --- Rules --- */

static int add_rules(struct candidate *candidate, const bool *on, struct baryon_error *err)
{
    struct by_recipe *recipe = &candidate->draft.recipe;
    struct by_rule_list *rules = &candidate->rules;
    if (by_list_reserve(&candidate->arena, rules, recipe->rules.count, sizeof *rules->at, err) < 0)
        return -1;
    if (recipe->rules.count)
        memcpy(rules->at, recipe->rules.at, recipe->rules.count * sizeof *rules->at);
    rules->count = recipe->rules.count;
    if (by_decide_rules(candidate->d, on, false, &candidate->arena, rules, err) < 0)
        return -1;
    recipe->rules.at = rules->at;
    recipe->rules.count = rules->count;
    recipe->rules.cap = rules->cap;
    return 0;
}

/* --- Statistics --- */

static bool has_votes(struct by_stats *stats, const struct by_vote_levels *levels)
{
    for (size_t i = 0; i < stats->tensor_count; i++) {
        size_t count;
        (void)by_votes_of(&stats->tensors[i].sketch.votes, levels, &count);
        if (count)
            return true;
    }
    return false;
}

/* counts_votes: some are wanted, whether they are there or not. */
static int suffices(struct by_quant_plan *plan, struct by_stats *stats, bool *does,
                    bool *counts_votes, struct baryon_error *err)
{
    const struct by_vote_levels *votes;
    const char *const *names;
    size_t count, vote_count;
    if (by_quant_wanted(plan, &names, &count, err) < 0 ||
        by_quant_votes(plan, &votes, &vote_count, err) < 0)
        return -1;
    *counts_votes = vote_count > 0;
    *does = stats || !count;
    for (size_t i = 0; *does && i < count; i++)
        *does = by_stats_find(stats, names[i]) != NULL;
    for (size_t i = 0; *does && i < vote_count; i++)
        *does = has_votes(stats, &votes[i]);
    return 0;
}

/* Names of all tensors there are. */
static int list_all(const struct candidate *candidate, const char ***names, size_t *count,
                    struct baryon_error *err)
{
    struct by_target *targets;
    if (by_targets_find(candidate->draft.model->graph, BY_TARGETS_ALL, &targets, count, err) < 0)
        return -1;
    *names = by_alloc(*count + 1, sizeof **names, err);
    for (size_t i = 0; *names && i < *count; i++)
        (*names)[i] = targets[i].name;
    by_free(targets);
    return *names ? 0 : -1;
}

/* Of all tensors there are, what any candidate may ask for. Votes take as long as all else, so they
 * are cast only where a candidate counts some: then for all levels. */
static int observe_all(const struct candidate *candidate, bool votes, struct baryon_error *err)
{
    const struct by_decisions *d = candidate->d;
    struct by_calibrate_options options = d->q->options->calibrate;
    const char **names;
    if (list_all(candidate, &names, &options.name_count, err) < 0)
        return -1;
    options.names = names;
    options.votes = votes ? by_vote_all_levels(&options.vote_count) : NULL;
    options.vote_count = votes ? options.vote_count : 0;
    options.means = d->q->corrects;
    options.per_channel = options.moments = false;
    options.checkpoint = NULL;
    options.progress = NULL;
    options.begun = NULL;
    options.model = options.data = "";
    by_stats_close(d->work->observed);
    d->work->observed = NULL;
    d->work->observed_votes = votes;
    const bool ready =
        !options.samples || options.samples->rewind(options.samples->context, err) == 0;
    const int status = ready ? by_calibrate(&d->work->observed, candidate->draft.model,
                                            d->q->options->data, &options, NULL, err)
                             : -1;
    by_free((void *)names);
    return status;
}

static int find_stats(struct candidate *candidate, struct baryon_error *err)
{
    struct by_decide_work *work = candidate->d->work;
    struct by_stats *own = candidate->d->q->stats;
    bool does, votes;
    candidate->stats = own;
    if (suffices(candidate->draft.plan, own, &does, &votes, err) < 0)
        return -1;
    if (does)
        return 0;
    if (candidate->d->q->options->stats || !by_recipe_needs_data(&candidate->draft.recipe))
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "a candidate requires ranges of tensors that were not observed");
    const bool known = work->observed && (work->observed_votes || !votes);
    if (!known && observe_all(candidate, votes, err) < 0)
        return -1;
    candidate->stats = work->observed;
    return 0;
}

/* --- What stays as it was solved --- */

static bool same_spec(const struct by_tensor_spec *one, const struct by_tensor_spec *other)
{
    return one->elem == other->elem && one->format == other->format && one->bits == other->bits &&
           one->symmetric == other->symmetric && one->scale == other->scale &&
           one->granularity == other->granularity && one->group == other->group;
}

static bool is_behind(const struct candidate *candidate, const struct baryon_node *node)
{
    const struct by_quant_plan *plan = candidate->d->q->plan;
    const struct by_quant_node *at =
        candidate->behind && node ? by_quant_node_of(plan, node) : NULL;
    return at && candidate->behind[at - plan->nodes];
}

static bool keeps_row(const struct candidate *candidate, const struct by_quant_row *solved)
{
    for (size_t i = 0; solved->role != BY_ROLE_ACTIVATION && i < solved->readers.count; i++)
        if (is_behind(candidate, solved->readers.at[i].node))
            return false;
    return true;
}

static void keep_solved_rows(struct candidate *candidate)
{
    const struct by_quant_plan *from = candidate->d->q->plan;
    struct by_quant_plan *plan = candidate->draft.plan;
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        const struct baryon_value *was = by_map_get(&from->model->graph->values, row->value->name);
        const size_t index = was ? by_quant_find(from, was) : BY_NO_ROW;
        const struct by_quant_row *solved = index == BY_NO_ROW ? NULL : &from->rows.at[index];
        if (!solved || solved->role != row->role || row->converts != BY_NO_ROW ||
            !same_spec(&solved->spec, &row->spec) || !keeps_row(candidate, solved))
            continue;
        row->params = *by_quant_params(from, index);
        row->rounded = solved->rounded;
        row->solved = solved->solved;
        row->shares = BY_NO_ROW;
    }
}

/* Biases that make up for solved weights have no place beside others. */
static int restore_biases(struct candidate *candidate, const bool *on, struct baryon_error *err)
{
    const struct by_decisions *d = candidate->d;
    struct baryon_model *exact = NULL, *model = candidate->draft.model;
    int status = by_frame_copy(&d->q->floats, &exact, err);
    for (size_t i = 0; status == 0 && i < d->work->layer_count; i++) {
        const struct by_decide_layer *layer = &d->work->layers[i];
        if (!by_decide_changes_layer(d, on, i) && !is_behind(candidate, layer->node))
            continue;
        for (size_t slot = 2; status == 0 && slot < layer->node->input.count; slot++) {
            const struct baryon_value *was = by_node_in(layer->node, slot);
            const struct baryon_value *from = was ? by_graph_value(exact->graph, was->name) : NULL;
            const struct baryon_value *to = was ? by_graph_value(model->graph, was->name) : NULL;
            struct by_floats_view view;
            if (!from || !to || !from->initializer || !to->initializer ||
                from->initializer->data_type != BY_ELEM_FLOAT)
                continue;
            status = by_floats_open(&view, from->initializer, err);
            if (status == 0)
                status = by_floats_write(model, to->initializer, view.values, view.count, err);
            by_floats_close(&view);
        }
    }
    by_model_free(exact);
    return status;
}

/* --- The candidate --- */

static int open_draft(struct candidate *candidate, const bool *on, struct baryon_error *err)
{
    const struct by_decisions *d = candidate->d;
    const bool solved = is_solved(d);
    struct by_frame *now = &d->work->solved;
    if (solved && !now->count && by_frame_take(now, d->q->model, err) < 0)
        return -1;
    return by_draft_open(&candidate->draft, d->q, solved ? now : &d->q->floats, err) < 0 ||
                   (solved && restore_biases(candidate, on, err) < 0) ||
                   add_rules(candidate, on, err) < 0 || by_draft_place(&candidate->draft, err) < 0
               ? -1
               : 0;
}

static int quantize_draft(struct candidate *candidate, struct baryon_error *err)
{
    const struct by_quantization *q = candidate->d->q;
    struct by_quant_plan *plan = candidate->draft.plan;
    if (find_stats(candidate, err) < 0)
        return -1;
    plan->known = q->known;
    if (by_quant_find_params(plan, candidate->stats, q->pool, err) < 0 || by_refine(plan, err) < 0)
        return -1;
    if (is_solved(candidate->d)) {
        keep_solved_rows(candidate);
        return by_bias_scales(plan, err);
    }
    return q->corrects && candidate->stats
               ? by_biases_correct(plan, candidate->stats, q->pool, NULL, err)
               : 0;
}

/* Nodes whose solved integers do not stay. */
static int find_behind(struct candidate *candidate, const bool *on, struct baryon_error *err)
{
    candidate->behind = by_arena_alloc(&candidate->arena, candidate->d->q->plan->node_count + 1,
                                       sizeof *candidate->behind, err);
    if (!candidate->behind)
        return -1;
    by_decide_behind(candidate->d, on, candidate->behind);
    return 0;
}

int by_decisions_candidate(const struct by_decisions *d, const bool *on, enum by_decide_kept kept,
                           struct baryon_model **model, struct baryon_error *err)
{
    struct candidate candidate = {.d = d};
    *model = NULL;
    by_arena_init(&candidate.arena, 0);
    int status = (kept == BY_KEEPS_BEFORE && find_behind(&candidate, on, err) < 0) ||
                         open_draft(&candidate, on, err) < 0 ||
                         quantize_draft(&candidate, err) < 0 ||
                         by_lower(candidate.draft.plan, d->q->pool, err) < 0
                     ? -1
                     : 0;
    if (status == 0) {
        *model = candidate.draft.model;
        candidate.draft.model = NULL;
    }
    by_draft_close(&candidate.draft);
    by_arena_release(&candidate.arena);
    return status;
}

/* --- Judging --- */

static bool is_refusal(const struct baryon_error *err)
{
    return err->code == BARYON_ERR_ENGINE || err->code == BARYON_ERR_UNSUPPORTED;
}

static int judge_model(const struct by_decisions *d, struct baryon_model *model,
                       struct by_judgement *each, double *sqnr, struct baryon_error *err)
{
    const size_t samples = by_judge_count(d->judge);
    struct baryon_error refusal = {0};
    if (by_judge_model(d->judge, model, d->q->pool, each, &refusal) < 0) {
        *sqnr = -INFINITY;
        if (is_refusal(&refusal)) {
            char why[1024];
            baryon_error_format(&refusal, why, sizeof why);
            by_log(d->q->options->log, BY_LOG_NOTICE, "a candidate is out: %s", why);
            return 0;
        }
        if (err)
            *err = refusal;
        return -1;
    }
    *sqnr = by_judge_is_finite(each, samples) ? by_judge_sqnr(each, samples) : -(double)INFINITY;
    return 0;
}

static int judge_way(const struct by_decisions *d, const bool *on, enum by_decide_kept kept,
                     struct by_judgement *each, double *sqnr, struct baryon_error *err)
{
    struct baryon_model *model;
    if (by_decide_go_on(d, "verify", 0, 1, err) < 0 ||
        by_decisions_candidate(d, on, kept, &model, err) < 0)
        return -1;
    const int status = judge_model(d, model, each, sqnr, err);
    by_model_free(model);
    return status;
}

int by_decisions_judge(const struct by_decisions *d, const bool *on, struct by_judgement *each,
                       double *sqnr, struct baryon_error *err)
{
    const size_t samples = by_judge_count(d->judge), ways = by_decisions_ways(d, on);
    struct by_judgement *own = by_alloc_zero(samples + 1, sizeof *own, err);
    int status = own ? 0 : -1;
    for (size_t way = 0; status == 0 && way < ways; way++) {
        double now;
        status = judge_way(d, on, (enum by_decide_kept)way, own, &now, err);
        if (status < 0 || (way && !(now > *sqnr)))
            continue;
        *sqnr = now;
        if (each)
            memcpy(each, own, samples * sizeof *each);
    }
    by_free(own);
    return status;
}
