/* Builds the tree of a YAML or JSON text from parser events, within limits. */
#include "base/doc_build.h"

#include "base/format.h"
#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

void by_doc_builder_init(struct by_doc_builder *builder, struct by_arena *arena, const char *path)
{
    *builder = (struct by_doc_builder){
        .arena = arena, .path = path, .limits = {BY_DOC_BYTES_MAX, BY_DOC_NODES_MAX}};
}

void by_doc_builder_release(struct by_doc_builder *builder)
{
    while (builder->depth)
        by_doc_close(builder);
}

int by_doc_fail(const struct by_doc_builder *builder, struct by_doc_mark mark,
                struct baryon_error *err, const char *format, ...)
{
    char text[sizeof err->message];
    va_list args;
    va_start(args, format);
    by_vformat(text, sizeof text, format, args);
    va_end(args);
    by_fail(err, BARYON_ERR_INPUT, "%s", text);
    by_err_in(err, "%zu:%zu", mark.line, mark.column);
    return by_err_file(err, builder->path);
}

/* Line and column of a byte, for what is found before there is a parser. */
static struct by_doc_mark mark_of(const char *text, size_t offset)
{
    struct by_doc_mark mark = {1, 1};
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            mark.line++;
            mark.column = 1;
        } else if (((uint8_t)text[i] & 0xc0) != 0x80) {
            mark.column++;
        }
    }
    return mark;
}

static size_t valid_prefix(const char *text, size_t size)
{
    size_t good = 0, length;
    uint32_t code;
    while ((length = by_utf8_next((const uint8_t *)text + good, size - good, &code)) > 0)
        good += length;
    return good;
}

int by_doc_check_text(const struct by_doc_builder *builder, const char *text, size_t size,
                      struct baryon_error *err)
{
    if (size > builder->limits.bytes) {
        by_fail(err, BARYON_ERR_INPUT, "has %zu bytes, must have at most %zu", size,
                builder->limits.bytes);
        return by_err_file(err, builder->path);
    }
    const char *nul = size ? memchr(text, '\0', size) : NULL;
    if (nul)
        return by_doc_fail(builder, mark_of(text, (size_t)(nul - text)), err,
                           "a NUL byte, the file must be text");
    if (!by_utf8_valid(text, size))
        return by_doc_fail(builder, mark_of(text, valid_prefix(text, size)), err,
                           "bytes that are not UTF-8, the file must be UTF-8 text");
    return 0;
}

static struct by_doc_level *top(struct by_doc_builder *builder)
{
    return builder->depth ? &builder->levels[builder->depth - 1] : NULL;
}

bool by_doc_wants_key(const struct by_doc_builder *builder)
{
    const struct by_doc_level *level = builder->depth ? &builder->levels[builder->depth - 1] : NULL;
    return level && level->node->kind == BY_DOC_MAP && !level->key;
}

static int add_key(struct by_doc_builder *builder, const char *key, struct by_doc_mark mark,
                   struct baryon_error *err)
{
    struct by_doc_level *level = top(builder);
    char quoted[BY_QUOTE_MAX];
    uintptr_t before = (uintptr_t)by_map_get(&level->keys, key);
    if (before)
        return by_doc_fail(builder, mark, err,
                           "key %s appears in lines %zu and %zu, must appear once",
                           by_quote(quoted, key), (size_t)before, mark.line);
    level->key = key;
    level->key_mark = mark;
    return by_map_put(&level->keys, key, (void *)(uintptr_t)mark.line, err);
}

static int grow(struct by_doc_builder *builder, struct by_doc_level *level, void *list, size_t size,
                struct baryon_error *err)
{
    struct by_list any = {NULL, level->node->count, level->cap};
    memcpy(&any.at, list, sizeof any.at);
    if (by_list_reserve(builder->arena, &any, any.cap ? 1 : 4, size, err))
        return -1;
    memcpy(list, &any.at, sizeof any.at);
    level->cap = any.cap;
    return 0;
}

/* Where the node belongs: the root, the end of a list, the value of the waiting key. */
static int attach(struct by_doc_builder *builder, struct by_doc_node *node,
                  struct baryon_error *err)
{
    struct by_doc_level *level = top(builder);
    if (!level) {
        builder->root = node;
        return 0;
    }
    struct by_doc_node *parent = level->node;
    if (parent->kind == BY_DOC_LIST) {
        if (grow(builder, level, &parent->items, sizeof *parent->items, err))
            return -1;
        parent->items[parent->count++] = node;
        return 0;
    }
    if (grow(builder, level, &parent->pairs, sizeof *parent->pairs, err))
        return -1;
    parent->pairs[parent->count++] =
        (struct by_doc_pair){level->key, node, level->key_mark.line, level->key_mark.column};
    level->key = NULL;
    return 0;
}

static struct by_doc_node *new_node(struct by_doc_builder *builder, enum by_doc_kind kind,
                                    struct by_doc_mark mark, struct baryon_error *err)
{
    if (builder->nodes >= builder->limits.nodes) {
        by_doc_fail(builder, mark, err, "more than %zu values, the limit", builder->limits.nodes);
        return NULL;
    }
    struct by_doc_node *node = BY_ARENA_NEW(builder->arena, struct by_doc_node, err);
    if (!node)
        return NULL;
    builder->nodes++;
    node->kind = kind;
    node->line = mark.line;
    node->column = mark.column;
    return attach(builder, node, err) ? NULL : node;
}

int by_doc_open(struct by_doc_builder *builder, enum by_doc_kind kind, struct by_doc_mark mark,
                struct baryon_error *err)
{
    if (by_doc_wants_key(builder))
        return by_doc_fail(builder, mark, err, "a key that is a %s, must be plain text",
                           kind == BY_DOC_LIST ? "list" : "map");
    if (builder->depth == BY_DOC_DEPTH_MAX)
        return by_doc_fail(builder, mark, err, "nested deeper than %d levels, the limit",
                           BY_DOC_DEPTH_MAX);
    struct by_doc_node *node = new_node(builder, kind, mark, err);
    if (!node)
        return -1;
    struct by_doc_level *level = &builder->levels[builder->depth++];
    *level = (struct by_doc_level){.node = node};
    by_map_init(&level->keys);
    return 0;
}

void by_doc_close(struct by_doc_builder *builder)
{
    by_map_release(&builder->levels[--builder->depth].keys);
}

int by_doc_scalar(struct by_doc_builder *builder, enum by_doc_kind kind, const char *text,
                  size_t size, bool quoted, struct by_doc_mark mark, struct baryon_error *err)
{
    if (size && memchr(text, '\0', size))
        return by_doc_fail(builder, mark, err, "a text with a NUL byte, must not contain one");
    bool is_key = by_doc_wants_key(builder);
    if (is_key && !size)
        return by_doc_fail(builder, mark, err, "a key that is empty, must be plain text");
    char *copy = by_arena_text(builder->arena, text, size, err);
    if (!copy)
        return by_err_file(err, builder->path);
    if (is_key)
        return add_key(builder, copy, mark, err);
    struct by_doc_node *node = new_node(builder, kind, mark, err);
    if (!node)
        return by_err_file(err, builder->path);
    node->text = copy;
    node->quoted = quoted;
    return 0;
}
