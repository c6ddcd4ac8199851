/* Finds what costs most of the accuracy, on a few of the samples, and what to try next. */
#include "quality/quality_internal.h"

#include "base/text.h"
#include "preset/preset.h"

#include <string.h>

#define EXPLAINING 2 /* samples to compare weights with activations on */

/* --- What to try --- */

static bool solves_nothing(const struct by_recipe *recipe)
{
    return recipe->rounding == BY_ROUNDING_NEAREST &&
           (recipe->approach == BY_APPROACH_STATIC || recipe->approach == BY_APPROACH_WEIGHTS);
}

static bool has_one_scale(const struct by_recipe *recipe)
{
    return recipe->approach != BY_APPROACH_NBITS && recipe->hardware == BY_HARDWARE_NONE &&
           by_spec_is_integer(&recipe->weight) && recipe->weight.granularity == BY_PER_TENSOR;
}

static bool has_few_bits(const struct by_recipe *recipe)
{
    return recipe->approach == BY_APPROACH_NBITS && recipe->nbits.bits < 8;
}

static bool keeps_scales(const struct by_recipe *recipe)
{
    return recipe->approach == BY_APPROACH_STATIC && !recipe->rounding_scales;
}

static bool may_have_16_bits(const struct by_recipe *recipe)
{
    return recipe->approach == BY_APPROACH_STATIC && recipe->hardware != BY_HARDWARE_XINT8 &&
           (recipe->activation.elem == BY_ELEM_INT8 || recipe->activation.elem == BY_ELEM_UINT8) &&
           !recipe->activation.format;
}

static bool may_have_uint16(const struct by_recipe *recipe)
{
    return may_have_16_bits(recipe) && recipe->activation.elem == BY_ELEM_UINT8;
}

/* The first that fits and that there is. A preset is that of the run with a part of its name
 * replaced. */
static const struct remedy {
    enum by_blame blame;
    bool (*fits)(const struct by_recipe *recipe);
    bool samples;          /* it requires some */
    const char *old, *new; /* of the preset's name: "" is its end; NULL: options instead */
    const char *options;
} remedies[] = {
    {BY_BLAME_WEIGHTS, solves_nothing, false, "", "_ADAROUND", NULL},
    {BY_BLAME_WEIGHTS, solves_nothing, false, "_DEFAULT", "_ACCURATE", NULL},
    {BY_BLAME_WEIGHTS, solves_nothing, true, "", "_ADAQUANT", NULL},
    {BY_BLAME_WEIGHTS, solves_nothing, false, NULL, NULL, "--rounding descent"},
    {BY_BLAME_WEIGHTS, has_one_scale, false, NULL, NULL, "--weight-granularity channel"},
    {BY_BLAME_WEIGHTS, has_few_bits, false, NULL, NULL, "--nbits 8"},
    {BY_BLAME_ACTIVATIONS, may_have_16_bits, false, "A8", "A16", NULL},
    {BY_BLAME_ACTIVATIONS, may_have_16_bits, false, "U8S8_", "U16S8_", NULL},
    {BY_BLAME_ACTIVATIONS, may_have_uint16, false, NULL, NULL, "--activation uint16"},
    {BY_BLAME_ACTIVATIONS, may_have_16_bits, false, NULL, NULL, "--activation int16"},
    {BY_BLAME_ACTIVATIONS, keeps_scales, true, "_ADAROUND", "_ADAQUANT", NULL},
    {BY_BLAME_ACTIVATIONS, keeps_scales, true, "", "_ADAQUANT", NULL},
};

static const char *other_preset(const struct remedy *remedy, const char *name,
                                struct by_arena *arena)
{
    char text[160];
    const char *at = *remedy->old ? strstr(name, remedy->old) : name + strlen(name);
    if (!at)
        return NULL;
    struct by_text out;
    by_text_init(&out, text, sizeof text);
    by_text_add(&out, "--preset %.*s%s%s", (int)(at - name), name, remedy->new,
                at + strlen(remedy->old));
    if (!by_preset_find(text + strlen("--preset "), NULL))
        return NULL;
    return by_arena_text(arena, text, strlen(text), NULL);
}

static const char *apply_remedy(const struct remedy *remedy, const struct by_recipe *recipe,
                                struct by_arena *arena)
{
    if (!remedy->fits(recipe))
        return NULL;
    if (remedy->options)
        return remedy->options;
    return recipe->preset ? other_preset(remedy, recipe->preset, arena) : NULL;
}

/* For what no single step mends. */
static const char *search_for_target(const struct by_recipe *recipe)
{
    if (recipe->approach != BY_APPROACH_STATIC || !by_spec_is_integer(&recipe->activation))
        return NULL;
    switch (recipe->hardware) {
    case BY_HARDWARE_XINT8:
        return "'baryon auto --target xint8'";
    case BY_HARDWARE_EXTENDED:
        return "'baryon auto --target vitis-ai'";
    case BY_HARDWARE_NONE:
        return "'baryon auto --target cpu'";
    }
    return NULL;
}

const char *by_quality_next(const struct by_recipe *recipe, enum by_blame blame, double sqnr,
                            bool samples, struct by_arena *arena)
{
    const char *search = sqnr < BY_QUALITY_USABLE && samples ? search_for_target(recipe) : NULL;
    if (search)
        return search;
    for (size_t i = 0; i < sizeof remedies / sizeof *remedies; i++) {
        const struct remedy *remedy = &remedies[i];
        if ((remedy->blame != blame && blame != BY_BLAME_BOTH) || (remedy->samples && !samples))
            continue;
        const char *next = apply_remedy(remedy, recipe, arena);
        if (next)
            return next;
    }
    return recipe->approach == BY_APPROACH_STATIC || recipe->approach == BY_APPROACH_WEIGHTS
               ? "'baryon sensitivity' with the same options and --decompose"
               : NULL;
}

