/* The stages of a search for bits for each layer. */
#include "llm/auto/auto_internal.h"

#include "base/file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ARENA_LIMIT ((size_t)1 << 30)
#define TRIALS      6    /* models that a goal may take */
#define NEAR        0.92 /* of a goal: a model that needs this share of it is good enough */
#define AIM         0.97 /* of a goal: what is predicted for the next trial */

void by_bits_tell(const struct by_bits_search *s, const char *stage, size_t done, size_t all)
{
    if (s->options->progress)
        s->options->progress(s->options->context, stage, done, all);
}

/* --- What is there --- */

static int open_float(struct by_bits_search *s, struct baryon_error *err)
{
    if (by_llm_open(&s->opened, s->in, BY_LLM_STACKS_SPLIT, BY_LLM_NAMES_FOLDER, err))
        return -1;
    by_log_lines(s->log, BY_LOG_NOTICE, by_str_text(&s->opened.done.notices));
    s->calibrated = (struct by_llm_calibrated){.options = &s->quantize,
                                               .opened = &s->opened,
                                               .pool = s->pool,
                                               .result = &s->result->quantized,
                                               .log = s->log};
    /* The decoder alone is needed for windows; texts are read again when they are cut. */
    if (by_decoder_open(&s->calibrated.decoder, &s->opened.source, s->opened.checkpoint->config,
                        err))
        return by_err_file(err, s->in);
    return by_bits_types_list(s, err) || by_bits_linears_list(s, err) || by_bits_windows_cut(s, err)
               ? -1
               : 0;
}

static int open_moments(struct by_bits_search *s, struct baryon_error *err)
{
    by_decoder_close(&s->calibrated.decoder);
    s->calibrated.plan = &s->types[0].plan;
    /* A linear has to be in the plan that is looked at, whether or not it can have that type. */
    for (size_t i = 0; i < s->linear_count; i++)
        if (!by_bits_item(s, i, 0))
            return by_fail(err, BARYON_ERR_USAGE,
                           "--types: %s does not divide the rows of %s, give it after others",
                           s->types[0].name, s->opened.source.weights[s->linears[i].weight].layer);
    return by_llm_calibrated_open(&s->calibrated, err);
}

/* --- Sizes --- */

static int find_rest(struct by_bits_search *s, struct baryon_error *err)
{
    struct by_llm_quantize_options options;
    struct by_llm_quantized counted;
    struct by_arena arena;
    by_arena_init(&arena, 0);
    int status = by_bits_rules(s, s->chosen, &options, &arena, err);
    options.dry_run = true;
    options.report = NULL;
    options.solver.method = NULL;
    options.texts.count = 0;
    if (!status)
        status = by_llm_quantize(s->in, s->out, &options, NULL, &counted, err);
    if (!status)
        s->rest = counted.bytes_out - by_bits_chosen_bytes(s, s->chosen);
    s->result->rest = s->rest;
    by_arena_release(&arena);
    return status ? -1 : 0;
}

static int refuse_size(const struct by_bits_search *s, uint64_t least, uint64_t most,
                       uint64_t limit, struct baryon_error *err)
{
    const struct by_llm_auto_options *options = s->options;
    if (limit >= least && limit <= most)
        return 0;
    if (options->bits > 0)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--bits %g is %s: the types take %.4g to %.4g bits a weight", options->bits,
                       limit < least ? "too little" : "more than all", by_bits_bits(s, least),
                       by_bits_bits(s, most));
    return by_fail(err, BARYON_ERR_USAGE,
                   "--max-size %" PRIu64 " is %s: the tensors take %" PRIu64 " to %" PRIu64
                   " bytes",
                   options->max_size, limit < least ? "too little" : "more than all",
                   least + s->rest, most + s->rest);
}

