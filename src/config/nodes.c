/* Nodes of configuration files as values. */
#include "config/nodes.h"

#include "base/str.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int by_node_fail(const struct by_doc_node *node, struct baryon_error *err, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    by_fail(err, BARYON_ERR_USAGE, "%s", text);
    return node->line ? by_err_in(err, "%zu:%zu", node->line, node->column) : -1;
}

int by_key_unknown(const struct by_doc_pair *pair, const char *const *names,
                   struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    size_t count = 0;
    while (names[count])
        count++;
    by_fail(err, BARYON_ERR_USAGE, "unknown key %s", by_quote(quoted, pair->key));
    if (pair->line)
        by_err_in(err, "%zu:%zu", pair->line, pair->column);
    const char *near = by_nearest(pair->key, names, count);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

const char *by_node_kind(const struct by_doc_node *node, char quoted[BY_QUOTE_MAX])
{
    return node->kind == BY_DOC_SCALAR ? by_quote(quoted, node->text)
           : node->kind == BY_DOC_LIST ? "a list"
           : node->kind == BY_DOC_MAP  ? "a map"
                                       : "an empty value";
}

int by_node_flag(const struct by_doc_node *node, bool *flag, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (node->kind == BY_DOC_SCALAR && (!strcmp(node->text, "true") || !strcmp(node->text, "True")))
        *flag = true;
    else if (node->kind == BY_DOC_SCALAR &&
             (!strcmp(node->text, "false") || !strcmp(node->text, "False")))
        *flag = false;
    else
        return by_node_fail(node, err, "%s is not true or false", by_node_kind(node, quoted));
    return 0;
}

static int number_of(const struct by_doc_node *node, double *number, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (node->kind == BY_DOC_SCALAR && by_parse_double(node->text, number) && isfinite(*number))
        return 0;
    return by_node_fail(node, err, "%s is not a number", by_node_kind(node, quoted));
}

int by_node_numbers(struct by_arena *arena, const struct by_doc_node *node, double **numbers,
                    size_t *count, struct baryon_error *err)
{
    *count = node->kind == BY_DOC_LIST ? node->count : 1;
    *numbers = by_arena_alloc(arena, *count, sizeof **numbers, err);
    if (!*numbers)
        return -1;
    if (node->kind != BY_DOC_LIST)
        return number_of(node, *numbers, err);
    if (!*count)
        return by_node_fail(node, err, "an empty list contains no number");
    for (size_t i = 0; i < *count; i++)
        if (number_of(node->items[i], &(*numbers)[i], err) < 0)
            return -1;
    return 0;
}

int by_node_texts(struct by_arena *arena, const struct by_doc_node *node, const char ***texts,
                  size_t *count, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const bool list = node->kind == BY_DOC_LIST;
    *count = list ? node->count : 1;
    *texts = by_arena_alloc(arena, *count, sizeof **texts, err);
    if (!*texts)
        return -1;
    for (size_t i = 0; i < *count; i++) {
        const struct by_doc_node *item = list ? node->items[i] : node;
        if (item->kind != BY_DOC_SCALAR || !*item->text)
            return by_node_fail(item, err, "%s is not a name", by_node_kind(item, quoted));
        (*texts)[i] = item->text;
    }
    return 0;
}

int by_names_split(struct by_arena *arena, const char *text, const char ***names, size_t *count,
                   struct baryon_error *err)
{
    size_t most = 1;
    for (const char *at = text; *at; at++)
        most += *at == ',';
    *count = 0;
    *names = by_arena_alloc(arena, most, sizeof **names, err);
    for (const char *at = text; *names;) {
        const size_t length = strcspn(at, ",");
        (*names)[*count] = by_arena_text(arena, at, length, err);
        if (!(*names)[*count])
            return -1;
        if (!length)
            return by_fail(err, BARYON_ERR_USAGE, "an empty name in '%s'", text);
        ++*count;
        if (!at[length])
            return 0;
        at += length + 1;
    }
    return -1;
}

void by_node_forget_places(struct by_doc_node *node)
{
    node->line = 0;
    for (size_t i = 0; node->kind == BY_DOC_LIST && i < node->count; i++)
        by_node_forget_places(node->items[i]);
    for (size_t i = 0; node->kind == BY_DOC_MAP && i < node->count; i++) {
        node->pairs[i].line = 0;
        by_node_forget_places(node->pairs[i].value);
    }
}
