/* Finds the layers that can have a narrower type, and quantizes with them. */
#include "search/mixed.h"

#include "base/format.h"
#include "base/map.h"
#include "calibrate/begin.h"
#include "ir/infer.h"
#include "onnx/load.h"
#include "quant/floats.h"
#include "search/decision.h"
#include "search/ranges.h"
#include "trial/candidate.h"
#include "trial/judge.h"

#include <math.h>
#include <string.h>

#define ASIDE         24 /* samples that judge, at most; a quarter of all */
#define VERIFICATIONS 10
#define ROWS          2

struct search {
    struct by_mixed *mixed;
    struct by_frame frame; /* of the model, before anything is done to it */
    struct baryon_model *model;
    struct by_map names; /* of the user's tensors, for rules */
    struct by_judge *judge;
    struct by_quantization q;
    struct by_quantize_options options;
    struct by_recipe recipe;
    struct by_decisions decisions;
    char activation[32], weight[32]; /* the wider types */
    struct by_alternative rows[ROWS];
    struct by_mac_cost costs[4];
    struct by_target_ladder ladder;
    bool *on;
    struct by_mixed_report report;
};

/* --- Rules of the operators --- */

static int read_operators(struct by_mixed *mixed, const struct baryon_model *model,
                          const char *type, struct baryon_error *err)
{
    static const char *const operators[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
    char text[64];
    by_format(text, sizeof text, "input:%s,weight:%s", type, type);
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (by_graph_has_operator(model->graph, operators[i]) &&
            by_rule_parse(&mixed->arena, BY_RULE_OP_TYPE, operators[i], text, "--mixed",
                          &mixed->rules, err) < 0)
            return -1;
    return 0;
}

/* Before the user's own rules, which win. */
static int add_operators(struct by_mixed *mixed, const struct baryon_model *model,
                         const struct by_recipe *recipe, struct baryon_error *err)
{
    struct by_rule_list *rules = &mixed->rules;
    const size_t given = recipe->rules.count;
    if (read_operators(mixed, model, recipe->mixed.narrow, err) < 0 ||
        by_list_reserve(&mixed->arena, rules, rules->count + given, sizeof *rules->at, err) < 0)
        return -1;
    if (given)
        memcpy(rules->at + rules->count, recipe->rules.at, given * sizeof *rules->at);
    rules->count += given;
    return 0;
}

static void take_rules(const struct by_mixed *mixed, struct by_recipe *recipe)
{
    recipe->mixed.narrow = NULL;
    recipe->rules.at = mixed->rules.at;
    recipe->rules.count = mixed->rules.count;
    recipe->rules.cap = mixed->rules.cap;
}

static int refuse_same_types(const struct by_recipe *recipe, struct baryon_error *err)
{
    char activation[32], weight[32];
    by_spec_type(&recipe->activation, activation, sizeof activation);
    by_spec_type(&recipe->weight, weight, sizeof weight);
    if (strcmp(activation, recipe->mixed.narrow) != 0 || strcmp(weight, recipe->mixed.narrow) != 0)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "--mixed %s: --activation and --weight are %s already",
            recipe->mixed.narrow, recipe->mixed.narrow);
    return by_err_hint(err, "give a wider type, such as --activation int16 --weight int16, or the "
                            "preset S16S16_MIXED_S8S8");
}

/* --- Samples --- */

static int refuse_statistics(const struct by_quantize_options *options, struct baryon_error *err)
{
    if (!options->stats)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "--mixed requires samples, statistics (--stats) contain none");
    return by_err_hint(err, "give samples with --data, or --mixed-goal 0, which needs none to "
                            "judge");
}

static int rewind_samples(const struct by_quantize_options *options, struct baryon_error *err)
{
    const struct by_input_callback *samples = options->calibrate.samples;
    if (!samples)
        return 0;
    if (samples->rewind)
        return samples->rewind(samples->context, err);
    by_fail(err, BARYON_ERR_USAGE, "the samples come only once, --mixed reads them several times");
    return by_err_hint(err, "provide rewind, or --mixed-goal 0");
}

