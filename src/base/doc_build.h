/*
 * Putting a tree of by_doc_node together from events, with the limits and rules
 * that YAML and JSON share. The first failure ends it: every function returns -1
 * from then on up to the parser.
 */
#ifndef BY_DOC_BUILD_H
#define BY_DOC_BUILD_H

#include "base/doc.h"
#include "base/map.h"

struct by_doc_mark {
    size_t line, column; /* from 1 */
};

struct by_doc_level {
    struct by_doc_node *node;
    size_t cap;         /* of items or pairs */
    struct by_map keys; /* key -> its line, as a number */
    const char *key;    /* waits for its value; maps only */
    struct by_doc_mark key_mark;
};

struct by_doc_builder {
    struct by_arena *arena;
    const char *path;
    struct by_doc_node *root;
    struct by_doc_level levels[BY_DOC_DEPTH_MAX];
    size_t depth, nodes;
    struct by_doc_limits limits;
};

void by_doc_builder_init(struct by_doc_builder *builder, struct by_arena *arena, const char *path);
void by_doc_builder_release(struct by_doc_builder *builder);
/* Rules on the whole text: size, NUL, UTF-8. */
int by_doc_check_text(const struct by_doc_builder *builder, const char *text, size_t size,
                      struct baryon_error *err);

int by_doc_open(struct by_doc_builder *builder, enum by_doc_kind kind, struct by_doc_mark mark,
                struct baryon_error *err);
void by_doc_close(struct by_doc_builder *builder);
/* A scalar or, where a map waits for one, a key. */
int by_doc_scalar(struct by_doc_builder *builder, enum by_doc_kind kind, const char *text,
                  size_t size, bool quoted, struct by_doc_mark mark, struct baryon_error *err);
bool by_doc_wants_key(const struct by_doc_builder *builder);

/* Fails with file, line and column in front. */
int by_doc_fail(const struct by_doc_builder *builder, struct by_doc_mark mark,
                struct baryon_error *err, const char *format, ...) BARYON_PRINTF(4, 5);

#endif
