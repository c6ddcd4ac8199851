/*
 * Rules for operator types, nodes and tensors, as users write them. In files:
 *
 *     op_types: {Softmax: float, Gather: {weight: {type: int4, group: 32}}}
 *     nodes: {"conv*": {activation: int16, weight: int8}, "re:^/head/.*": float}
 *     nodes_between: [[conv1, [add1, add2], {activation: int16}]]
 *     tensors: {x: {type: uint8, scale: 0.1, zero_point: 3}, y: {range: [-1, 1]},
 *               z: {type: uint16, convert: {type: uint8, nodes: [conv2]}}}
 *
 * On the command line the same without braces, parts of a part after a dot:
 *
 *     --node 'conv*=activation:int16,weight:int8,weight.granularity:channel'
 */
#ifndef BY_SETTINGS_RULES_H
#define BY_SETTINGS_RULES_H

#include "config/spans.h"
#include "settings/methods.h"

/* The layout of the lists in struct by_recipe. */
struct by_rule_list {
    struct by_rule *at;
    size_t count, cap;
};

/* A map of names to rules. origin: the file, for later messages about the rules. */
int by_rules_read(struct by_arena *arena, enum by_rule_kind kind, const struct by_doc_node *map,
                  const char *origin, struct by_rule_list *rules, struct baryon_error *err);
/* [[STARTS, ENDS, RULE], ...]: rules for what lies between nodes. */
int by_rules_between(struct by_arena *arena, const struct by_doc_node *list, const char *origin,
                     struct by_rule_list *rules, struct baryon_error *err);
/* One rule of the command line; origin: "--node". */
int by_rule_parse(struct by_arena *arena, enum by_rule_kind kind, const char *name,
                  const char *text, const char *origin, struct by_rule_list *rules,
                  struct baryon_error *err);
/* One rule from a node of a file. */
int by_rule_read(struct by_arena *arena, enum by_rule_kind kind, const char *name,
                 const struct by_doc_node *node, const char *origin, struct by_rule_list *rules,
                 struct baryon_error *err);

/* Sets a type for quantization by our name or Quark's ("QuantType.QInt8"), or "float". */
int by_rule_type(const struct by_doc_node *node, struct by_tensor_spec *spec,
                 struct baryon_error *err);

/* An option of the method that the change has: a key that by_method_option_find() knows. use: what
 * the rule is about, activations or weights (and biases); 0: a tensor, which may be either. */
int by_rule_option(struct by_arena *arena, const struct by_doc_pair *pair, unsigned use,
                   struct by_change *change, struct baryon_error *err);

#endif
