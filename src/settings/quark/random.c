/* Quark's options of random data. */
#include "config/nodes.h"
#include "preset/preset.h"
#include "settings/quark/alias.h"

#include <stdio.h>
#include <string.h>

/* Samples that are there count before it: settings/recipe/take.c. */
int by_alias_random(const struct by_aliasing *at, struct baryon_error *err)
{
    bool random;
    if (by_node_flag(at->value, &random, err) < 0)
        return -1;
    at->settings->quark_random = random ? 1 : -1;
    return 0;
}

void by_alias_show_random(const struct by_recipe_settings *settings, struct by_str *out)
{
    const struct by_preset *preset =
        settings->preset ? by_preset_find(settings->preset, NULL) : NULL;
    if (preset && preset->random)
        by_str_puts(out, "true");
}

/* --- Values of inputs: "option=INPUT=VALUE" --- */

static int set_of_input(const struct by_aliasing *at, const char *option, const char *text,
                        struct baryon_error *err)
{
    const struct by_option *found = by_config_find(at->config, option);
    char *kept = by_arena_text(&at->config->arena, text, strlen(text), err);
    if (!found)
        return by_fail(err, BARYON_ERR_USAGE, "%s sets --%s, which has no meaning here", at->name,
                       option);
    return kept ? by_config_set(at->config, found, kept, NULL, at->source, err) : -1;
}

static int set_size(const struct by_aliasing *at, const char *input, size_t axis,
                    const struct by_doc_node *size, struct baryon_error *err)
{
    char text[512];
    int64_t number;
    if (size->kind != BY_DOC_SCALAR || !by_parse_i64(size->text, &number))
        return by_node_fail(size, err, "a size is a whole number");
    /* As in Quark an open batch may be said as -1 or 0. */
    if (number <= 0 && axis > 0)
        return by_node_fail(size, err, "only the first size may be open, which is 1 then");
    snprintf(text, sizeof text, "%s:%zu=%lld", input, axis, number > 0 ? (long long)number : 1LL);
    return set_of_input(at, "shape", text, err);
}

/* {input: [1, 3, 224, 224]} gives open dimensions their sizes. */
int by_alias_random_shape(const struct by_aliasing *at, struct baryon_error *err)
{
    const struct by_doc_node *map = at->value;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "a map of inputs to lists of sizes is expected");
    for (size_t i = 0; i < map->count; i++) {
        const struct by_doc_node *sizes = map->pairs[i].value;
        if (sizes->kind != BY_DOC_LIST)
            return by_node_fail(sizes, err, "a list of sizes is expected");
        for (size_t k = 0; k < sizes->count; k++)
            if (set_size(at, map->pairs[i].key, k, sizes->items[k], err) < 0)
                return -1;
    }
    return 0;
}

/* {input: [0, 255]} */
int by_alias_random_range(const struct by_aliasing *at, struct baryon_error *err)
{
    const struct by_doc_node *map = at->value;
    if (map->kind != BY_DOC_MAP)
        return by_node_fail(map, err, "a map of inputs to ranges, [LOW, HIGH], is expected");
    for (size_t i = 0; i < map->count; i++) {
        char text[512];
        const struct by_doc_node *range = map->pairs[i].value;
        double *ends;
        size_t count;
        if (by_node_numbers(&at->config->arena, range, &ends, &count, err) < 0)
            return -1;
        if (count != 2)
            return by_node_fail(range, err, "a range is [LOW, HIGH]");
        snprintf(text, sizeof text, "%s=%.17g:%.17g", map->pairs[i].key, ends[0], ends[1]);
        if (set_of_input(at, "value-range", text, err) < 0)
            return -1;
    }
    return 0;
}
