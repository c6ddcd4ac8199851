/* Finds the rules that let a quantization reach an SQNR. */
#include "search/goal_rules.h"

#include "search/auto_internal.h"

#include <math.h>
#include <string.h>

#define VERIFICATIONS 10
#define ROWS          3

/* Measured with: time of integers of 16 bits and floats beside those of 8, on processors. */
static const struct by_mac_cost costs[] = {
    {"*int16", "*", 2, true},
    {"*", "*int16", 2, true},
    {"*int*", "*int*", 1, false},
    {"float", "*", 8, true},
};

/* What the plan's types have beside them. */
static size_t list_alternatives(const struct by_recipe *recipe, struct by_alternative *rows)
{
    size_t count = 0;
    const bool ranges = by_spec_is_integer(&recipe->activation) && recipe->domain != BY_Q_ONNX;
    if (ranges && recipe->approach == BY_APPROACH_STATIC)
        rows[count++] = (struct by_alternative){
            .name = "16-bit activation",
            .kind = BY_DECIDE_TENSOR,
            .activation = by_spec_is_unsigned(&recipe->activation) ? "uint16" : "int16"};
    if (ranges && by_spec_is_integer(&recipe->weight) && !by_spec_is_unsigned(&recipe->weight))
        rows[count++] = (struct by_alternative){
            .name = "int16 weight", .kind = BY_DECIDE_WEIGHT, .weight = "int16"};
    rows[count++] = (struct by_alternative){.name = "float layer", .kind = BY_DECIDE_FLOAT};
    return count;
}

int by_goal_rules_read(const char *text, double *wanted, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    static const char head[] = "sqnr>=";
    if (!strncmp(text, head, sizeof head - 1) && by_parse_double(text + sizeof head - 1, wanted) &&
        *wanted > 0 && *wanted < BY_SQNR_MAX)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "--goal must be sqnr>=DB, not %s", by_quote(quoted, text));
    return by_err_hint(err, "for other goals use 'baryon auto'");
}

int by_goal_rules_names(struct by_map *names, const struct baryon_model *model,
                        struct baryon_error *err)
{
    const struct by_ptrs *values = &model->graph->all_values;
    for (size_t i = 0; i < values->count; i++) {
        struct baryon_value *value = values->at[i];
        if (value && by_map_put(names, value->name, value, err) < 0)
            return -1;
    }
    return 0;
}

static void count_rules(struct by_goal_rules *rules, const struct by_decisions *d, const bool *on)
{
    struct by_prediction prediction;
    by_decisions_predict(d, on, &prediction);
    rules->wide_share = prediction.wide_share;
    for (size_t i = 0; i < d->decision_count; i++) {
        const enum by_decision_kind kind = d->decisions[i].alternative->kind;
        rules->tensors += on[i] && kind == BY_DECIDE_TENSOR;
        rules->weights += on[i] && kind == BY_DECIDE_WEIGHT;
        rules->layers += on[i] && kind == BY_DECIDE_FLOAT;
    }
}

/* The first step is the plan itself; the best of all is what rules are of. */
static int note_step(void *context, const struct by_decisions *d, const bool *on,
                     const struct by_search_step *step, struct baryon_error *err)
{
    struct by_goal_rules *rules = context;
    (void)d, (void)on, (void)err;
    if (!step->chosen)
        rules->before = step->verified.sqnr;
    return 0;
}

static int search_rules(struct by_goal_rules *rules, struct by_decisions *d, bool *on,
                        struct baryon_error *err)
{
    const struct by_search_options options = {
        .limits = {.sqnr = rules->wanted, .wide_share = 1, .bytes = INFINITY},
        .verifications = VERIFICATIONS,
        .narrows = true,
        .step = note_step,
        .context = rules,
    };
    if (by_decisions_measure(d, err) < 0 ||
        by_decisions_search(d, &options, on, &rules->met, err) < 0 ||
        by_decisions_judge(d, on, NULL, &rules->sqnr, err) < 0)
        return -1;
    count_rules(rules, d, on);
    return by_decisions_write(d, on, &rules->yaml, err);
}

int by_goal_rules_find(struct by_goal_rules *rules, struct by_quantization *q,
                       const struct by_judge *judge, double wanted,
                       const struct by_decide_options *options, struct baryon_error *err)
{
    struct by_alternative rows[ROWS];
    struct by_target_ladder ladder = {.alternatives = rows,
                                      .alternative_count =
                                          list_alternatives(q->options->recipe, rows),
                                      .macs = costs,
                                      .mac_count = sizeof costs / sizeof *costs};
    struct by_decisions d;
    *rules = (struct by_goal_rules){.wanted = wanted};
    by_str_init(&rules->yaml);
    by_auto_pin(q, q->options->recipe, false, &rules->yaml);
    int status = by_decisions_open(&d, q, judge, &ladder, options, err);
    bool *on = status == 0 ? by_alloc_zero(d.decision_count + 1, sizeof *on, err) : NULL;
    status = on ? search_rules(rules, &d, on, err) : -1;
    by_free(on);
    by_decisions_close(&d);
    return status;
}

void by_goal_rules_release(struct by_goal_rules *rules)
{
    by_str_release(&rules->yaml);
}
