/*
 * Configuration text, YAML or JSON, as one tree of nodes.
 *
 * Strict: size, depth and number of nodes are limited; duplicate keys, aliases,
 * anchors, tags and more than one document are refused, text must be UTF-8 without
 * NUL. Scalars keep their text and are given a meaning only by whoever asks (so
 * that `no` stays the word "no"). JSON gives the same tree: numbers and words as
 * text, strings quoted. `null` and, in YAML, `~` or nothing at all is BY_DOC_NULL
 * and keeps its text too.
 */
#ifndef BY_DOC_H
#define BY_DOC_H

#include "base/mem.h"

enum by_doc_kind { BY_DOC_NULL, BY_DOC_SCALAR, BY_DOC_LIST, BY_DOC_MAP };

struct by_doc_node;

struct by_doc_pair {
    const char *key;
    struct by_doc_node *value;
    size_t line, column; /* of the key */
};

struct by_doc_node {
    enum by_doc_kind kind;
    bool quoted;      /* scalar written in quotes: a text, never a number or word */
    const char *text; /* scalar and null */
    struct by_doc_node **items;
    struct by_doc_pair *pairs;
    size_t count;        /* items or pairs */
    size_t line, column; /* from 1, in characters */
};

#define BY_DOC_BYTES_MAX (4u << 20)
#define BY_DOC_DEPTH_MAX 32
#define BY_DOC_NODES_MAX (1u << 18)

/* Nodes live in the arena; a text with nothing in it is a null node. `path` is for messages. */
int by_yaml_parse(struct by_arena *arena, const char *text, size_t size, const char *path,
                  struct by_doc_node **root, struct baryon_error *err);
int by_json_parse(struct by_arena *arena, const char *text, size_t size, const char *path,
                  struct by_doc_node **root, struct baryon_error *err);
/* The same of large JSON texts of programs, with limits of their own. */
struct by_doc_limits {
    size_t bytes, nodes;
};
int by_json_parse_within(struct by_arena *arena, const char *text, size_t size, const char *path,
                         struct by_doc_limits limits, struct by_doc_node **root,
                         struct baryon_error *err);
/* Reads the file; ".json" is JSON, everything else YAML. */
int by_doc_load(struct by_arena *arena, const char *path, struct by_doc_node **root,
                struct baryon_error *err);
/* The value of a key, NULL when it is not there or `map` is no map. */
struct by_doc_node *by_doc_get(const struct by_doc_node *map, const char *key);

#endif
