/* Which of the user's nodes stay float because the user says so. */
#include "quant/exclude_internal.h"

#include "pass/origins.h"

#include "base/str.h"

const char *by_exclude_name(const struct by_user_node *user)
{
    return user->name && user->name[0] ? user->name : user->output ? user->output : "";
}

void by_exclude_mark(struct by_exclusion *exclusion, size_t user, const char *why)
{
    if (exclusion->users[user].excluded)
        return;
    exclusion->users[user].excluded = true;
    exclusion->users[user].why = why;
}

const char *by_exclude_text(struct by_exclusion *exclusion, struct baryon_error *err,
                            const char *format, ...)
{
    struct by_str str;
    const char *text = NULL;
    va_list args;
    by_str_init(&str);
    va_start(args, format);
    by_str_vprintf(&str, format, args);
    va_end(args);
    if (by_str_error(&str, err) == 0)
        text = by_arena_text(exclusion->arena, by_str_text(&str), str.size, err);
    by_str_release(&str);
    return text;
}

/* --- Patterns that pick nothing --- */

static int nothing(const struct by_exclusion *exclusion, const struct by_pattern *pattern,
                   bool types, struct baryon_error *err)
{
    char quote[BY_QUOTE_MAX];
    const char **names = by_alloc(exclusion->count, sizeof *names, err);
    if (!names)
        return -1;
    for (size_t i = 0; i < exclusion->count; i++)
        names[i] = types ? exclusion->users[i].op_type : by_exclude_name(&exclusion->users[i]);
    const char *near = by_nearest(pattern->text, names, exclusion->count);
    by_fail(err, BARYON_ERR_USAGE, "%s: %s matches no %s of the model",
            pattern->origin ? pattern->origin : "exclude", by_quote(quote, pattern->text),
            types ? "operator" : "node");
    if (near)
        by_err_hint(err, "did you mean %s?", by_quote(quote, near));
    by_free(names);
    return -1;
}

/* --- Names and operators --- */

typedef void use_user(struct by_exclusion *exclusion, size_t user, void *context);

/* Those that the pattern picks, by name or by operator; there has to be one. */
static int each_picked(struct by_exclusion *exclusion, const struct by_pattern *pattern, bool types,
                       use_user *use, void *context, struct baryon_error *err)
{
    bool any = false;
    for (size_t i = 0; i < exclusion->count; i++) {
        const struct by_user_node *user = &exclusion->users[i];
        bool picks;
        if (by_pattern_picks(pattern, types ? user->op_type : by_exclude_name(user), &picks, err))
            return -1;
        if (picks && use)
            use(exclusion, i, context);
        any = any || picks;
    }
    return any ? 0 : nothing(exclusion, pattern, types, err);
}

static void exclude_user(struct by_exclusion *exclusion, size_t user, void *context)
{
    const char *const *why = context;
    by_exclude_mark(exclusion, user, *why);
}

static int exclude_names(struct by_exclusion *exclusion, const struct by_pattern *pattern,
                         struct baryon_error *err)
{
    const char *why = by_exclude_text(exclusion, err, "excluded by '%s'", pattern->text);
    return why ? each_picked(exclusion, pattern, false, exclude_user, &why, err) : -1;
}

static int exclude_types(struct by_exclusion *exclusion, const struct by_pattern *pattern,
                         struct baryon_error *err)
{
    const char *why = by_exclude_text(exclusion, err, "operators '%s' are excluded", pattern->text);
    return why ? each_picked(exclusion, pattern, true, exclude_user, &why, err) : -1;
}

int by_exclude_check_node(struct by_exclusion *exclusion, const struct by_pattern *pattern,
                          struct baryon_error *err)
{
    return each_picked(exclusion, pattern, false, NULL, NULL, err);
}

static void keep_user(struct by_exclusion *exclusion, size_t user, void *context)
{
    bool *kept = context;
    (void)exclusion;
    kept[user] = true;
}

static int pick_only(struct by_exclusion *exclusion, bool *kept, struct baryon_error *err)
{
    const struct by_patterns *nodes = &exclusion->recipe->nodes;
    for (size_t i = 0; i < nodes->count; i++)
        if (each_picked(exclusion, &nodes->at[i], false, keep_user, kept, err))
            return -1;
    return 0;
}

