/* Baryon: changing a model. A part of <baryon.h>. */
#ifndef BARYON_EDIT_H
#define BARYON_EDIT_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Edit
 *
 *  - An edit happens or, when it fails, has changed nothing. It costs time in
 *    proportion to what it touches, not to the model.
 *  - Names of new values must be new in their graph, in those around it and those
 *    nested in it. baryon_model_fresh_name() makes one.
 *  - A node can read values of its own graph and of those around it.
 *  - Inputs and outputs of the model's graph keep their names, unless they are
 *    renamed. So where another value becomes an output, the two swap: the new one
 *    takes the name over, the old one gets a fresh one.
 *  - New nodes stand at the end until baryon_model_settle() or saving puts them
 *    before their readers.
 *  - Edits can close a cycle: settling and saving then fail and name it.
 *  - Functions that return a pointer give NULL when they fail.
 *
 * For example, a node after every value that Relu makes:
 *
 *     size_t count = baryon_graph_node_count(graph);
 *     for (size_t i = 0; i < count; i++) {
 *         struct baryon_node *node = baryon_graph_node(graph, i), *after;
 *         if (strcmp(baryon_node_op_type(node), "Relu") != 0)
 *             continue;
 *         struct baryon_value *value = baryon_node_output(node, 0);
 *         const char *name = baryon_model_fresh_name(model, "behind_relu", &err);
 *         if (!name || !(after = baryon_graph_add_node(graph, "Identity", NULL, NULL, &value, 1,
 *                                                       &name, 1, &err)) ||
 *             baryon_value_replace_uses(value, baryon_node_output(after, 0), after, &err))
 *             return -1;
 *     }
 *     return baryon_model_save(model, "edited.onnx", NULL, &err);
 */

/* stem, or stem_1, stem_2, ...: a text that no name in the model has. */
BARYON_API const char *baryon_model_fresh_name(struct baryon_model *model, const char *stem,
                                               struct baryon_error *err);
/* Imports a domain (NULL: ONNX's own) in that version, whether it was imported before or not. */
BARYON_API int baryon_model_set_opset(struct baryon_model *model, const char *domain,
                                      int64_t version, struct baryon_error *err);
/* value NULL: removes the pair. */
BARYON_API int baryon_model_set_metadata(struct baryon_model *model, const char *key,
                                         const char *value, struct baryon_error *err);

/*
 * A node with those inputs (NULL: left out) and outputs of those names (NULL: left
 * out). domain NULL: ONNX's own; name NULL: none.
 */
BARYON_API struct baryon_node *
baryon_graph_add_node(struct baryon_graph *graph, const char *op_type, const char *domain,
                      const char *name, struct baryon_value *const *inputs, size_t input_count,
                      const char *const *output_names, size_t output_count,
                      struct baryon_error *err);
/* A node with one output between input `slot` of reader and what that reads now, which
 * becomes its input 0; further inputs as given. Other readers are left alone. */
BARYON_API struct baryon_node *baryon_graph_insert_on_edge(struct baryon_node *reader, size_t slot,
                                                           const char *op_type, const char *domain,
                                                           struct baryon_value *const *more_inputs,
                                                           size_t more_count,
                                                           struct baryon_error *err);
/* The same before output `place` of a graph. */
BARYON_API struct baryon_node *
baryon_graph_insert_before_output(struct baryon_graph *graph, size_t place, const char *op_type,
                                  const char *domain, struct baryon_value *const *more_inputs,
                                  size_t more_count, struct baryon_error *err);
/* What the node makes must have no uses left. Graphs nested in it go too. */
BARYON_API int baryon_node_remove(struct baryon_node *node, struct baryon_error *err);
/* Input `slot` reads another value; NULL leaves it out; a slot after the last one appends. */
BARYON_API int baryon_node_set_input(struct baryon_node *node, size_t slot,
                                     struct baryon_value *value, struct baryon_error *err);

/* Attributes of a node, an older one of the name is replaced. What is given is copied,
 * tensors are not. */
BARYON_API int baryon_node_set_int(struct baryon_node *node, const char *name, int64_t value,
                                   struct baryon_error *err);
BARYON_API int baryon_node_set_float(struct baryon_node *node, const char *name, float value,
                                     struct baryon_error *err);
BARYON_API int baryon_node_set_text(struct baryon_node *node, const char *name, const char *value,
                                    struct baryon_error *err);
BARYON_API int baryon_node_set_ints(struct baryon_node *node, const char *name,
                                    const int64_t *values, size_t count, struct baryon_error *err);
BARYON_API int baryon_node_set_floats(struct baryon_node *node, const char *name,
                                      const float *values, size_t count, struct baryon_error *err);
BARYON_API int baryon_node_set_tensor(struct baryon_node *node, const char *name,
                                      struct baryon_tensor *tensor, struct baryon_error *err);
/* False when there was none. Graphs in it go too. */
BARYON_API bool baryon_node_remove_attribute(struct baryon_node *node, const char *name);

/* Every use of old reads new_value instead, but for those inside `except` (may be NULL).
 * Cannot be where an output of the model would have to take the name of an input or of
 * another output. */
BARYON_API int baryon_value_replace_uses(struct baryon_value *old, struct baryon_value *new_value,
                                         const struct baryon_node *except,
                                         struct baryon_error *err);
/* A new name, at its definition and all uses. */
BARYON_API int baryon_value_rename(struct baryon_value *value, const char *name,
                                   struct baryon_error *err);

/* A tensor of the model, not yet part of a graph, with a copy of the bytes (NULL: zeros). */
BARYON_API struct baryon_tensor *baryon_tensor_new(struct baryon_model *model, const char *name,
                                                   int type, const int64_t *dims, size_t rank,
                                                   const void *bytes, size_t size,
                                                   struct baryon_error *err);
/* The tensor's name is the value's. Raises the IR version to 4 when it is lower. */
BARYON_API struct baryon_value *baryon_graph_add_initializer(struct baryon_graph *graph,
                                                             struct baryon_tensor *tensor,
                                                             struct baryon_error *err);
/* A second one with the same content, which is not copied, under a fresh name. */
BARYON_API struct baryon_value *baryon_value_duplicate_initializer(struct baryon_value *value,
                                                                   struct baryon_error *err);
/* It must have no uses left. If it is an input as well, that goes too. */
BARYON_API int baryon_value_remove_initializer(struct baryon_value *value,
                                               struct baryon_error *err);

/* A new input of a graph. rank -1: unknown; a dimension of -1 is called symbols[i], or unknown
 * when that or symbols is NULL. */
BARYON_API struct baryon_value *baryon_graph_add_input(struct baryon_graph *graph, const char *name,
                                                       int type, const int64_t *dims,
                                                       const char *const *symbols, int rank,
                                                       struct baryon_error *err);
/* Makes a value an output of its graph, after those that are there. */
BARYON_API int baryon_value_make_output(struct baryon_value *value, int type, const int64_t *dims,
                                        const char *const *symbols, int rank,
                                        struct baryon_error *err);

/* Removes nodes none of whose outputs is read, and initializers that nothing reads, in nested
 * graphs too; removed (may be NULL) becomes their number. */
BARYON_API int baryon_model_prune(struct baryon_model *model, size_t *removed,
                                  struct baryon_error *err);
/*
 * Puts every node before its readers, moving no more than needed, and closes the
 * gaps that removals left. Only graphs that were edited are looked at; with all,
 * the others too, which sorts a file whose nodes stand in a wrong order.
 */
BARYON_API int baryon_model_settle(struct baryon_model *model, bool all, struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
