/*
 * Configuration text, as YAML and as JSON. A tree that comes out must keep the
 * promises of doc.h; written as JSON and read again it must be the same tree.
 */
#include "base/doc.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void demand(bool truth)
{
    if (!truth)
        abort();
}

static size_t check_node(const struct by_doc_node *node, size_t depth)
{
    size_t nodes = 1;
    demand(node->line >= 1 && node->column >= 1);
    switch (node->kind) {
    case BY_DOC_NULL:
    case BY_DOC_SCALAR:
        demand(by_utf8_valid(node->text, strlen(node->text)));
        break;
    case BY_DOC_LIST:
        demand(depth < BY_DOC_DEPTH_MAX);
        for (size_t i = 0; i < node->count; i++)
            nodes += check_node(node->items[i], depth + 1);
        break;
    case BY_DOC_MAP:
        demand(depth < BY_DOC_DEPTH_MAX);
        for (size_t i = 0; i < node->count; i++) {
            demand(node->pairs[i].key[0] &&
                   by_utf8_valid(node->pairs[i].key, strlen(node->pairs[i].key)));
            /* The first of that name: so there is no second. */
            if (node->count < 200)
                demand(by_doc_get(node, node->pairs[i].key) == node->pairs[i].value);
            nodes += check_node(node->pairs[i].value, depth + 1);
        }
        break;
    }
    return nodes;
}

static void write_node(struct by_json *json, const char *key, const struct by_doc_node *node)
{
    switch (node->kind) {
    case BY_DOC_NULL:
        by_json_null(json, key);
        break;
    case BY_DOC_SCALAR:
        by_json_text(json, key, node->text);
        break;
    case BY_DOC_LIST:
        by_json_open(json, key, '[');
        for (size_t i = 0; i < node->count; i++)
            write_node(json, NULL, node->items[i]);
        by_json_close(json, ']');
        break;
    case BY_DOC_MAP:
        by_json_open(json, key, '{');
        for (size_t i = 0; i < node->count; i++)
            write_node(json, node->pairs[i].key, node->pairs[i].value);
        by_json_close(json, '}');
        break;
    }
}

static void demand_same(const struct by_doc_node *a, const struct by_doc_node *b)
{
    demand(a->kind == b->kind && a->count == b->count);
    if (a->kind == BY_DOC_SCALAR)
        demand(strcmp(a->text, b->text) == 0);
    for (size_t i = 0; i < a->count; i++) {
        if (a->kind == BY_DOC_MAP) {
            demand(strcmp(a->pairs[i].key, b->pairs[i].key) == 0);
            demand_same(a->pairs[i].value, b->pairs[i].value);
        } else {
            demand_same(a->items[i], b->items[i]);
        }
    }
}

static void check_round_trip(const struct by_doc_node *tree, bool compact)
{
    struct by_str out;
    struct by_json json;
    struct by_arena arena;
    struct by_doc_node *again;
    by_str_init(&out);
    by_arena_init(&arena, 0);
    by_json_init(&json, &out, compact);
    write_node(&json, NULL, tree);
    /* Escapes make the text longer, perhaps longer than what may be read. */
    if (out.size <= BY_DOC_BYTES_MAX) {
        demand(by_json_parse(&arena, by_str_text(&out), out.size, "f", &again, NULL) == 0);
        demand_same(tree, again);
    }
    by_arena_release(&arena);
    by_str_release(&out);
}

typedef int parse_fn(struct by_arena *, const char *, size_t, const char *, struct by_doc_node **,
                     struct baryon_error *);

static void try_parser(parse_fn *parse, const uint8_t *bytes, size_t size)
{
    struct baryon_error err;
    struct by_arena arena;
    struct by_doc_node *root;
    by_err_clear(&err);
    by_arena_init(&arena, 0);
    if (parse(&arena, (const char *)bytes, size, "f", &root, &err)) {
        demand(err.code == BARYON_ERR_INPUT && err.message[0] && strcmp(err.file, "f") == 0);
        demand(by_utf8_valid(err.message, strlen(err.message)));
    } else {
        demand(check_node(root, 0) <= BY_DOC_NODES_MAX);
        check_round_trip(root, size & 1);
    }
    demand(arena.used <= 128 * size + (64u << 10));
    by_arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    try_parser(by_yaml_parse, bytes, size);
    try_parser(by_json_parse, bytes, size);
    return 0;
}
