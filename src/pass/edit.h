/*
 * What passes have in common: looking at constants, at who reads what, and the few edits that
 * most of them are made of. All of it respects outputs, nested graphs, pinned values, and
 * values that something else reads.
 */
#ifndef BY_PASS_EDIT_H
#define BY_PASS_EDIT_H

#include "pass/pass.h"

/* --- Walking --- */

typedef int by_pass_node_fn(struct by_pass_context *context, struct baryon_node *node,
                            struct baryon_error *err);
/* Visits every node there is, of all graphs, in order, and leaves out those that a visit
 * removed and those that visits added. */
int by_pass_each_node(struct by_pass_context *context, by_pass_node_fn *visit,
                      struct baryon_error *err);
/* The user wants the node as it is. */
bool by_pass_is_excluded(const struct by_pass_context *context, const struct baryon_node *node);
/* A node of ONNX's own operator that is not excluded. */
bool by_pass_is(const struct by_pass_context *context, const struct baryon_node *node,
                const char *op_type);

/* --- Constants --- */

/* An initializer that no caller can override, or what a Constant node holds; NULL: none. */
const struct baryon_tensor *by_pass_tensor(const struct baryon_value *value);
/* Elements of a constant of a float type, as double; *values NULL without an error when it is
 * no such constant. */
int by_pass_doubles(const struct baryon_value *value, struct by_arena *arena, double **values,
                    size_t *count, struct baryon_error *err);
/* The same of an integer type and at most `most` elements. */
int by_pass_ints(const struct baryon_value *value, size_t most, struct by_arena *arena,
                 int64_t **values, size_t *count, struct baryon_error *err);
/* A constant of a float type whose elements are all equal. */
int by_pass_uniform(const struct baryon_value *value, bool *is, double *element,
                    struct baryon_error *err);
bool by_elem_is_float(int64_t elem); /* float16, bfloat16, float, double */
/* A tensor of doubles, each rounded once. */
struct baryon_tensor *by_pass_round(struct baryon_model *model, const char *name, int64_t elem,
                                    const int64_t *dims, size_t rank, const double *values,
                                    struct baryon_error *err);
/* New initializers of a graph, with fresh names, type and shape known. */
struct baryon_value *by_pass_add_doubles(struct baryon_graph *graph, const char *stem, int64_t elem,
                                         const int64_t *dims, size_t rank, const double *values,
                                         struct baryon_error *err);
struct baryon_value *by_pass_add_ints(struct baryon_graph *graph, const char *stem,
                                      const int64_t *dims, size_t rank, const int64_t *values,
                                      struct baryon_error *err);
struct baryon_value *by_pass_add_tensor(struct baryon_graph *graph, struct baryon_tensor *tensor,
                                        struct baryon_error *err);
/* The tensor, nameless yet, takes the place of what a node computes, under its name. */
int by_pass_become_constant(struct baryon_value *value, struct baryon_tensor *tensor,
                            struct baryon_error *err);
/* Input `slot` of the node, a constant or left out, becomes the tensor: under the old name when
 * nobody else reads it and the dims are the same, else under a fresh one made from stem. */
int by_pass_set_constant(struct baryon_node *node, size_t slot, const char *stem, int64_t elem,
                         const int64_t *dims, size_t rank, const double *values,
                         struct baryon_error *err);

/* --- Who reads --- */

/* The one node that reads a value, in the same graph and once; NULL when there are more, or the
 * value is an output, or has to keep its name. */
struct baryon_node *by_pass_only_reader(const struct baryon_value *value);
/* The only output of a node that is not left out; NULL when there are several. */
struct baryon_value *by_pass_sole_output(const struct baryon_node *node);
/* The node that gives the value, in the same graph, and whose output only `reader` reads. */
struct baryon_node *by_pass_only_producer(const struct baryon_node *reader, size_t slot);
/* The rank, or -1. */
int by_pass_rank(const struct baryon_value *value);

/* --- Edits --- */

/* Readers of the node's first output read `value` instead and the node goes: true in *done.
 * False where an interface needs it: an output that is an input, say. */
int by_pass_bypass(struct baryon_node *node, struct baryon_value *value, bool *done,
                   struct baryon_error *err);
/* `last`, the only reader of the node's first output, goes; the node gives last's output, name
 * included. */
int by_pass_take_over(struct baryon_node *node, struct baryon_node *last, struct baryon_error *err);
/* `made`, whose first output has any name, gives the first output of `last`, which goes. */
int by_pass_replace(struct baryon_node *last, struct baryon_node *made, struct baryon_error *err);
/* False when by_pass_take_over() cannot be. */
bool by_pass_can_take_over(const struct baryon_node *node, const struct baryon_node *last);
/* A new node with one output under a fresh name made from stem; type and shape unknown. */
struct baryon_node *by_pass_add_node(struct baryon_graph *graph, const char *op_type,
                                     const char *stem, struct baryon_value *const *inputs,
                                     size_t count, struct baryon_error *err);

#endif
