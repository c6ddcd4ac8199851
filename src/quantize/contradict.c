/* Keeps nodes float whose hardware rules cannot be kept. */
#include "quantize/contradict.h"

#include "base/format.h"
#include "pass/origins.h"
#include "quant/refine.h"

#include <string.h>

/* Concat, pools, Pad, Slice: what they give is the same in float. */
static bool only_moves(const struct by_refine_rule *rule)
{
    return strncmp(rule->name, "align-", strlen("align-")) == 0;
}

static int exclude_node(struct by_quantization *q, const struct baryon_node *node,
                        const struct by_refine_rule *rule, struct baryon_error *err)
{
    char text[160];
    size_t users, count;
    struct by_user_node *user = by_origins_user(q->origins, &users);
    const size_t *from = by_origins_of(q->origins, node, &count);
    by_format(text, sizeof text, "hardware rule %s contradicts another rule on its tensors",
              rule->name);
    const char *why = by_arena_text(&q->model->arena, text, strlen(text), err);
    for (size_t i = 0; why && i < count; i++) {
        user[from[i]].excluded = true;
        user[from[i]].why = why;
    }
    return why ? 0 : -1;
}

int by_quantize_leave_contradiction(struct by_quantization *q, bool *left, struct baryon_error *err)
{
    const struct baryon_node *node;
    const struct by_refine_rule *rule;
    char label[BY_QUOTE_MAX + 80];
    *left = false;
    if (q->options->recipe->compat)
        return 0;
    if (by_refine_find_broken(q->plan, &node, &rule, err) < 0)
        return -1;
    if (!node)
        return 0;
    by_node_label(node, label, sizeof label);
    if (!only_moves(rule)) {
        by_log(q->options->log, BY_LOG_WARNING,
               "hardware rule %s is broken at %s, another rule holds its tensors; keep a neighbour "
               "float with --exclude",
               rule->name, label);
        return 0;
    }
    *left = true;
    return exclude_node(q, node, rule, err);
}