static int keep_only(struct by_exclusion *exclusion, struct baryon_error *err)
{
    if (!exclusion->recipe->nodes.count)
        return 0;
    bool *kept = by_alloc_zero(exclusion->count, sizeof *kept, err);
    const int failed = kept ? pick_only(exclusion, kept, err) : -1;
    for (size_t i = 0; !failed && i < exclusion->count; i++)
        if (!kept[i])
            by_exclude_mark(exclusion, i, "it is not one of the nodes to quantize");
    by_free(kept);
    return failed;
}

/* --- Nodes by name --- */

static bool gives(const struct by_pattern *pattern, const struct baryon_node *node, bool *failed,
                  struct baryon_error *err)
{
    bool picks = false;
    for (size_t i = 0; i < node->output.count && !picks && !*failed; i++)
        *failed = by_pattern_picks(pattern, node->output.at[i], &picks, err) != 0;
    return picks;
}

static int find_one(struct by_exclusion *exclusion, const struct by_pattern *pattern, bool tensors,
                    struct baryon_node **found, size_t *count, struct baryon_error *err)
{
    bool any = false;
    for (size_t i = 0; i < exclusion->count; i++) {
        struct baryon_node *node = exclusion->nodes[i];
        bool picks, failed = false;
        if (node->graph != exclusion->model->graph)
            continue;
        if (by_pattern_picks(pattern, by_exclude_name(&exclusion->users[i]), &picks, err))
            return -1;
        if (!picks && tensors)
            picks = gives(pattern, node, &failed, err);
        if (failed)
            return -1;
        any = any || picks;
        if (picks && !exclusion->marks[node->index]) {
            exclusion->marks[node->index] = true;
            found[(*count)++] = node;
        }
    }
    return any ? 0 : nothing(exclusion, pattern, false, err);
}

int by_exclude_find(struct by_exclusion *exclusion, const struct by_pattern *patterns, size_t count,
                    bool tensors, struct baryon_node ***found, size_t *found_count,
                    struct baryon_error *err)
{
    const size_t nodes = exclusion->model->graph->node.count;
    *found_count = 0;
    *found = by_alloc(exclusion->count, sizeof **found, err);
    if (!*found)
        return -1;
    for (size_t i = 0; i < nodes; i++)
        exclusion->marks[i] = false;
    for (size_t i = 0; i < count; i++)
        if (find_one(exclusion, &patterns[i], tensors, *found, found_count, err))
            return -1;
    return 0;
}

/* --- All of it --- */

static int open_exclusion(struct by_exclusion *exclusion, struct baryon_error *err)
{
    const size_t nodes = exclusion->model->graph->node.count;
    struct baryon_node **all;
    size_t count;
    if (by_all_nodes(exclusion->model, &all, &count, err))
        return -1;
    exclusion->users = by_origins_user(exclusion->origins, &exclusion->count);
    exclusion->nodes = all;
    exclusion->marks = by_alloc_zero(nodes, sizeof *exclusion->marks, err);
    if (!exclusion->marks)
        return -1;
    if (count != exclusion->count)
        return by_fail(err, BARYON_ERR_INTERNAL, "the graph has already been changed");
    return 0;
}

static int resolve(struct by_exclusion *exclusion, struct baryon_error *err)
{
    const struct by_recipe *recipe = exclusion->recipe;
    if (by_model_settle(exclusion->model, err) || open_exclusion(exclusion, err))
        return -1;
    if (by_exclude_unknown(exclusion, err))
        return -1;
    for (size_t i = 0; i < recipe->exclude.count; i++)
        if (exclude_names(exclusion, &recipe->exclude.at[i], err))
            return -1;
    for (size_t i = 0; i < recipe->exclude_op_types.count; i++)
        if (exclude_types(exclusion, &recipe->exclude_op_types.at[i], err))
            return -1;
    return by_exclude_spans(exclusion, err) || by_exclude_rules(exclusion, err) ||
                   by_exclude_ends(exclusion, err) || keep_only(exclusion, err)
               ? -1
               : 0;
}

int by_exclude_resolve(const struct by_recipe *recipe, struct baryon_model *model,
                       struct by_origins *origins, const struct by_log *log,
                       struct baryon_error *err)
{
    struct by_exclusion exclusion = {
        .recipe = recipe, .model = model, .origins = origins, .log = log, .arena = &model->arena};
    const int failed = resolve(&exclusion, err);
    by_free(exclusion.nodes);
    by_free(exclusion.marks);
    return failed;
}