/* --- What to blame --- */

static int next_of_source(void *context, const struct by_array **arrays, size_t *count,
                          const char **name, struct baryon_error *err)
{
    struct by_quality_job *job = context;
    *arrays = NULL;
    *count = job->port_count;
    while (!*arrays && job->shown < job->run_count)
        if (by_input_get(job->input, (size_t)job->out->first + job->shown++, arrays, name, err) < 0)
            return -1;
    return 0;
}

int by_quality_judge(struct by_quality_job *job, size_t count, struct by_judge **judge,
                     struct baryon_error *err)
{
    const struct by_input_callback samples = {
        .next = next_of_source, .context = job, .count = BY_COUNT_UNKNOWN};
    const struct by_judge_options options = {
        .samples = &samples,
        .input = {.allow_nonfinite = true},
        .session = job->q->options->calibrate.session,
        .reference = job->reference,
        .aside = count,
        .most = count,
    };
    job->shown = 0;
    if (by_judge_open(judge, job->exact.model, &options, err) < 0)
        return -1;
    return by_judge_references(*judge, job->q->pool, err);
}

static void say_culprit(struct by_str *text, const struct by_culprit *culprit,
                        const struct by_sensitivity *sensitivity, const struct by_quantization *q)
{
    char quoted[BY_QUOTE_MAX];
    by_str_puts(text, by_sensitivity_blame(culprit->blame));
    if (culprit->blame == BY_BLAME_PASSES)
        by_str_printf(text, ": the model has %.1f dB before quantization",
                      sensitivity->sqnr[BY_STATE_FLOAT]);
    if (culprit->tensor)
        by_str_printf(text, ": tensor %s has %.1f dB by itself",
                      by_quote(quoted, culprit->tensor->name), culprit->tensor->alone);
    if (culprit->layer)
        by_str_printf(text, "%s the weights of layer %s have %.1f dB by themselves",
                      culprit->tensor ? "," : ":", by_quote(quoted, culprit->layer->name),
                      culprit->layer->weights);
    by_str_puts(text, ".");
    if (culprit->tensor)
        by_sensitivity_say_moves(q, culprit->tensor->row, text);
}

static int keep_cause(struct by_quality *out, const struct by_culprit *culprit,
                      const struct by_sensitivity *sensitivity, const struct by_quantization *q,
                      struct baryon_error *err)
{
    struct by_str text;
    by_str_init(&text);
    say_culprit(&text, culprit, sensitivity, q);
    int status = by_str_error(&text, err);
    if (status == 0)
        out->cause = by_arena_text(&out->arena, by_str_text(&text), text.size, err);
    by_str_release(&text);
    return out->cause ? status : -1;
}

struct by_quantization by_quality_before(const struct by_quality_job *job)
{
    return (struct by_quantization){.model = job->run->draft.model,
                                    .plan = job->run->draft.plan,
                                    .options = job->q->options,
                                    .floats = job->q->floats,
                                    .stats = job->q->stats,
                                    .pool = job->q->pool};
}

/* Models that look for a cause take as much memory. */
static void close_reference(struct by_quality_job *job)
{
    if (job->run->options->details.get) /* which asks it again */
        return;
    by_session_close(job->reference);
    job->reference = NULL;
    by_trim_after(by_frame_payload(&job->run->reference));
}

static int explain(struct by_quality_job *job, enum by_blame *blame, struct baryon_error *err)
{
    struct by_quantization before = by_quality_before(job);
    struct by_judge *judge = NULL;
    struct by_sensitivity sensitivity = {.samples = 0};
    /* Passes that simulate hardware leave another float model. */
    const unsigned states = 1u << BY_STATE_WEIGHTS | 1u << BY_STATE_ACTIVATIONS |
                            (job->q->exact.count ? 1u << BY_STATE_FLOAT : 0);
    int status = by_quality_judge(job, EXPLAINING, &judge, err);
    close_reference(job);
    if (status == 0)
        status = by_sensitivity_measure(&sensitivity, &before, judge, states, false, err);
    sensitivity.sqnr[BY_STATE_BOTH] = job->out->worst;
    if (status == 0)
        status = by_sensitivity_alone(&sensitivity, &before, err);
    if (status == 0) {
        const struct by_culprit culprit = by_sensitivity_culprit(&sensitivity);
        *blame = culprit.blame;
        status = keep_cause(job->out, &culprit, &sensitivity, job->q, err);
    }
    by_sensitivity_close(&sensitivity);
    by_judge_close(judge);
    return status;
}

static bool is_explained(const struct by_quality_run *run)
{
    return run->draft.plan && run->draft.model->graph->node.count <= BY_QUALITY_EXPLAINED;
}

/* A cause that is not found is none that is told. */
int by_quality_find_cause(struct by_quality_job *job, struct baryon_error *err)
{
    const struct by_recipe *recipe = job->q->options->recipe;
    enum by_blame blame = BY_BLAME_BOTH;
    struct baryon_error why;
    by_err_clear(&why);
    if (recipe->approach == BY_APPROACH_NBITS)
        blame = BY_BLAME_WEIGHTS;
    if (is_explained(job->run) && explain(job, &blame, &why) < 0 &&
        why.code == BARYON_ERR_CANCELLED) {
        if (err)
            *err = why;
        return -1;
    }
    const bool samples = !job->q->options->stats;
    job->out->next = blame == BY_BLAME_PASSES ? NULL
                                              : by_quality_next(recipe, blame, job->out->worst,
                                                                samples, &job->out->arena);
    return is_explained(job->run) ? by_quality_find_shared(job, err) : 0;
}