/* Bytes that linears may have. */
static int find_limit(struct by_bits_search *s, uint64_t *limit, struct baryon_error *err)
{
    const struct by_llm_auto_options *options = s->options;
    s->chosen = by_arena_alloc(&s->arena, s->unit_count, sizeof *s->chosen, err);
    s->predicted =
        by_arena_alloc(&s->arena, s->linear_count * s->type_count, sizeof *s->predicted, err);
    if (!s->chosen || !s->predicted)
        return -1;
    by_bits_extreme(s, true, s->chosen);
    for (size_t i = 0; i < s->linear_count; i++)
        if (s->chosen[s->linears[i].unit] == SIZE_MAX)
            return by_fail(err, BARYON_ERR_USAGE,
                           "%s and what has to have the same type have no type in common",
                           s->opened.source.weights[s->linears[i].weight].layer);
    const uint64_t most = by_bits_chosen_bytes(s, s->chosen);
    by_bits_extreme(s, false, s->chosen);
    const uint64_t least = by_bits_chosen_bytes(s, s->chosen);
    if (find_rest(s, err))
        return -1;
    *limit = most;
    if (options->bits > 0)
        *limit = (uint64_t)(options->bits * (double)s->result->weights / 8 + 1e-6);
    if (options->max_size)
        *limit = options->max_size > s->rest ? options->max_size - s->rest : 0;
    return refuse_size(s, least, most, *limit, err);
}

/* What is probed is of about the size that is going to be chosen. */
static uint64_t size_to_probe(const struct by_bits_search *s, uint64_t limit)
{
    const uint64_t four = s->result->weights / 2;
    return s->options->kl >= 0 && limit > four ? four : limit;
}

/* --- The model --- */

int by_bits_try(struct by_bits_search *s, const struct by_bits_trial *trial,
                struct baryon_error *err)
{
    return by_bits_quantize(s, trial, err) || by_bits_measure(s, trial, false, err) ? -1 : 0;
}

/* The least size of which so much is predicted. */
static int size_for(struct by_bits_search *s, double kl, uint64_t least, uint64_t most,
                    uint64_t *size, struct baryon_error *err)
{
    while (least < most) {
        const uint64_t middle = least + (most - least) / 2;
        if (by_bits_choose(s, middle, err))
            return -1;
        if (by_bits_chosen_kl(s, s->chosen) <= kl)
            most = middle;
        else
            least = middle + 1;
    }
    *size = least;
    return by_bits_choose(s, *size, err);
}

struct goal_state {
    uint64_t low, high; /* of sizes: the greatest that missed; the least that met */
    double rate;        /* what is measured, to what is predicted */
    double best_kl;     /* of the model that is kept */
    bool met, any;
    size_t *kept; /* its choice */
};

static bool is_better(const struct goal_state *g, double kl, bool meets)
{
    return !g->any || (meets && !g->met) || meets || (!g->met && kl < g->best_kl);
}

/* Keeps the trial, or removes it. */
static int keep_trial(struct by_bits_search *s, struct goal_state *g,
                      const struct by_llm_auto_measured *measured, bool meets,
                      struct baryon_error *err)
{
    char from[4096], to[4096];
    if (!is_better(g, measured->kl.mean, meets))
        return by_bits_trial_remove(s, BY_BITS_TRIAL, err);
    if (by_bits_trial_remove(s, BY_BITS_BEST, err) ||
        by_bits_trial_path(s, BY_BITS_TRIAL, from, sizeof from, err) ||
        by_bits_trial_path(s, BY_BITS_BEST, to, sizeof to, err) || by_rename_folder(from, to, err))
        return -1;
    memcpy(g->kept, s->chosen, s->unit_count * sizeof *g->kept);
    g->best_kl = measured->kl.mean;
    g->met = g->met || meets;
    g->any = true;
    return 0;
}