static int hold_out(struct search *search, struct baryon_model *model, struct by_pool *pool,
                    struct baryon_error *err)
{
    struct by_quantize_options *options = &search->mixed->options;
    const struct by_judge_options of_judge = {
        .data = options->data,
        .samples = options->calibrate.samples,
        .input = options->calibrate.input,
        .session = options->calibrate.session,
        .aside = ASIDE,
        .most = ASIDE,
        .last = true,
    };
    if (rewind_samples(options, err) < 0 ||
        by_judge_open(&search->judge, model, &of_judge, err) < 0)
        return -1;
    if (!by_judge_count(search->judge))
        return by_fail(err, BARYON_ERR_INPUT,
                       "no sample is left to choose types on, all were skipped");
    if (by_judge_references(search->judge, pool, err) < 0)
        return -1;
    if (by_judge_before(search->judge))
        options->calibrate.input.count = (size_t)by_judge_before(search->judge);
    return rewind_samples(options, err);
}

/* --- A quantization of a copy --- */

static int name_tensors(struct search *search, const struct baryon_model *model,
                        struct baryon_error *err)
{
    const struct by_ptrs *values = &model->graph->all_values;
    for (size_t i = 0; i < values->count; i++) {
        struct baryon_value *value = values->at[i];
        if (value && by_map_put(&search->names, value->name, value, err) < 0)
            return -1;
    }
    return 0;
}

/* Weights are rounded to nearest, since solving would cost more than the search. */
static void set_options(struct search *search)
{
    search->options = search->mixed->options;
    search->recipe = search->mixed->recipe;
    search->recipe.rounding = BY_ROUNDING_NEAREST;
    search->options.recipe = &search->recipe;
    search->options.keeps_float = true;
    search->options.checkpoint = search->options.dump_passes = NULL;
    search->options.log = search->options.calibrate.session.log = NULL;
    search->options.calibrate.input.log = NULL;
}

static int open_copy(struct search *search, struct baryon_error *err)
{
    set_options(search);
    if (by_frame_copy(&search->frame, &search->model, err) < 0 ||
        by_calibrate_prepare(search->model, search->options.calibrate.session.op_library_count > 0,
                             &search->options.calibrate, err) < 0)
        return -1;
    return by_quantization_open(&search->q, search->model, &search->options, err);
}

/* --- Decisions --- */

static void add_wider(struct search *search, enum by_decision_kind kind, const char *activation,
                      const char *weight)
{
    struct by_target_ladder *ladder = &search->ladder;
    const char *any = "*";
    search->rows[ladder->alternative_count++] =
        (struct by_alternative){.name = activation ? "activation" : "weight",
                                .kind = kind,
                                .activation = activation,
                                .weight = weight};
    search->costs[ladder->mac_count++] =
        (struct by_mac_cost){activation ? activation : any, weight ? weight : any, 2, true};
}

/* Of A16W8 with int8 activations alone are wider. */
static void set_ladder(struct search *search, const char *narrow)
{
    const struct by_recipe *recipe = &search->recipe;
    struct by_target_ladder *ladder = &search->ladder;
    by_spec_type(&recipe->activation, search->activation, sizeof search->activation);
    by_spec_type(&recipe->weight, search->weight, sizeof search->weight);
    *ladder = (struct by_target_ladder){.alternatives = search->rows, .macs = search->costs};
    search->costs[ladder->mac_count++] = (struct by_mac_cost){"float", "*", 8, true};
    if (strcmp(search->activation, narrow) != 0)
        add_wider(search, BY_DECIDE_TENSOR, search->activation, NULL);
    if (strcmp(search->weight, narrow) != 0)
        add_wider(search, BY_DECIDE_WEIGHT, NULL, search->weight);
    search->costs[ladder->mac_count++] = (struct by_mac_cost){"*", "*", 1, false};
}

