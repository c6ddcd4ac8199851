/*
 * Rules for operator types, nodes and tensors, as users write them. In files:
 *
 *     op_types: {Softmax: float, Gather: {weight: {type: int4, group: 32}}}
 *     nodes: {"conv*": {activation: int16, weight: int8}, "re:^/head/.*": float}
 *     tensors: {x: {type: uint8, scale: 0.1, zero_point: 3}, y: {range: [-1, 1]}}
 *
 * On the command line the same without braces, parts of a part behind a dot:
 *
 *     --node 'conv*=activation:int16,weight:int8,weight.granularity:channel'
 */
#ifndef BY_QUANTIZE_RULES_H
#define BY_QUANTIZE_RULES_H

#include "base/doc.h"
#include "quant/recipe.h"

/* The layout of the lists in struct by_recipe. */
struct by_rule_list {
    struct by_rule *at;
    size_t count, cap;
};

struct by_span_list {
    struct by_span_rule *at;
    size_t count, cap;
};

/* A map of names to rules. origin: the file, for later messages about the rules. */
int by_rules_read(struct by_arena *arena, enum by_rule_kind kind, const struct by_doc_node *map,
                  const char *origin, struct by_rule_list *rules, struct baryon_error *err);
/* One rule of the command line; origin: "--node". */
int by_rule_parse(struct by_arena *arena, enum by_rule_kind kind, const char *name,
                  const char *text, const char *origin, struct by_rule_list *rules,
                  struct baryon_error *err);
/* One rule from a node of a file. */
int by_rule_read(struct by_arena *arena, enum by_rule_kind kind, const char *name,
                 const struct by_doc_node *node, const char *origin, struct by_rule_list *rules,
                 struct baryon_error *err);

/* [[STARTS, ENDS], ...] or one such pair; starts and ends are a name or a list of names. open: one
 * of the two may be empty. */
int by_spans_read(struct by_arena *arena, const struct by_doc_node *list, const char *origin,
                  bool open, struct by_span_list *spans, struct baryon_error *err);

/* Helpers for all that reads such nodes. */
/* Fails and names line and column of the node. */
int by_node_fail(const struct by_doc_node *node, struct baryon_error *err, const char *format, ...)
    BARYON_PRINTF(3, 4);
/* Nodes of a short text: places in it help nobody. */
void by_node_forget_places(struct by_doc_node *node);
/* "unknown key 'x'", with the nearest of the names (NULL ends them). */
int by_key_unknown(const struct by_doc_pair *pair, const char *const *names,
                   struct baryon_error *err);
/* Python's spelling too. */
int by_node_flag(const struct by_doc_node *node, bool *flag, struct baryon_error *err);
/* Sets a type for quantization by our name or the peer's ("QuantType.QInt8"), or "float". */
int by_node_type(const struct by_doc_node *node, struct by_tensor_spec *spec,
                 struct baryon_error *err);
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