/* Quantizes for the goal, as often as measurements disagree with predictions. */
static int reach_goal(struct by_bits_search *s, uint64_t limit, struct goal_state *g,
                      struct baryon_error *err)
{
    const double goal = s->options->kl;
    struct by_llm_auto_measured measured = {0};
    const struct by_bits_trial trial = {s->chosen, BY_BITS_TRIAL, &measured, NULL};
    by_bits_extreme(s, false, s->chosen);
    g->low = by_bits_chosen_bytes(s, s->chosen);
    g->high = limit;
    for (size_t i = 0; i < TRIALS; i++) {
        uint64_t size;
        if (size_for(s, AIM * goal / g->rate, g->low, g->high, &size, err) ||
            by_bits_try(s, &trial, err))
            return -1;
        const double own = measured.kl.mean;
        const bool meets = own <= goal;
        if (keep_trial(s, g, &measured, meets, err))
            return -1;
        g->rate = measured.predicted > 0 ? own / measured.predicted : g->rate;
        if (meets)
            g->high = measured.bytes;
        else
            g->low = measured.bytes + 1;
        if ((meets && own >= NEAR * goal) || g->low >= g->high ||
            (g->high - g->low) * 200 < g->high)
            break;
    }
    return 0;
}

static int find_for_goal(struct by_bits_search *s, uint64_t limit, struct baryon_error *err)
{
    struct goal_state g = {.rate = 1};
    g.kept = by_arena_alloc(&s->arena, s->unit_count, sizeof *g.kept, err);
    if (!g.kept || reach_goal(s, limit, &g, err))
        return -1;
    memcpy(s->chosen, g.kept, s->unit_count * sizeof *g.kept);
    s->result->missed = !g.met;
    s->result->reached = g.best_kl;
    return 0;
}

static int find_for_size(struct by_bits_search *s, uint64_t limit, struct baryon_error *err)
{
    struct by_llm_auto_measured measured = {0};
    double *by_window = by_arena_alloc(&s->arena, s->windows.choose, sizeof *by_window, err);
    const struct by_bits_trial trial = {s->chosen, BY_BITS_BEST, &measured, by_window};
    if (!by_window || by_bits_choose(s, limit, err) || by_bits_try(s, &trial, err))
        return -1;
    s->result->reached = measured.kl.mean;
    return by_bits_correct_choices(s, limit, by_window, err);
}

/* --- Beside it --- */

static int judge_best(struct by_bits_search *s, struct baryon_error *err)
{
    const struct by_bits_trial trial = {s->chosen, BY_BITS_BEST, &s->result->chosen, NULL};
    char path[4096];
    struct by_llm_auto_measured *chosen = &s->result->chosen;
    chosen->bytes = by_bits_chosen_bytes(s, s->chosen);
    chosen->bits = by_bits_bits(s, chosen->bytes);
    chosen->predicted = by_bits_chosen_kl(s, s->chosen);
    s->result->layers = s->calibrated.decoder.layers;
    s->result->layer_kl =
        by_arena_alloc(&s->result->arena, s->result->layers, sizeof *s->result->layer_kl, err);
    if (!s->result->layer_kl || by_bits_measure(s, &trial, true, err) ||
        by_bits_trial_path(s, BY_BITS_BEST, path, sizeof path, err) ||
        by_bits_layers(s, path, s->result->layer_kl, err))
        return -1;
    if (s->result->single_wins)
        s->result->single = *chosen;
    return 0;
}

/* --- What is left --- */

static int list_types(struct by_bits_search *s, struct baryon_error *err)
{
    struct by_llm_auto_result *result = s->result;
    const size_t types = s->type_count, size = types * sizeof(double);
    result->types = types;
    result->type_names = by_arena_alloc(&result->arena, types, sizeof *result->type_names, err);
    double *all = by_arena_alloc(&result->arena, s->linear_count * types, sizeof *all, err);
    if (!result->type_names || !all)
        return -1;
    for (size_t t = 0; t < types; t++) {
        const char *name = s->types[t].name;
        result->type_names[t] = by_arena_text(&result->arena, name, strlen(name), err);
        if (!result->type_names[t])
            return -1;
    }
    memcpy(all, s->predicted, s->linear_count * size);
    for (size_t i = 0; i < s->linear_count; i++)
        result->linears[i].by_type = all + i * types;
    return 0;
}

