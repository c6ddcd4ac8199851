/* Runs all rules of the checker on a model and reports the findings. */
#include "onnx/check_rule.h"

#include <stdio.h>
#include <string.h>

#define RULE(id, name, text) extern const struct by_model_rule by_rule_##id;
#include "onnx/check_rules.h"
#undef RULE

static const struct by_model_rule *const rules[] = {
#define RULE(id, name, text) &by_rule_##id,
#include "onnx/check_rules.h"
#undef RULE
};

static const struct by_check_rule abouts[] = {
#define RULE(id, name, text) {name, text},
#include "onnx/check_rules.h"
#undef RULE
};

#define RULES (sizeof rules / sizeof *rules)

const struct by_check_rule *by_check_rules(size_t *count)
{
    *count = RULES;
    return abouts;
}

size_t by_rule_count(void)
{
    return RULES;
}

/* Where only errors count, rules that find none are left out. */
const struct by_model_rule *by_check_begin(struct by_check *check, size_t rule, bool linked)
{
    if (rules[rule]->linked != linked || (!check->visit && rules[rule]->worst != BY_FINDING_ERROR))
        return NULL;
    check->rule = rule;
    check->state = check->states[rule];
    return rules[rule];
}

int64_t by_check_opset(const struct by_check *check)
{
    return check->node.opset ? check->node.opset->version : 0;
}

const char *by_check_label(const struct by_check *check, const struct baryon_node *node,
                           char buf[BY_LABEL_MAX])
{
    char quoted[BY_QUOTE_MAX];
    const struct by_spot *spot = check->spot;
    const char *op = node->op_type ? node->op_type : "";
    while (spot && strcmp(spot->field, "node") != 0)
        spot = spot->outer;
    if (node->name && *node->name)
        snprintf(buf, BY_LABEL_MAX, "node %s (%.64s)", by_quote(quoted, node->name), op);
    else
        snprintf(buf, BY_LABEL_MAX, "node #%zu (%.64s)", spot ? spot->index : 0, op);
    return buf;
}

/* --- findings --- */

static void add_place(const struct by_check *check, const struct by_msg *msg,
                      struct baryon_error *err)
{
    for (const struct by_spot *spot = check->spot; spot; spot = spot->outer)
        if (spot->index == BY_NO_SLOT)
            by_err_in(err, "%s", spot->field);
        else
            by_err_in(err, "%s[%zu]", spot->field, spot->index);
    if (msg)
        by_err_at_msg(err, check->model, msg);
}

static int report_finding(struct by_check *check, enum by_severity severity,
                          struct baryon_error *err)
{
    const struct by_finding finding = {abouts[check->rule].name, severity, *err};
    if (severity == BY_FINDING_ERROR && check->first->code == BARYON_OK)
        *check->first = *err;
    if (check->visit)
        return check->visit(check->context, &finding) ? 0 : -1;
    return severity == BY_FINDING_ERROR ? -1 : 0;
}

int by_report(struct by_check *check, enum by_severity severity, const struct by_msg *msg,
              struct baryon_error *err)
{
    add_place(check, msg, err);
    if (check->model->path)
        by_err_file(err, check->model->path);
    return report_finding(check, severity, err);
}

void by_mark(const struct by_check *check, struct by_mark *mark, const struct by_msg *msg,
             const char *more)
{
    struct baryon_error err;
    if (mark->count++)
        return;
    by_err_clear(&err);
    if (more)
        by_err_in(&err, "%s", more);
    add_place(check, msg, &err);
    memcpy(mark->place, err.place, sizeof mark->place);
    mark->offset = err.offset;
}

int by_report_mark(struct by_check *check, enum by_severity severity, const struct by_mark *mark,
                   struct baryon_error *err)
{
    memcpy(err->place, mark->place, sizeof err->place);
    err->offset = mark->offset;
    if (check->model->path)
        by_err_file(err, check->model->path);
    return report_finding(check, severity, err);
}

/* --- links: the one rule that is not ours to judge --- */

const struct by_model_rule by_rule_links = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
};

static int link_model(struct by_check *check, struct baryon_error *err)
{
    if (by_model_link(check->model, err) == 0)
        return 0;
    if (err->code == BARYON_ERR_NOMEM)
        return -1;
    for (check->rule = 0; rules[check->rule] != &by_rule_links; check->rule++)
        ;
    report_finding(check, BY_FINDING_ERROR, err);
    return -1;
}

static int make_states(struct by_check *check, void **states, struct baryon_error *err)
{
    for (size_t i = 0; i < RULES; i++)
        if (rules[i]->state_size &&
            !(states[i] = by_arena_alloc(&check->arena, 1, rules[i]->state_size, err)))
            return -1;
    check->states = states;
    return 0;
}

static void release_states(void *const *states)
{
    for (size_t i = 0; i < RULES; i++)
        if (states[i] && rules[i]->release)
            rules[i]->release(states[i]);
}

/* A stop is no failure: the caller or the first error wanted it. */
static int run_check_rules(struct by_check *check, struct baryon_error *err)
{
    void *states[RULES] = {NULL};
    int result = make_states(check, states, err) || by_check_walk(check, false, err) ||
                 link_model(check, err) || by_check_walk(check, true, err);
    release_states(states);
    return result ? -1 : 0;
}

int by_model_check(struct baryon_model *model, const struct by_check_options *options,
                   by_finding_fn *visit, void *context, struct baryon_error *err)
{
    static const struct by_check_options defaults = {0};
    struct baryon_error first, now;
    struct by_check check = {.model = model,
                             .options = options ? options : &defaults,
                             .visit = visit,
                             .context = context,
                             .first = &first};
    by_err_clear(&first);
    by_err_clear(&now);
    by_arena_init(&check.arena, 0);
    int result = run_check_rules(&check, &now);
    by_arena_release(&check.arena);
    if (result && now.code == BARYON_ERR_NOMEM)
        first = now;
    if (first.code == BARYON_OK)
        return 0;
    if (err)
        *err = first;
    return -1;
}
