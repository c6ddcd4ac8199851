/* Quark's options whose values are more than a word or a list. */
#include "config/nodes.h"
#include "settings/quark/alias.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static struct by_arena *arena_of(const struct by_aliasing *at)
{
    return &at->config->arena;
}

int by_alias_spans(const struct by_aliasing *at, struct baryon_error *err)
{
    return by_spans_read(arena_of(at), at->value, at->origin, false, &at->settings->file_spans,
                         err);
}

/* --- TensorQuantOverrides: {tensor: [{quant_type, symmetric, scale, ...}, one for each channel]}
 */

static struct by_doc_node *number_node(struct by_arena *arena, const struct by_doc_node *place,
                                       struct baryon_error *err)
{
    struct by_doc_node *list = BY_ARENA_NEW(arena, struct by_doc_node, err);
    if (!list)
        return NULL;
    *list = (struct by_doc_node){.kind = BY_DOC_LIST, .line = place->line, .column = place->column};
    list->items = by_arena_alloc(arena, place->count, sizeof(struct by_doc_node *), err);
    return list->items ? list : NULL;
}

/* The values that a key has in all maps of a list; empty when none has it. */
static int gather_key_values(struct by_arena *arena, const struct by_doc_node *list,
                             const char *key, struct by_doc_node **gathered,
                             struct baryon_error *err)
{
    *gathered = number_node(arena, list, err);
    if (!*gathered)
        return -1;
    for (size_t i = 0; i < list->count; i++) {
        struct by_doc_node *value = by_doc_get(list->items[i], key);
        if (value)
            (*gathered)->items[(*gathered)->count++] = value;
    }
    if ((*gathered)->count && (*gathered)->count != list->count)
        return by_node_fail(list, err, "%s is missing in one of its maps", key);
    return 0;
}

static int add_pair(struct by_doc_node *map, const char *key, struct by_doc_node *value)
{
    map->pairs[map->count++] = (struct by_doc_pair){key, value, value->line, value->column};
    return 0;
}

/* rmin and rmax become range. */
static int add_range(struct by_arena *arena, const struct by_doc_node *first,
                     struct by_doc_node *map, struct baryon_error *err)
{
    struct by_doc_node *low = by_doc_get(first, "rmin"), *high = by_doc_get(first, "rmax");
    if (!low && !high)
        return 0;
    if (!low || !high)
        return by_node_fail(first, err, "rmin and rmax require each other");
    struct by_doc_node *range = BY_ARENA_NEW(arena, struct by_doc_node, err);
    if (!range)
        return -1;
    *range = (struct by_doc_node){
        .kind = BY_DOC_LIST, .count = 2, .line = low->line, .column = low->column};
    range->items = by_arena_alloc(arena, 2, sizeof(struct by_doc_node *), err);
    if (!range->items)
        return -1;
    range->items[0] = low;
    range->items[1] = high;
    return add_pair(map, "range", range);
}

static int check_override_keys(const struct by_doc_node *map, struct baryon_error *err)
{
    static const char *const known[] = {"quant_type", "symmetric", "reduce_range", "scale",
                                        "zero_point", "axis",      "rmin",         "rmax",
                                        "convert",    NULL};
    for (size_t i = 0; i < map->count; i++) {
        size_t k = 0;
        while (known[k] && strcmp(known[k], map->pairs[i].key) != 0)
            k++;
        if (!known[k])
            return by_key_unknown(&map->pairs[i], known, err);
    }
    return 0;
}

/* Of {quant_type, symmetric, reduce_range, recv_nodes} as a map of `convert:`. */
static int add_convert(struct by_arena *arena, struct by_doc_node *map,
                       const struct by_doc_node *value, struct baryon_error *err)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = {{"quant_type", "type"},
                 {"symmetric", "symmetric"},
                 {"reduce_range", "reduce_range"},
                 {"recv_nodes", "nodes"}};
    static const char *const known[] = {"quant_type", "symmetric", "reduce_range", "recv_nodes",
                                        NULL};
    struct by_doc_node *convert = BY_ARENA_NEW(arena, struct by_doc_node, err);
    if (value->kind != BY_DOC_MAP)
        return by_node_fail(value, err, "convert: expected a map of quant_type, recv_nodes, ...");
    if (!convert)
        return -1;
    *convert =
        (struct by_doc_node){.kind = BY_DOC_MAP, .line = value->line, .column = value->column};
    convert->pairs = by_arena_alloc(arena, value->count + 1, sizeof *convert->pairs, err);
    for (size_t i = 0; convert->pairs && i < value->count; i++) {
        const size_t before = convert->count;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            if (strcmp(value->pairs[i].key, names[k].theirs) == 0)
                add_pair(convert, names[k].ours, value->pairs[i].value);
        if (convert->count == before)
            return by_key_unknown(&value->pairs[i], known, err);
    }
    return convert->pairs ? add_pair(map, "convert", convert) : -1;
}

