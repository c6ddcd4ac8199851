/* Finds and changes the rows around a node, for hardware rules. */
#include "quant/refine_around.h"

#include "base/format.h"
#include "quant/bias.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

size_t by_row_in(const struct by_refining *at, size_t slot)
{
    const size_t row = by_quant_read(at->plan, at->node, slot);
    return row != BY_NO_ROW && by_quant_reads(&at->plan->rows.at[row], at->node, slot) ? row
                                                                                       : BY_NO_ROW;
}

struct baryon_node *by_next_node(const struct baryon_node *node)
{
    const struct baryon_value *value = by_node_out(node, 0);
    return value && value->use_count == 1 ? value->uses[0].node : NULL;
}

size_t by_row_out(const struct by_refining *at)
{
    const struct baryon_value *value = by_node_out(at->node, 0);
    const size_t row = value ? by_quant_find(at->plan, value) : BY_NO_ROW;
    const struct baryon_node *next = by_next_node(at->node);
    if (row != BY_NO_ROW || !next || !by_node_out(next, 0))
        return row;
    return by_quant_find(at->plan, by_node_out(next, 0));
}

static struct by_params *params_of(struct by_quant_plan *plan, size_t row)
{
    return &plan->rows.at[by_quant_owner(plan, row)].params;
}

bool by_row_position(const struct by_quant_plan *plan, size_t row, int *position)
{
    const struct by_params *params = row != BY_NO_ROW ? by_quant_params(plan, row) : NULL;
    int exponent;
    if (!params || params->count != 1 || frexpf(params->scales[0], &exponent) != 0.5f)
        return false;
    *position = 1 - exponent;
    return true;
}

static const char *node_text(const struct by_refining *at, char *buf, size_t size)
{
    return by_node_label(at->node, buf, size);
}

/* Integers that the peer would leave as they are when it moves the scale. */
static int keep_integers(struct by_refining *at, size_t row, struct baryon_error *err)
{
    const struct by_quant_row *moved = &at->plan->rows.at[row];
    if (!at->plan->recipe->compat || moved->role == BY_ROLE_ACTIVATION)
        return 0;
    return by_row_freeze(at->plan, row, err);
}

static bool may_move(const struct by_refining *at, size_t row)
{
    return !at->plan->rows.at[by_quant_owner(at->plan, row)].has_params;
}

static int note_broken(struct by_refining *at, const char *name, const char *change,
                       const char *why, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 64];
    by_str_printf(at->broken, "%s\t%s, %s: '%s' requires %s\n", node_text(at, label, sizeof label),
                  at->rule->name, why, name, change);
    return by_str_error(at->broken, err);
}

/* A scale that is a normal number. */
static int within_floats(int position)
{
    return position > 126 ? 126 : position < -127 ? -127 : position;
}

int by_row_move(struct by_refining *at, size_t row, int position, struct baryon_error *err,
                const char *why, ...)
{
    char reason[256], change[64], label[BY_QUOTE_MAX + 64];
    int old = 0;
    va_list list;
    va_start(list, why);
    vsnprintf(reason, sizeof reason, why, list);
    va_end(list);
    by_row_position(at->plan, row, &old);
    if (!at->broken && (position = within_floats(position)) == old)
        return 0;
    by_format(change, sizeof change, "position %d instead of %d", position, old);
    if (at->broken)
        return note_broken(at, at->plan->rows.at[row].value->name, change, reason, err);
    if (!may_move(at, row))
        return by_quant_remark(at->plan, row, at->rule->name, err,
                               "given parameters are kept, although %s requires %s: %s",
                               node_text(at, label, sizeof label), change, reason);
    if (keep_integers(at, row, err) < 0)
        return -1;
    params_of(at->plan, row)->scales[0] = ldexpf(1, -position);
    *at->moved = true;
    return by_quant_remark(at->plan, row, at->rule->name, err, "%s for %s: %s", change,
                           node_text(at, label, sizeof label), reason);
}

int by_row_clamp(struct by_refining *at, size_t row, int position, int least, int most,
                 struct baryon_error *err, const char *why)
{
    if (position < least)
        return by_row_move(at, row, least, err, "%s", why);
    return position > most ? by_row_move(at, row, most, err, "%s", why) : 0;
}

static bool same_params(const struct by_params *one, const struct by_params *other)
{
    return one->count == 1 && other->count == 1 && one->scales[0] == other->scales[0] &&
           one->zeros[0] == other->zeros[0];
}

int by_row_copy(struct by_refining *at, size_t to, size_t from, struct baryon_error *err,
                const char *why)
{
    char label[BY_QUOTE_MAX + 64];
    const struct by_params *source = by_quant_params(at->plan, from);
    struct by_params *target = params_of(at->plan, to);
    const struct by_quant_row *rows = at->plan->rows.at;
    if (source->count != 1 || target->count != 1 || same_params(source, target) ||
        rows[to].spec.elem != rows[from].spec.elem)
        return 0;
    if (at->broken)
        return note_broken(at, rows[to].value->name, rows[from].value->name, why, err);
    if (!may_move(at, to))
        return 0;
    target->scales[0] = source->scales[0];
    target->zeros[0] = source->zeros[0];
    *at->moved = true;
    return by_quant_remark(at->plan, to, at->rule->name, err, "parameters of '%s' for %s: %s",
                           rows[from].value->name, node_text(at, label, sizeof label), why);
}