static bool go_on(void *context, const char *what, size_t done, size_t all)
{
    const struct by_calibrate_options *calibrate = context;
    const struct by_calibrate_progress now = {
        .stage = what, .unit = "decisions", .done = done, .total = all};
    return !calibrate->progress || !calibrate->progress(calibrate->context, &now);
}

/* The first step is that of all layers in the narrower type. */
static int note_step(void *context, const struct by_decisions *d, const bool *on,
                     const struct by_search_step *step, struct baryon_error *err)
{
    struct by_mixed_report *report = context;
    (void)d, (void)on, (void)err;
    if (!step->chosen)
        report->narrow_sqnr = step->verified.sqnr;
    return 0;
}

static int decide(struct search *search, struct baryon_error *err)
{
    const struct by_recipe *asked = search->mixed->options.recipe;
    const struct by_decide_options options = {
        .names = &search->names, .progress = go_on, .context = &search->options.calibrate};
    const struct by_search_options how = {
        .limits = {.sqnr = asked->mixed.goal, .wide_share = asked->mixed.share, .bytes = INFINITY},
        .verifications = VERIFICATIONS,
        .narrows = true,
        .step = note_step,
        .context = &search->report,
    };
    struct by_decisions *d = &search->decisions;
    set_ladder(search, asked->mixed.narrow);
    if (by_decisions_open(d, &search->q, search->judge, &search->ladder, &options, err) < 0)
        return -1;
    search->on = by_alloc_zero(d->decision_count + 1, sizeof *search->on, err);
    if (!search->on || by_decisions_measure(d, err) < 0 ||
        by_decisions_search(d, &how, search->on, &search->report.met, err) < 0)
        return -1;
    return by_decisions_judge(d, search->on, NULL, &search->report.sqnr, err);
}

/* --- What comes of it --- */

static int report_changes(struct search *search, struct baryon_error *err)
{
    const struct by_decisions *d = &search->decisions;
    struct by_mixed_report *report = &search->report;
    struct by_arena *arena = &search->mixed->arena;
    struct by_prediction prediction;
    by_decisions_predict(d, search->on, &prediction);
    report->wide_share = prediction.wide_share;
    report->samples = by_judge_count(search->judge);
    report->changes = by_arena_alloc(arena, d->decision_count + 1, sizeof *report->changes, err);
    if (!report->changes)
        return -1;
    for (size_t i = 0; i < d->decision_count; i++) {
        const struct by_decision *decision = &d->decisions[i];
        if (!search->on[i])
            continue;
        const bool weight = decision->alternative->kind == BY_DECIDE_WEIGHT;
        struct by_mixed_change *change = &report->changes[report->change_count++];
        change->weight = weight;
        change->macs = decision->macs;
        change->name = by_arena_text(arena, decision->name, strlen(decision->name), err);
        const char *type = weight ? search->weight : search->activation;
        change->type = by_arena_text(arena, type, strlen(type), err);
        if (!change->name || !change->type)
            return -1;
    }
    return 0;
}

/* What samples chose for the copy holds for the model, so that nothing else differs. */
static void pin_choices(const struct by_quantization *q, struct by_recipe *recipe)
{
    if (recipe->cle == BY_CLE_AUTO) {
        recipe->cle = q->report.equalized;
        recipe->cle_range = q->report.equalized_range;
    }
    if (recipe->bias_correction == BY_BIASES_AUTO)
        recipe->bias_correction = q->corrects ? BY_BIASES_CORRECTED : BY_BIASES_KEPT;
    if (recipe->activation_method_auto)
        recipe->activation.method = q->recipe.activation.method;
    if (recipe->headroom_auto)
        recipe->activation.calib.headroom = q->recipe.activation.calib.headroom;
    if (recipe->other_weight_method)
        recipe->weight.method = q->recipe.weight.method;
    recipe->activation_method_auto = recipe->headroom_auto = false;
    recipe->other_weight_method = NULL;
    if (recipe->logarithms == BY_LOGARITHMS_AUTO)
        recipe->logarithms = q->recipe.logarithms;
    if (recipe->joins == BY_JOINS_AUTO)
        recipe->joins = q->recipe.float_joins.on ? BY_JOINS_FLOAT : BY_JOINS_QUANTIZED;
    if (recipe->auto_exclude == BY_EXCLUDE_AUTO) {
        recipe->auto_exclude = q->recipe.spares_pairs ? BY_EXCLUDE_ALWAYS : BY_EXCLUDE_OFF;
        recipe->spares_pairs = q->recipe.spares_pairs;
    }
}