/* The overrides of a tensor as the map that `tensors:` would have. */
static int as_rule(struct by_arena *arena, const struct by_doc_node *list,
                   struct by_doc_node **rule, struct baryon_error *err)
{
    static const char *const same[] = {"symmetric", "reduce_range", "axis"};
    struct by_doc_node *scales, *zeros, *value;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i]->kind != BY_DOC_MAP)
            return by_node_fail(list->items[i], err, "expected a map of quant_type, scale, ...");
        else if (check_override_keys(list->items[i], err) < 0)
            return -1;
    struct by_doc_node *map = BY_ARENA_NEW(arena, struct by_doc_node, err);
    if (!map)
        return -1;
    *map = (struct by_doc_node){.kind = BY_DOC_MAP, .line = list->line, .column = list->column};
    map->pairs = by_arena_alloc(arena, 9, sizeof *map->pairs, err);
    if (!map->pairs || gather_key_values(arena, list, "scale", &scales, err) < 0 ||
        gather_key_values(arena, list, "zero_point", &zeros, err) < 0)
        return -1;
    const struct by_doc_node *first = list->items[0];
    if ((value = by_doc_get(first, "quant_type")) != NULL)
        add_pair(map, "type", value);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if ((value = by_doc_get(first, same[i])) != NULL)
            add_pair(map, same[i], value);
    if (scales->count)
        add_pair(map, "scale", scales);
    if (zeros->count)
        add_pair(map, "zero_point", zeros);
    if ((value = by_doc_get(first, "convert")) != NULL && add_convert(arena, map, value, err) < 0)
        return -1;
    *rule = map;
    return add_range(arena, first, map, err);
}

int by_alias_overrides(const struct by_aliasing *at, struct baryon_error *err)
{
    const struct by_doc_node *map = at->value;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "expected a map of tensors to lists of maps");
    for (size_t i = 0; i < map->count; i++) {
        struct by_doc_node *rule = NULL;
        const struct by_doc_node *list = map->pairs[i].value;
        if (list->kind != BY_DOC_LIST || !list->count)
            return by_node_fail(list, err, "expected a list of maps");
        if (as_rule(arena_of(at), list, &rule, err) < 0 ||
            by_rule_read(arena_of(at), BY_RULE_TENSOR, map->pairs[i].key, rule, at->origin,
                         &at->settings->file_rules, err) < 0)
            return -1;
    }
    return 0;
}

/* MixedPrecisionTensor: {type: [tensors]} */
int by_alias_mixed(const struct by_aliasing *at, struct baryon_error *err)
{
    const struct by_doc_node *map = at->value;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "expected a map of types to lists of tensors");
    for (size_t i = 0; i < map->count; i++) {
        const char **names;
        size_t count;
        const struct by_doc_node type = {.kind = BY_DOC_SCALAR,
                                         .text = map->pairs[i].key,
                                         .line = map->pairs[i].line,
                                         .column = map->pairs[i].column};
        if (by_node_texts(arena_of(at), map->pairs[i].value, &names, &count, err) < 0)
            return -1;
        for (size_t k = 0; k < count; k++)
            if (by_rule_read(arena_of(at), BY_RULE_TENSOR, names[k], &type, at->origin,
                             &at->settings->file_rules, err) < 0)
                return -1;
    }
    return 0;
}

