/*
 * Nodes of configuration files as values. What is wrong is BARYON_ERR_USAGE, with line and column.
 */
#ifndef BY_CONFIG_NODES_H
#define BY_CONFIG_NODES_H

#include "base/doc.h"
#include "base/err.h"

/* Fails and names line and column of the node. */
int by_node_fail(const struct by_doc_node *node, struct baryon_error *err, const char *format, ...)
    BARYON_PRINTF(3, 4);
/* "a list", "a map", or the quoted text. */
const char *by_node_kind(const struct by_doc_node *node, char quoted[BY_QUOTE_MAX]);
/* Nodes of a short text: places in it help nobody. */
void by_node_forget_places(struct by_doc_node *node);
/* "unknown key 'x'", with the nearest of the names (NULL ends them). */
int by_key_unknown(const struct by_doc_pair *pair, const char *const *names,
                   struct baryon_error *err);
/* Python's spelling too. */
int by_node_flag(const struct by_doc_node *node, bool *flag, struct baryon_error *err);
/* A text or a list of texts, into the arena. */
int by_node_texts(struct by_arena *arena, const struct by_doc_node *node, const char ***texts,
                  size_t *count, struct baryon_error *err);
/* "a,b" of the command line as names, into the arena. */
int by_names_split(struct by_arena *arena, const char *text, const char ***names, size_t *count,
                   struct baryon_error *err);
/* A number or a list of numbers, into the arena. */
int by_node_numbers(struct by_arena *arena, const struct by_doc_node *node, double **numbers,
                    size_t *count, struct baryon_error *err);

#endif
