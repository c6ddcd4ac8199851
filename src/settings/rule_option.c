/* Options of calibration methods in rules. */
#include "config/nodes.h"
#include "config/value.h"
#include "settings/rules.h"

#include <string.h>

/* The value of one of the method's options, in a copy of what the method has. */
static int read_value(struct by_arena *arena, const struct by_doc_node *node,
                      const struct by_option *row, void *slot, struct baryon_error *err)
{
    const bool list = node->kind == BY_DOC_LIST && by_option_is_list(row);
    const size_t count = list ? node->count : 1;
    char quoted[BY_QUOTE_MAX], expects[256];
    by_value_clear(row, slot);
    if (row->type == BY_OPT_FLAG)
        return by_node_flag(node, slot, err);
    for (size_t i = 0; i < count; i++) {
        const struct by_doc_node *item = list ? node->items[i] : node;
        if (item->kind != BY_DOC_SCALAR)
            return by_node_fail(item, err, "%s is not %s", by_node_kind(item, quoted),
                                by_option_expects(row, expects, sizeof expects));
        if (by_value_parse(arena, row, item->text, NULL, slot, err) < 0)
            return item->line ? by_err_in(err, "%zu:%zu", item->line, item->column) : -1;
    }
    return 0;
}

static const char *takers_of(const struct by_calib_option *option)
{
    const char *takers = by_method_option_takers(BY_FOR_ACTIVATIONS, option->row.name);
    return takers ? takers : by_method_option_takers(BY_FOR_WEIGHTS, option->weight_name);
}

int by_rule_option(struct by_arena *arena, const struct by_doc_pair *pair, unsigned use,
                   struct by_change *change, struct baryon_error *err)
{
    const struct by_calib_option *option = by_method_option_find(pair->key);
    const struct by_calibrator *method = change->spec.method;
    const struct by_calib_option *own = method ? by_method_option_of(method, pair->key) : NULL;
    if (use == BY_FOR_WEIGHTS && !option->weight_name)
        return by_node_fail(pair->value, err, "%s is valid only for activations", option->row.name);
    if (!own)
        return by_node_fail(pair->value, err, "%s requires method %s", option->row.name,
                            takers_of(option));
    char *copy = by_arena_alloc(arena, 1, method->options->size, err);
    if (!copy)
        return -1;
    memcpy(copy, change->spec.calib.own, method->options->size);
    change->spec.calib.own = copy;
    change->set |= BY_CHANGE_METHOD;
    return read_value(arena, pair->value, &own->row, copy + own->row.offset, err);
}
