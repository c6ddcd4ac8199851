/* Measures the model with quantized weights, quantized activations and both. */
#include "sensitivity/sensitivity_internal.h"

#include "engine/pair.h"
#include "quantize/refuse.h"

#include <string.h>

#define ASIDE 24 /* held-out samples, where there are four times as many */
#define FEW   4  /* samples that are judged one by one */
/* Bytes of weights up to which several states are in memory at once. */
#define BESIDE ((uint64_t)48 << 20)

/* --- Samples --- */

static int run_references(struct by_judge *judge, unsigned threads, struct baryon_error *err)
{
    struct by_pool *pool;
    if (by_pool_open(&pool, threads, err) < 0)
        return -1;
    const int status = by_judge_references(judge, pool, err);
    by_pool_close(pool);
    return status;
}

int by_sensitivity_begin(struct by_judge **judge, struct baryon_model *model,
                         struct by_quantize_options *options, struct baryon_error *err)
{
    const struct by_judge_options of_judge = {
        .data = options->data,
        .samples = options->calibrate.samples,
        .input = options->calibrate.input,
        .session = options->calibrate.session,
        .aside = ASIDE,
        .most = ASIDE,
        .last = true,
    };
    *judge = NULL;
    if (by_quantize_refuse(model, options, err) < 0)
        return -1;
    if (options->stats) {
        by_fail(err, BARYON_ERR_USAGE,
                "sensitivity requires samples, statistics (--stats) contain none");
        return by_err_hint(err, "give samples with --data");
    }
    if (by_judge_open(judge, model, &of_judge, err) < 0)
        return -1;
    if (!by_judge_count(*judge))
        return by_fail(err, BARYON_ERR_INPUT, "no sample is left to measure on, all were skipped");
    if (run_references(*judge, options->calibrate.session.threads, err) < 0 ||
        by_judge_require_floats(*judge, err) < 0)
        return -1;
    if (by_judge_before(*judge))
        options->calibrate.input.count = (size_t)by_judge_before(*judge);
    options->keeps_float = true;
    return 0;
}

/* --- Outputs --- */

static int make_outputs(struct by_sensitivity *out, const struct by_judgement *first,
                        struct baryon_error *err)
{
    if (out->outputs)
        return 0;
    out->outputs = by_arena_alloc(&out->arena, first->count, sizeof *out->outputs, err);
    if (!out->outputs)
        return -1;
    out->output_count = first->count;
    for (size_t i = 0; i < first->count; i++)
        out->outputs[i].name = first->outputs[i].name;
    return 0;
}

static int add_up(struct by_sensitivity *out, const struct by_judgement *each, enum by_state state,
                  struct baryon_error *err)
{
    if (make_outputs(out, each, err) < 0)
        return -1;
    out->sqnr[state] = by_judge_sqnr(each, out->samples);
    for (size_t i = 0; i < out->output_count; i++) {
        double signal = 0, noise = 0;
        for (size_t k = 0; k < out->samples; k++) {
            signal += each[k].outputs[i].signal;
            noise += each[k].outputs[i].noise;
        }
        out->outputs[i].sqnr[state] = by_decibels(signal, noise);
    }
    return 0;
}

/* --- States --- */

struct judging {
    struct by_sensing *sensing;
    struct by_pool *within;             /* a state's samples side by side; NULL: one by one */
    struct by_judgement *at[BY_STATES]; /* by sample; NULL: not judged */
};

/* Where no twin follows, nothing else reads the model. */
static int judge_state(const struct judging *judging, size_t state, struct baryon_error *err)
{
    const struct by_sensing *sensing = judging->sensing;
    struct baryon_model *model = sensing->models[state].draft.model;
    size_t joined;
    if (!sensing->decompose && by_pairs_join(model, &joined, err) < 0)
        return -1;
    return by_judge_model(sensing->judge, model, judging->within, judging->at[state], err);
}

static int judge_states(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct judging *judging = context;
    (void)worker;
    for (size_t i = begin; i < end; i++)
        if (judging->at[i] && judge_state(judging, i, err) < 0)
            return -1;
    return 0;
}

/* Few samples leave threads idle: then states run side by side. */
static int judge_wanted(struct judging *judging, struct baryon_error *err)
{
    struct by_sensing *sensing = judging->sensing;
    const size_t samples = sensing->out->samples;
    const bool beside = samples <= FEW && by_frame_payload(&sensing->now) <= BESIDE;
    judging->within = beside ? NULL : sensing->q->pool;
    for (enum by_state i = 0; i < BY_STATES; i++) {
        sensing->out->sqnr[i] = BY_SQNR_MAX;
        if (!(sensing->states >> i & 1))
            continue;
        judging->at[i] = by_alloc_zero(samples, sizeof *judging->at[i], err);
        if (!judging->at[i])
            return -1;
    }
    if (by_par_for(beside ? sensing->q->pool : NULL, BY_STATES, 1, judge_states, judging, err) < 0)
        return -1;
    for (enum by_state i = 0; i < BY_STATES; i++)
        if (judging->at[i] && add_up(sensing->out, judging->at[i], i, err) < 0)
            return -1;
    return 0;
}

/* --- The whole --- */

static int measure_states(struct by_sensing *sensing, struct baryon_error *err)
{
    struct judging judging = {.sensing = sensing};
    if (by_sensing_open_models(sensing, err) < 0)
        return -1;
    const int status = judge_wanted(&judging, err);
    for (enum by_state i = 0; i < BY_STATES; i++)
        by_free(judging.at[i]);
    if (status < 0)
        return -1;
    return sensing->decompose ? by_sensing_twin(sensing, err) : 0;
}

int by_sensitivity_measure(struct by_sensitivity *out, struct by_quantization *q,
                           const struct by_judge *judge, unsigned states, bool decompose,
                           struct baryon_error *err)
{
    struct by_sensing sensing = {
        .out = out, .q = q, .judge = judge, .states = states, .decompose = decompose};
    *out = (struct by_sensitivity){.samples = by_judge_count(judge),
                                   .seen = !by_judge_before(judge) &&
                                           by_recipe_needs_data(q->options->recipe)};
    by_arena_init(&out->arena, 0);
    const int status = measure_states(&sensing, err);
    by_sensing_close_models(&sensing);
    return status;
}

void by_sensitivity_close(struct by_sensitivity *out)
{
    by_arena_release(&out->arena);
    *out = (struct by_sensitivity){.samples = 0};
}
