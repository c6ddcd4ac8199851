/* Refuses operators and nodes in options that no model has, or not this one. */
#include "quant/exclude_internal.h"

#include "base/str.h"
#include "ir/opinfo.h"

#include <string.h>

struct names {
    const char **at;
    size_t count;
};

/* Operators of the model, and all that are known. */
static int collect_operators(const struct by_exclusion *exclusion, struct names *names,
                             struct baryon_error *err)
{
    size_t count;
    const struct by_opinfo *rows = by_opinfo_rows(&count);
    names->count = 0;
    names->at = by_alloc(exclusion->count + count, sizeof *names->at, err);
    if (!names->at)
        return -1;
    for (size_t i = 0; i < exclusion->count; i++)
        names->at[names->count++] = exclusion->users[i].op_type;
    for (size_t i = 0; i < count; i++)
        names->at[names->count++] = rows[i].op_type;
    return 0;
}

static int check_operator(const struct names *names, const struct by_pattern *pattern,
                          const char *text, struct baryon_error *err)
{
    char quote[BY_QUOTE_MAX];
    const struct by_pattern one = {text, pattern->origin};
    for (size_t i = 0; i < names->count; i++) {
        bool picks;
        if (by_pattern_picks(&one, names->at[i], &picks, err))
            return -1;
        if (picks)
            return 0;
    }
    const char *near = by_nearest(text, names->at, names->count);
    by_fail(err, BARYON_ERR_USAGE, "%s: unknown operator %s",
            pattern->origin ? pattern->origin : "rule", by_quote(quote, text));
    return near ? by_err_hint(err, "did you mean %s?", by_quote(quote, near)) : -1;
}

static int check_operators(const struct names *names, const struct by_patterns *patterns,
                           struct baryon_error *err)
{
    for (size_t i = 0; i < patterns->count; i++)
        if (check_operator(names, &patterns->at[i], patterns->at[i].text, err))
            return -1;
    return 0;
}

/* "Mul>Add" names two. */
static int check_pairs(const struct names *names, const struct by_patterns *patterns,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < patterns->count; i++) {
        char first[128], quote[BY_QUOTE_MAX];
        const char *text = patterns->at[i].text, *arrow = strchr(text, '>');
        const size_t size = arrow ? (size_t)(arrow - text) : sizeof first;
        if (size >= sizeof first)
            return by_fail(err, BARYON_ERR_USAGE, "%s: %s must be two operators, as Mul>Add",
                           patterns->at[i].origin ? patterns->at[i].origin : "rule",
                           by_quote(quote, text));
        memcpy(first, text, size);
        first[size] = '\0';
        if (check_operator(names, &patterns->at[i], first, err) ||
            check_operator(names, &patterns->at[i], arrow + 1, err))
            return -1;
    }
    return 0;
}

static int check_all_operators(const struct by_recipe *recipe, const struct names *names,
                               struct baryon_error *err)
{
    const struct by_patterns *const lists[] = {&recipe->op_types, &recipe->extra_op_types,
                                               &recipe->no_output_op_types, &recipe->passthrough};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (check_operators(names, lists[i], err))
            return -1;
    for (size_t i = 0; i < recipe->rules.count; i++) {
        const struct by_rule *rule = &recipe->rules.at[i];
        if (rule->kind == BY_RULE_OP_TYPE &&
            check_operator(names, &rule->pattern, rule->pattern.text, err))
            return -1;
    }
    return check_pairs(names, &recipe->fuse_between, err);
}

int by_exclude_unknown(struct by_exclusion *exclusion, struct baryon_error *err)
{
    const struct by_patterns *nodes = &exclusion->recipe->no_output_nodes;
    struct names names;
    if (collect_operators(exclusion, &names, err))
        return -1;
    const int failed = check_all_operators(exclusion->recipe, &names, err);
    by_free(names.at);
    for (size_t i = 0; !failed && i < nodes->count; i++)
        if (by_exclude_check_node(exclusion, &nodes->at[i], err))
            return -1;
    return failed;
}
