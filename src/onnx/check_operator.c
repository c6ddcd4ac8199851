/* Operators: known, in their opset, with as many inputs and outputs as they take. */
#include "base/str.h"
#include "onnx/check_rule.h"
#include "onnx/schema.h"

#include <stdio.h>
#include <string.h>

/* --- the operator is known --- */

static bool is_onnx_domain(const char *domain)
{
    static const char *const all[] = {"", "ai.onnx.ml", "ai.onnx.preview",
                                      "ai.onnx.preview.training"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], domain) == 0)
            return true;
    return false;
}

/* The rows of a domain; they stand together, in the order of the domains. */
static const struct by_opinfo *rows_of_domain(const char *domain, size_t *count)
{
    size_t first = 0, end;
    const struct by_opinfo *rows = by_opinfo_rows(&end);
    const struct by_opinfo *last = rows + end;
    while (first < end) {
        size_t middle = first + (end - first) / 2;
        if (strcmp(rows[middle].domain, domain) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    rows += first;
    for (*count = 0; rows + *count < last && strcmp(rows[*count].domain, domain) == 0;)
        ++*count;
    return rows;
}

static bool is_known_domain(const char *domain)
{
    size_t count;
    rows_of_domain(domain, &count);
    return count > 0;
}

static void hint_nearest(const char *domain, const char *op_type, struct baryon_error *err)
{
    const char *names[512] = {0};
    char quoted[BY_QUOTE_MAX];
    size_t count, room = sizeof names / sizeof *names;
    const struct by_opinfo *rows = rows_of_domain(domain, &count);
    if (count > room)
        count = room;
    for (size_t i = 0; i < count; i++)
        names[i] = rows[i].op_type;
    const char *nearest = by_nearest(op_type, names, count);
    if (nearest && strcmp(nearest, op_type) != 0)
        by_err_hint(err, "did you mean %s?", by_quote(quoted, nearest));
}

/* Looking for the nearest takes long, and after some the reader knows. */
#define HINTS_MAX 50u

struct hints {
    size_t given;
};

static int check_unknown(struct by_check *check, const struct baryon_node *node, const char *domain,
                         struct baryon_error *err)
{
    struct hints *hints = check->state;
    char label[BY_LABEL_MAX], quoted[BY_QUOTE_MAX];
    const bool ours = is_onnx_domain(domain);
    if (!is_known_domain(domain)) /* by_rule_custom_domain's */
        return 0;
    by_fail(err, ours ? BARYON_ERR_INPUT : BARYON_ERR_UNSUPPORTED,
            "%s: unknown operator in the domain %s", by_check_label(check, node, label),
            by_quote(quoted, *domain ? domain : "ai.onnx"));
    if (hints->given++ < HINTS_MAX)
        hint_nearest(domain, node->op_type, err);
    /* ONNX Runtime may have newer ones of its own. */
    return by_report(check, ours ? BY_FINDING_ERROR : BY_FINDING_WARNING, &node->msg, err);
}

static int check_opset(struct by_check *check, const struct baryon_node *node,
                       struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    const long long opset = (long long)by_check_opset(check);
    const struct by_opinfo *info = check->node.info;
    if (opset < (*info->domain ? 1 : BY_ONNX_OPSET_MIN) || by_opinfo_in_opset(info, opset))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s is not in opset %lld, ", by_check_label(check, node, label),
            opset);
    size_t used = strlen(err->message);
    if (info->until && opset > info->until)
        snprintf(err->message + used, sizeof err->message - used, "%.64s ended with opset %d",
                 info->op_type, info->until);
    else
        snprintf(err->message + used, sizeof err->message - used, "%.64s starts with opset %d",
                 info->op_type, info->since);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

static int check_operator(struct by_check *check, const struct baryon_node *node,
                          struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    if (!node->op_type || !*node->op_type)
        by_fail(err, BARYON_ERR_INPUT, "%s has no operator, op_type must be given",
                by_check_label(check, node, label));
    else if (!node->input.count && !node->output.count)
        by_fail(err, BARYON_ERR_INPUT, "%s has neither inputs nor outputs, must have one",
                by_check_label(check, node, label));
    else if (check->node.callee)
        return 0;
    else
        return check->node.info ? check_opset(check, node, err)
                                : check_unknown(check, node, by_domain(node->domain), err);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

const struct by_model_rule by_rule_operator = {
    .worst = BY_FINDING_ERROR,
    .state_size = sizeof(struct hints),
    .node = check_operator,
};

/* --- domains that are nobody's --- */

#define DOMAINS_NAMED 4u

struct custom_domain {
    const char *domain, *op_type;
    size_t nodes;
};

struct custom_domains {
    struct custom_domain named[DOMAINS_NAMED];
    size_t more;
    struct by_mark mark;
};

static void count_custom(struct custom_domains *all, const char *domain, const char *op_type)
{
    for (size_t i = 0; i < DOMAINS_NAMED; i++) {
        struct custom_domain *custom = &all->named[i];
        if (!custom->domain)
            *custom = (struct custom_domain){domain, op_type, 0};
        if (strcmp(custom->domain, domain) == 0) {
            custom->nodes++;
            return;
        }
    }
    all->more++;
}

static int note_custom(struct by_check *check, const struct baryon_node *node,
                       struct baryon_error *err)
{
    struct custom_domains *all = check->state;
    const char *domain = by_domain(node->domain);
    (void)err;
    if (check->options->custom_ops || check->node.callee || check->node.info || !node->op_type ||
        is_known_domain(domain))
        return 0;
    by_mark(check, &all->mark, &node->msg, NULL);
    count_custom(all, domain, node->op_type);
    return 0;
}

static int report_custom(struct by_check *check, struct baryon_error *err)
{
    const struct custom_domains *all = check->state;
    char list[400] = "", domain[BY_QUOTE_MAX], op[BY_QUOTE_MAX];
    size_t used = 0;
    if (!all->mark.count)
        return 0;
    for (size_t i = 0; i < DOMAINS_NAMED && all->named[i].domain && used < sizeof list; i++) {
        const struct custom_domain *custom = &all->named[i];
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%.100s (%zu node%s like %.60s)",
                             i ? ", " : "", by_quote(domain, custom->domain), custom->nodes,
                             custom->nodes == 1 ? "" : "s", by_quote(op, custom->op_type));
    }
    if (all->more && used < sizeof list)
        snprintf(list + used, sizeof list - used, " and %zu nodes of others", all->more);
    by_fail(err, BARYON_ERR_UNSUPPORTED, "operators of unknown domains: %s", list);
    by_err_hint(err, "load their library in run with --ops-library, or accept them in check and "
                     "copy with --custom-ops");
    return by_report_mark(check, BY_FINDING_ERROR, &all->mark, err);
}

const struct by_model_rule by_rule_custom_domain = {
    .worst = BY_FINDING_ERROR,
    .state_size = sizeof(struct custom_domains),
    .node = note_custom,
    .finish = report_custom,
};

/* --- inputs and outputs --- */

static void say_range(char *buf, size_t size, int least, int most)
{
    if (most < 0)
        snprintf(buf, size, "at least %d", least);
    else if (least == most)
        snprintf(buf, size, "%d", least);
    else
        snprintf(buf, size, "%d to %d", least, most);
}

static int wrong_count(struct by_check *check, const struct baryon_node *node, const char *what,
                       size_t found, int least, int most, struct baryon_error *err)
{
    char label[BY_LABEL_MAX], range[48];
    say_range(range, sizeof range, least, most);
    by_fail(err, BARYON_ERR_INPUT, "%s has %zu %s%s, the operator requires %s",
            by_check_label(check, node, label), found, what, found == 1 ? "" : "s", range);
    by_err_in(err, "%s", what);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

static bool out_of_range(size_t found, int least, int most)
{
    return (int64_t)found < least || (most >= 0 && (int64_t)found > most);
}

static int left_out(struct by_check *check, const struct baryon_node *node, const char *what,
                    size_t slot, const char *hint, struct baryon_error *err)
{
    char label[BY_LABEL_MAX];
    by_fail(err, BARYON_ERR_INPUT, "%s: %s %zu is missing, the operator requires it",
            by_check_label(check, node, label), what, slot);
    if (hint)
        by_err_hint(err, "%s", hint);
    by_err_in(err, "%s[%zu]", what, slot);
    return by_report(check, BY_FINDING_ERROR, &node->msg, err);
}

static bool is_given(const char *name)
{
    return name && *name;
}

/* ONNX allows an empty name there, ONNX Runtime ends the process at it. */
static bool breaks_runtime(const struct by_opinfo *info, size_t slot)
{
    return !*info->domain && slot == 2 &&
           (!strcmp(info->op_type, "LayerNormalization") || !strcmp(info->op_type, "DFT"));
}

/* Any number of inputs, as Max and Concat take them, are all needed. */
static bool needs_input(const struct by_opinfo *info, size_t slot)
{
    return slot < 32 && (info->may_lack >> slot & 1)
               ? false
               : (int64_t)slot < info->min_in || info->max_in < 0;
}

static int check_given(struct by_check *check, const struct baryon_node *node,
                       struct baryon_error *err)
{
    const struct by_opinfo *info = check->node.info;
    for (size_t i = 0; i < node->input.count; i++) {
        const char *hint = breaks_runtime(info, i) ? "end the list of inputs before it" : NULL;
        if (!is_given(node->input.at[i]) && (needs_input(info, i) || hint) &&
            left_out(check, node, "input", i, hint, err))
            return -1;
    }
    return 0;
}

static bool trains(const struct baryon_node *node)
{
    const struct baryon_attribute *attr = by_node_attr(node, "training_mode");
    return attr && attr->type == BY_ATTR_INT && attr->i && by_node_is(node, "BatchNormalization");
}

static int check_results(struct by_check *check, const struct baryon_node *node,
                         struct baryon_error *err)
{
    const struct by_opinfo *info = check->node.info;
    const bool all = info->max_out < 0 || trains(node);
    for (size_t i = 0; i < node->output.count; i++)
        if (!is_given(node->output.at[i]) && (all || (int64_t)i < info->min_out) &&
            left_out(check, node, "output", i, NULL, err))
            return -1;
    return 0;
}

/* Some node of the function's body needs the input, which nothing stands for then. */
static bool body_needs(const struct by_function *callee, const char *input)
{
    for (size_t i = 0; is_given(input) && i < callee->node.count; i++) {
        const struct baryon_node *node = callee->node.at[i];
        const struct by_opinfo *info =
            node ? by_opinfo(node->op_type, by_domain(node->domain)) : NULL;
        for (size_t k = 0; info && k < node->input.count; k++)
            if (is_given(node->input.at[k]) && !strcmp(node->input.at[k], input) &&
                needs_input(info, k))
                return true;
    }
    return false;
}

static int check_call_inputs(struct by_check *check, const struct baryon_node *node,
                             struct baryon_error *err)
{
    const struct by_function *callee = check->node.callee->function;
    for (size_t i = 0; i < callee->input.count; i++)
        if ((i >= node->input.count || !is_given(node->input.at[i])) &&
            body_needs(callee, callee->input.at[i]) && left_out(check, node, "input", i, NULL, err))
            return -1;
    return 0;
}

/* A call of a function may leave out what stands at the end. */
static int check_call(struct by_check *check, const struct baryon_node *node,
                      struct baryon_error *err)
{
    const struct by_function *callee = check->node.callee->function;
    if (node->input.count > callee->input.count)
        return wrong_count(check, node, "input", node->input.count, 0, (int)callee->input.count,
                           err);
    if (node->output.count > callee->output.count)
        return wrong_count(check, node, "output", node->output.count, 0, (int)callee->output.count,
                           err);
    return check_call_inputs(check, node, err);
}

static int check_arity(struct by_check *check, const struct baryon_node *node,
                       struct baryon_error *err)
{
    const struct by_opinfo *info = check->node.info;
    if (check->node.callee)
        return check_call(check, node, err);
    if (!info || (!*info->domain && by_check_opset(check) < BY_ONNX_OPSET_MIN))
        return 0;
    if (out_of_range(node->input.count, info->min_in, info->max_in) &&
        wrong_count(check, node, "input", node->input.count, info->min_in, info->max_in, err))
        return -1;
    if (out_of_range(node->output.count, info->min_out, info->max_out) &&
        wrong_count(check, node, "output", node->output.count, info->min_out, info->max_out, err))
        return -1;
    return check_given(check, node, err) ? -1 : check_results(check, node, err);
}

const struct by_model_rule by_rule_arity = {.worst = BY_FINDING_ERROR, .node = check_arity};
