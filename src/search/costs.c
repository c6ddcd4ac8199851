/* Reads costs that users measured. */
#include "search/ladder.h"

#include "base/doc.h"
#include "base/str.h"
#include "config/nodes.h"

#include <math.h>
#include <string.h>

static int read_number(const struct by_doc_node *node, double *number, struct baryon_error *err)
{
    if (node && node->kind == BY_DOC_SCALAR && by_parse_double(node->text, number) &&
        isfinite(*number) && *number >= 0)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT, "a cost must be a number of at least 0");
}

/* As the target has it for those types. */
static bool is_wide(const struct by_target_ladder *from, const struct by_mac_cost *row)
{
    for (size_t i = 0; i < from->mac_count; i++)
        if (by_glob(from->macs[i].activation, row->activation) &&
            by_glob(from->macs[i].weight, row->weight))
            return from->macs[i].wide;
    return true;
}

static int read_row(const struct by_doc_node *node, const struct by_target_ladder *from,
                    struct by_mac_cost *row, struct baryon_error *err)
{
    static const char *const names[] = {"activation", "weight", "cost", "wide", NULL};
    for (size_t i = 0; node->kind == BY_DOC_MAP && i < node->count; i++) {
        const char *const *name = names;
        while (*name && strcmp(node->pairs[i].key, *name) != 0)
            name++;
        if (!*name)
            return by_key_unknown(&node->pairs[i], names, err);
    }
    const struct by_doc_node *activation = by_doc_get(node, "activation");
    const struct by_doc_node *weight = by_doc_get(node, "weight");
    const struct by_doc_node *wide = by_doc_get(node, "wide");
    if (!activation || activation->kind != BY_DOC_SCALAR || !by_doc_get(node, "cost"))
        return by_fail(err, BARYON_ERR_INPUT,
                       "a row must be {activation: TYPE, weight: TYPE, cost: NUMBER}");
    *row = (struct by_mac_cost){
        .activation = activation->text,
        .weight = weight && weight->kind == BY_DOC_SCALAR ? weight->text : "*",
    };
    row->wide = is_wide(from, row);
    if (wide && by_node_flag(wide, &row->wide, err) < 0)
        return -1;
    return read_number(by_doc_get(node, "cost"), &row->cost, err);
}

static int read_macs(struct by_ladder *copy, const struct by_doc_node *list, struct by_arena *arena,
                     struct baryon_error *err)
{
    const struct by_target_ladder *from = &copy->decisions;
    if (list->kind != BY_DOC_LIST)
        return by_fail(err, BARYON_ERR_INPUT, "macs must be a list");
    struct by_mac_cost *rows =
        by_arena_alloc(arena, list->count + from->mac_count, sizeof *rows, err);
    if (!rows)
        return -1;
    for (size_t i = 0; i < list->count; i++)
        if (read_row(list->items[i], from, &rows[i], err) < 0)
            return by_err_in(err, "%zu:%zu", list->items[i]->line, list->items[i]->column);
    memcpy(rows + list->count, from->macs, from->mac_count * sizeof *rows);
    copy->decisions.macs = rows;
    copy->decisions.mac_count += list->count;
    return 0;
}

static int read_costs(struct by_ladder *copy, const struct by_doc_node *root,
                      struct by_arena *arena, struct baryon_error *err)
{
    static const char *const names[] = {"macs", "byte", NULL};
    if (root->kind != BY_DOC_MAP)
        return by_fail(err, BARYON_ERR_INPUT, "a file of costs must be a map with macs and byte");
    for (size_t i = 0; i < root->count; i++) {
        const struct by_doc_pair *pair = &root->pairs[i];
        if (!strcmp(pair->key, "macs")) {
            if (read_macs(copy, pair->value, arena, err) < 0)
                return -1;
        } else if (strcmp(pair->key, "byte") != 0) {
            return by_key_unknown(pair, names, err);
        } else if (read_number(pair->value, &copy->decisions.byte_cost, err) < 0) {
            return by_err_in(err, "%zu:%zu", pair->value->line, pair->value->column);
        }
    }
    return 0;
}

int by_ladder_take_costs(struct by_ladder *copy, const struct by_ladder *from, const char *path,
                         struct by_arena *arena, struct baryon_error *err)
{
    struct by_doc_node *root;
    *copy = *from;
    if (!path)
        return 0;
    if (by_doc_load(arena, path, &root, err) < 0)
        return -1;
    return read_costs(copy, root, arena, err) < 0 ? by_err_file(err, path) : 0;
}
