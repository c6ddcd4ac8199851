/* Nodes of configuration files as values. */
#include "base/str.h"
#include "ir/tensor.h"
#include "quantize_rules.h"

#include <ctype.h>
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

static const char *kind_text(const struct by_doc_node *node, char quoted[BY_QUOTE_MAX])
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
        return by_node_fail(node, err, "%s is not true or false", kind_text(node, quoted));
    return 0;
}

/* "QuantType.QInt8", "Int8" and "int8" are "int8". */
static void plain_type(char *out, size_t size, const char *text)
{
    const char *dot = strrchr(text, '.');
    const char *at = dot ? dot + 1 : text;
    if (*at == 'Q' && isupper((unsigned char)at[1]))
        at++;
    size_t used = 0;
    for (; *at && used + 1 < size; at++)
        out[used++] = (char)tolower((unsigned char)*at);
    out[used] = '\0';
}

static const struct {
    const char *name;
    int64_t type;
} types[] = {
    {"int2", BY_ELEM_INT2},
    {"uint2", BY_ELEM_UINT2},
    {"int3", BY_TYPE_INT3},
    {"uint3", BY_TYPE_UINT3},
    {"int4", BY_ELEM_INT4},
    {"uint4", BY_ELEM_UINT4},
    {"int8", BY_ELEM_INT8},
    {"uint8", BY_ELEM_UINT8},
    {"int16", BY_ELEM_INT16},
    {"uint16", BY_ELEM_UINT16},
    {"int32", BY_ELEM_INT32},
    {"float", BY_ELEM_UNDEFINED},
    {"bf16", BY_ELEM_BFLOAT16},
    {"fp16", BY_ELEM_FLOAT16},
    {"fp8_e4m3", BY_ELEM_FLOAT8E4M3FN},
    {"fp8_e5m2", BY_ELEM_FLOAT8E5M2},
    {"bfp16", BY_TYPE_BFP16},
    {"bfp16_raised", BY_TYPE_BFP16_RAISED},
    {"mx4", BY_TYPE_MX4},
    {"mx6", BY_TYPE_MX6},
    {"mx9", BY_TYPE_MX9},
    {"mxint8", BY_TYPE_MXINT8},
    {"mxfp8_e5m2", BY_TYPE_MXFP8_E5M2},
    {"mxfp8_e4m3", BY_TYPE_MXFP8_E4M3},
    {"mxfp6_e3m2", BY_TYPE_MXFP6_E3M2},
    {"mxfp6_e2m3", BY_TYPE_MXFP6_E2M3},
    {"mxfp4_e2m1", BY_TYPE_MXFP4_E2M1},
    {"bfloat16", BY_ELEM_BFLOAT16}, /* Quark's */
    {"float16", BY_ELEM_FLOAT16},
    {"bfp", BY_TYPE_BFP16},
    {"mx", BY_TYPE_MXINT8},
};

#define TYPES     (sizeof types / sizeof *types)
#define OUR_TYPES (TYPES - 4)

static int no_type(const struct by_doc_node *node, const char *plain, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *names[OUR_TYPES];
    for (size_t i = 0; i < OUR_TYPES; i++)
        names[i] = types[i].name;
    by_node_fail(node, err, "%s is no type", kind_text(node, quoted));
    const char *near = *plain ? by_nearest(plain, names, OUR_TYPES) : NULL;
    return near ? by_err_hint(err, "did you mean '%s'?", near)
                : by_err_hint(err, "types are those of --weight, and float");
}

int by_node_type(const struct by_doc_node *node, struct by_tensor_spec *spec,
                 struct baryon_error *err)
{
    char plain[32] = "";
    if (node->kind == BY_DOC_SCALAR)
        plain_type(plain, sizeof plain, node->text);
    for (size_t i = 0; i < TYPES; i++)
        if (!strcmp(plain, types[i].name)) {
            by_spec_set_type(spec, types[i].type);
            return 0;
        }
    return no_type(node, plain, err);
}

static int number_of(const struct by_doc_node *node, double *number, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (node->kind == BY_DOC_SCALAR && by_parse_double(node->text, number) && isfinite(*number))
        return 0;
    return by_node_fail(node, err, "%s is not a number", kind_text(node, quoted));
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
        return by_node_fail(node, err, "an empty list has no number");
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
            return by_node_fail(item, err, "%s is not a name", kind_text(item, quoted));
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

static int span_of(struct by_arena *arena, const struct by_doc_node *node, bool open,
                   struct by_span_rule *span, struct baryon_error *err)
{
    if (node->kind != BY_DOC_LIST || node->count != 2)
        return by_node_fail(node, err, "a list of two is expected: [STARTS, ENDS]");
    if (by_node_texts(arena, node->items[0], &span->starts, &span->start_count, err) < 0 ||
        by_node_texts(arena, node->items[1], &span->ends, &span->end_count, err) < 0)
        return -1;
    if (open ? !span->start_count && !span->end_count : !span->start_count || !span->end_count)
        return by_node_fail(node, err, "a start %s an end %s needed", open ? "or" : "and",
                            open ? "is" : "are");
    return 0;
}

static int add_span(struct by_arena *arena, const struct by_doc_node *node, const char *origin,
                    bool open, struct by_span_list *spans, struct baryon_error *err)
{
    if (by_list_reserve(arena, spans, 1, sizeof *spans->at, err) < 0)
        return -1;
    struct by_span_rule *span = &spans->at[spans->count];
    *span = (struct by_span_rule){.origin = origin};
    if (span_of(arena, node, open, span, err) < 0)
        return -1;
    spans->count++;
    return 0;
}

int by_spans_read(struct by_arena *arena, const struct by_doc_node *list, const char *origin,
                  bool open, struct by_span_list *spans, struct baryon_error *err)
{
    if (list->kind != BY_DOC_LIST)
        return by_node_fail(list, err, "a list of [STARTS, ENDS] is expected");
    if (list->count == 2 && list->items[0]->kind == BY_DOC_SCALAR &&
        list->items[1]->kind == BY_DOC_SCALAR)
        return add_span(arena, list, origin, open, spans, err);
    for (size_t i = 0; i < list->count; i++)
        if (add_span(arena, list->items[i], origin, open, spans, err) < 0)
            return -1;
    return 0;
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