static int list_results(struct by_bits_search *s, struct baryon_error *err)
{
    struct by_llm_auto_result *result = s->result;
    result->linears = by_arena_alloc(&result->arena, s->linear_count, sizeof *result->linears, err);
    if (!result->linears)
        return -1;
    for (size_t i = 0; i < s->linear_count; i++) {
        const struct by_bits_linear *linear = &s->linears[i];
        const size_t type = s->chosen[linear->unit], at = i * s->type_count + type;
        const char *layer = s->opened.source.weights[linear->weight].layer;
        const char *name = s->types[type].name;
        result->linears[i] = (struct by_llm_auto_linear){
            .layer = by_arena_text(&result->arena, layer, strlen(layer), err),
            .type = by_arena_text(&result->arena, name, strlen(name), err),
            .bits = 8 * (double)s->bytes[at] / (double)linear->values,
            .predicted = s->predicted[at],
            .decoder = linear->layer};
        if (!result->linears[i].layer || !result->linears[i].type)
            return -1;
    }
    result->count = s->linear_count;
    result->length = s->windows.length;
    result->solve_windows = s->windows.solve;
    result->judge_windows = s->windows.judge;
    result->goal = s->options->kl;
    result->layout = s->quantize.layout;
    return list_types(s, err);
}

/* The recipe first, so that a model is never without one. */
static int leave(struct by_bits_search *s, struct baryon_error *err)
{
    char path[4096], best[4096];
    struct by_str text;
    const int size = snprintf(path, sizeof path, "%s.yaml", s->out);
    if (size < 0 || (size_t)size >= sizeof path)
        return by_fail(err, BARYON_ERR_USAGE, "the path is too long");
    s->result->recipe = by_arena_text(&s->result->arena, path, (size_t)size, err);
    by_str_init(&text);
    int status = !s->result->recipe || by_bits_recipe(s, &text, err) ||
                 by_write_file(path, text.text, text.size, 0, err) ||
                 by_bits_trial_path(s, BY_BITS_BEST, best, sizeof best, err) ||
                 by_rename_folder(best, s->out, err);
    by_str_release(&text);
    return status ? -1 : 0;
}

static int run_search(struct by_bits_search *s, struct baryon_error *err)
{
    uint64_t limit;
    if (by_pool_open(&s->pool, s->quantize.threads, err) || open_float(s, err) ||
        find_limit(s, &limit, err))
        return -1;
    s->probe_size = size_to_probe(s, limit);
    s->probe_type = SIZE_MAX;
    if (open_moments(s, err) || by_bits_look(s, err))
        return -1;
    return by_bits_predict(s, err) ||
                   (s->options->kl >= 0 ? find_for_goal(s, limit, err)
                                        : find_for_size(s, limit, err)) ||
                   by_bits_try_singles(
                       s, s->options->kl >= 0 ? by_bits_chosen_bytes(s, s->chosen) : limit, err) ||
                   judge_best(s, err) || list_results(s, err) || leave(s, err) ||
                   by_bits_record_remove(s, err)
               ? -1
               : 0;
}

int by_llm_auto(const char *in, const char *out, const struct by_llm_auto_options *options,
                struct by_log *log, struct by_llm_auto_result *result, struct baryon_error *err)
{
    struct by_bits_search s = {.options = options,
                               .quantize = options->quantize,
                               .result = result,
                               .log = log,
                               .in = in,
                               .out = out};
    *result = (struct by_llm_auto_result){0};
    by_arena_init(&result->arena, ARENA_LIMIT);
    by_arena_init(&s.arena, ARENA_LIMIT);
    const int status = run_search(&s, err);
    by_bits_windows_release(&s.windows);
    by_llm_calibrated_close(&s.calibrated);
    by_llm_close(&s.opened);
    by_pool_close(s.pool);
    by_arena_release(&s.arena);
    return status;
}

void by_llm_auto_release(struct by_llm_auto_result *result)
{
    by_arena_release(&result->arena);
}