static int conclude(struct search *search, struct baryon_error *err)
{
    struct by_mixed *mixed = search->mixed;
    if (report_changes(search, err) < 0 ||
        by_decisions_rules(&search->decisions, search->on, &mixed->arena, &mixed->rules, err) < 0)
        return -1;
    pin_choices(&search->q, &mixed->recipe);
    take_rules(mixed, &mixed->recipe);
    return 0;
}

/* --- The whole --- */

static int run_search(struct search *search, struct baryon_model *model, struct baryon_error *err)
{
    struct by_pool *pool;
    if (name_tensors(search, model, err) < 0 || by_floats_align(model, err) < 0 ||
        by_frame_take(&search->frame, model, err) < 0 ||
        by_pool_open(&pool, search->mixed->options.calibrate.session.threads, err) < 0)
        return -1;
    int status = hold_out(search, model, pool, err);
    by_pool_close(pool);
    if (status == 0)
        status = open_copy(search, err);
    if (status == 0)
        status = decide(search, err);
    if (status < 0 || conclude(search, err) < 0)
        return -1;
    return rewind_samples(&search->mixed->options, err);
}

static void close_search(struct search *search)
{
    by_free(search->on);
    by_decisions_close(&search->decisions);
    by_quantization_close(&search->q);
    by_judge_close(search->judge);
    by_model_free(search->model);
    by_frame_release(&search->frame);
    by_map_release(&search->names);
}

static void tell_missed(const struct by_mixed_report *report, const struct by_log *log)
{
    if (!report->met)
        by_log(log, BY_LOG_NOTICE, "--mixed reaches an SQNR of %.2f dB, --mixed-goal is %g dB",
               report->sqnr, report->goal);
}

static int search_types(struct by_mixed *mixed, struct baryon_model *model,
                        struct by_mixed_report *report, struct baryon_error *err)
{
    const struct by_recipe *asked = mixed->options.recipe;
    struct search search = {.mixed = mixed,
                            .report = {.narrow = asked->mixed.narrow, .goal = asked->mixed.goal}};
    if (refuse_statistics(&mixed->options, err) < 0)
        return -1;
    by_map_init(&search.names);
    const int status = run_search(&search, model, err);
    close_search(&search);
    if (status == 0)
        tell_missed(&search.report, mixed->options.log);
    *report = search.report;
    return status;
}

int by_mixed_open(struct by_mixed *mixed, struct by_quantization *q, struct baryon_model *model,
                  const struct by_quantize_options *options, struct baryon_error *err)
{
    const struct by_recipe *asked = options->recipe;
    struct by_mixed_report report = {0};
    *mixed = (struct by_mixed){.options = *options, .recipe = *asked};
    mixed->options.choose_ranges = by_output_ranges;
    by_arena_init(&mixed->arena, 0);
    *q = (struct by_quantization){0};
    if (!asked->mixed.narrow)
        return by_quantization_open(q, model, &mixed->options, err);
    mixed->options.tries_all = true;
    if (refuse_same_types(asked, err) < 0 || add_operators(mixed, model, asked, err) < 0)
        return -1;
    take_rules(mixed, &mixed->recipe);
    if (by_recipe_searches(asked) && search_types(mixed, model, &report, err) < 0)
        return -1;
    mixed->options.recipe = &mixed->recipe;
    const int status = by_quantization_open(q, model, &mixed->options, err);
    q->report.mixed = report;
    return status;
}

void by_mixed_close(struct by_mixed *mixed)
{
    by_arena_release(&mixed->arena);
    *mixed = (struct by_mixed){0};
}