/* MatMulNBitsParams: {Algorithm, GroupSize, Symmetric, Bits, AccuracyLevel} */
int by_alias_nbits(const struct by_aliasing *at, struct baryon_error *err)
{
    static const char *const keys[] = {"Algorithm", "GroupSize",     "Symmetric",
                                       "Bits",      "AccuracyLevel", NULL};
    static const char *const options[] = {"nbits-method", "nbits-group", "nbits-symmetric", "nbits",
                                          "nbits-accuracy-level"};
    const struct by_doc_node *map = at->value;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "expected a map of GroupSize, Bits, ...");
    for (size_t i = 0; i < map->count; i++) {
        char set[128];
        size_t k = 0;
        const struct by_doc_node *value = map->pairs[i].value;
        while (keys[k] && strcmp(keys[k], map->pairs[i].key) != 0)
            k++;
        if (!keys[k])
            return by_key_unknown(&map->pairs[i], keys, err);
        if (value->kind != BY_DOC_SCALAR)
            return by_node_fail(value, err, "expected a single value");
        const char *text = value->text;
        if (k == 0 && !strcmp(text, "GPTQ")) {
            if (by_alias_set(at, "nbits-method=rtn;rounding=gptq", err) < 0)
                return -1;
            continue;
        }
        if (k == 0)
            text = !strcmp(text, "DEFAULT") ? "rtn" : !strcmp(text, "HQQ") ? "hqq" : text;
        if (k == 2)
            text = !strcmp(text, "True") ? "true" : !strcmp(text, "False") ? "false" : text;
        snprintf(set, sizeof set, "%s=%s", options[k], text);
        if (by_alias_set(at, set, err) < 0)
            return -1;
    }
    return 0;
}

/* RemoveQDQBetweenOps: [[Mul, Add], ...] */
int by_alias_between_ops(const struct by_aliasing *at, struct baryon_error *err)
{
    const struct by_doc_node *list = at->value;
    if (list->kind != BY_DOC_LIST)
        return by_node_fail(list, err, "expected a list of pairs of operators");
    for (size_t i = 0; i < list->count; i++) {
        char set[256];
        const char **names;
        size_t count;
        if (by_node_texts(arena_of(at), list->items[i], &names, &count, err) < 0)
            return -1;
        if (count != 2)
            return by_node_fail(list->items[i], err, "expected a pair of operators");
        snprintf(set, sizeof set, "fuse-between=%s>%s", names[0], names[1]);
        if (by_alias_set(at, set, err) < 0)
            return -1;
    }
    return 0;
}

/* A file; or one of Quark's own lists, whose passes run here by themselves. Like Quark it leaves
 * out the passes that would run otherwise. */
int by_alias_passes(const struct by_aliasing *at, struct baryon_error *err)
{
    static const char *const ends[] = {".yaml", ".yml", ".json"};
    const struct by_doc_node *value = at->value;
    char set[4096];
    if (value->kind == BY_DOC_NULL)
        return 0;
    if (value->kind != BY_DOC_SCALAR || !*value->text)
        return by_node_fail(value, err, "%s: expected the path of a file of passes", at->name);
    const char *end = strrchr(value->text, '.');
    for (size_t i = 0; end && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(end, ends[i]) == 0) {
            if (snprintf(set, sizeof set, "passes-from=%s", value->text) >= (int)sizeof set ||
                strchr(value->text, ';'))
                return by_node_fail(value, err, "%s: the path is too long or contains ';'",
                                    at->name);
            return by_alias_set(at, set, err) < 0 ? -1 : by_alias_set(at, "?optimize=false", err);
        }
    return by_node_fail(value, err,
                        "%s is not a file of passes (.yaml, .yml, .json); remove it if it names a "
                        "list of Quark, those passes run by default",
                        at->name);
}

/* "CPUExecutionProvider" is cpu. */
int by_alias_providers(const struct by_aliasing *at, struct baryon_error *err)
{
    const char **names;
    size_t count;
    if (by_node_texts(arena_of(at), at->value, &names, &count, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        char set[128] = "provider=";
        size_t used = strlen(set);
        const char *end = strstr(names[i], "ExecutionProvider");
        const size_t length = end ? (size_t)(end - names[i]) : strlen(names[i]);
        for (size_t k = 0; k < length && used + 1 < sizeof set; k++)
            set[used++] = (char)tolower((unsigned char)names[i][k]);
        if (by_alias_set(at, set, err) < 0)
            return -1;
    }
    return 0;
}
