/* Baryon: what a model has. A part of <baryon.h>. */
#ifndef BARYON_WALK_H
#define BARYON_WALK_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Walk: the model
 *
 * Imports say in which version the operators of a domain are meant; "" is ONNX's
 * own domain, also written "ai.onnx".
 */
BARYON_API struct baryon_graph *baryon_model_graph(const struct baryon_model *model);
BARYON_API int64_t baryon_model_ir_version(const struct baryon_model *model);
/* Version imported for a domain (NULL: ONNX's own), 0 when it is not. */
BARYON_API int64_t baryon_model_opset(const struct baryon_model *model, const char *domain);
BARYON_API size_t baryon_model_import_count(const struct baryon_model *model);
BARYON_API const char *baryon_model_import_domain(const struct baryon_model *model, size_t place);
BARYON_API struct baryon_text baryon_model_producer(const struct baryon_model *model);
BARYON_API struct baryon_text baryon_model_producer_version(const struct baryon_model *model);
/* Metadata: pairs of texts that any program may add. */
BARYON_API size_t baryon_model_metadata_count(const struct baryon_model *model);
BARYON_API const char *baryon_model_metadata_key(const struct baryon_model *model, size_t place);
BARYON_API struct baryon_text baryon_model_metadata_value(const struct baryon_model *model,
                                                          size_t place);

/*
 * Walk: graphs
 *
 * The nodes of a graph stand in an order in which they can be computed, unless the
 * file had them in another or edits were not settled. The values of a graph are
 * those that it defines itself; a nested graph also sees those around it.
 */
BARYON_API const char *baryon_graph_name(const struct baryon_graph *graph);
/* The node that the graph is nested in; NULL for the graph of the model. */
BARYON_API struct baryon_node *baryon_graph_owner(const struct baryon_graph *graph);
BARYON_API size_t baryon_graph_node_count(const struct baryon_graph *graph);
BARYON_API struct baryon_node *baryon_graph_node(const struct baryon_graph *graph, size_t place);
BARYON_API size_t baryon_graph_value_count(const struct baryon_graph *graph);
BARYON_API struct baryon_value *baryon_graph_value(const struct baryon_graph *graph, size_t place);
BARYON_API size_t baryon_graph_input_count(const struct baryon_graph *graph);
BARYON_API struct baryon_value *baryon_graph_input(const struct baryon_graph *graph, size_t place);
BARYON_API size_t baryon_graph_output_count(const struct baryon_graph *graph);
BARYON_API struct baryon_value *baryon_graph_output(const struct baryon_graph *graph, size_t place);
/* The value that a name means inside the graph, at once; graphs around it included. */
BARYON_API struct baryon_value *baryon_graph_find_value(const struct baryon_graph *graph,
                                                        const char *name);
/* The first node of that name, by looking at them one by one: names of nodes are optional
 * and need not be different. */
BARYON_API struct baryon_node *baryon_graph_find_node(const struct baryon_graph *graph,
                                                      const char *name);
/*
 * Marks the nodes on the paths from any start to any end, both included: marks has
 * room for baryon_graph_node_count() and is filled by place. Starts and ends are
 * nodes of that graph itself.
 */
BARYON_API int baryon_graph_between(struct baryon_graph *graph, struct baryon_node *const *starts,
                                    size_t start_count, struct baryon_node *const *ends,
                                    size_t end_count, bool *marks, struct baryon_error *err);

/*
 * Walk: nodes
 *
 * An optional input or output that is left out has a place and no value: NULL.
 */
BARYON_API const char *baryon_node_op_type(const struct baryon_node *node);
/* "" is ONNX's own domain, however the file writes it. */
BARYON_API const char *baryon_node_domain(const struct baryon_node *node);
/* "" when it has none. */
BARYON_API const char *baryon_node_name(const struct baryon_node *node);
/* The graph that it is part of, NULL when it was removed. */
BARYON_API struct baryon_graph *baryon_node_graph(const struct baryon_node *node);
BARYON_API size_t baryon_node_place(const struct baryon_node *node);
BARYON_API size_t baryon_node_input_count(const struct baryon_node *node);
BARYON_API struct baryon_value *baryon_node_input(const struct baryon_node *node, size_t slot);
BARYON_API size_t baryon_node_output_count(const struct baryon_node *node);
BARYON_API struct baryon_value *baryon_node_output(const struct baryon_node *node, size_t slot);
BARYON_API size_t baryon_node_attribute_count(const struct baryon_node *node);
BARYON_API struct baryon_attribute *baryon_node_attribute(const struct baryon_node *node,
                                                          size_t place);
BARYON_API struct baryon_attribute *baryon_node_find_attribute(const struct baryon_node *node,
                                                               const char *name);

/*
 * Walk: attributes
 *
 * Kinds have ONNX's numbers. A getter of another kind than the attribute's gives
 * zero, NULL or no elements.
 */
enum baryon_attribute_kind {
    BARYON_ATTRIBUTE_UNKNOWN = 0, /* also: a reference to an attribute of a function */
    BARYON_ATTRIBUTE_FLOAT = 1,
    BARYON_ATTRIBUTE_INT = 2,
    BARYON_ATTRIBUTE_TEXT = 3,
    BARYON_ATTRIBUTE_TENSOR = 4,
    BARYON_ATTRIBUTE_GRAPH = 5,
    BARYON_ATTRIBUTE_FLOATS = 6,
    BARYON_ATTRIBUTE_INTS = 7,
    BARYON_ATTRIBUTE_TEXTS = 8,
    BARYON_ATTRIBUTE_TENSORS = 9,
    BARYON_ATTRIBUTE_GRAPHS = 10,
};

BARYON_API const char *baryon_attribute_name(const struct baryon_attribute *attribute);
BARYON_API enum baryon_attribute_kind
baryon_attribute_kind(const struct baryon_attribute *attribute);
/* Elements of a list, 1 for a single one, 0 for kinds that are not listed above. */
BARYON_API size_t baryon_attribute_count(const struct baryon_attribute *attribute);
/* Element `place` of a list, or place 0 of a single one. */
BARYON_API int64_t baryon_attribute_int(const struct baryon_attribute *attribute, size_t place);
BARYON_API float baryon_attribute_float(const struct baryon_attribute *attribute, size_t place);
BARYON_API struct baryon_text baryon_attribute_text(const struct baryon_attribute *attribute,
                                                    size_t place);
BARYON_API struct baryon_tensor *baryon_attribute_tensor(const struct baryon_attribute *attribute,
                                                         size_t place);
BARYON_API struct baryon_graph *baryon_attribute_graph(const struct baryon_attribute *attribute,
                                                       size_t place);

/*
 * Walk: values
 *
 * A value comes from one node, or is an input of its graph, or an initializer; an
 * input may have an initializer as its default. It is read at uses: inputs of nodes,
 * nested ones included, and outputs of graphs. Uses are in no particular order,
 * which edits change.
 */
BARYON_API const char *baryon_value_name(const struct baryon_value *value);
/* The graph that defines it, NULL when it was removed. */
BARYON_API struct baryon_graph *baryon_value_graph(const struct baryon_value *value);
/* NULL for inputs and initializers; slot (may be NULL) becomes the output that it is. */
BARYON_API struct baryon_node *baryon_value_producer(const struct baryon_value *value,
                                                     size_t *slot);
BARYON_API bool baryon_value_is_input(const struct baryon_value *value);
BARYON_API bool baryon_value_is_output(const struct baryon_value *value);
/* The initializer's content; NULL when it is none, or a sparse one. */
BARYON_API struct baryon_tensor *baryon_value_tensor(const struct baryon_value *value);
BARYON_API size_t baryon_value_use_count(const struct baryon_value *value);
/* The node that reads it there and the input's slot; NULL: a graph, and the output's. */
BARYON_API struct baryon_node *baryon_value_use(const struct baryon_value *value, size_t place,
                                                size_t *slot);
/* What the model declares, or after baryon_model_infer() what was found: element type (0:
 * unknown) and rank (-1: unknown). */
BARYON_API int baryon_value_type(const struct baryon_value *value);
BARYON_API int baryon_value_rank(const struct baryon_value *value);
/* A dimension, -1 when it is not a number; then symbol (may be NULL) becomes its name or NULL. */
BARYON_API int64_t baryon_value_dim(const struct baryon_value *value, int axis,
                                    const char **symbol);

/*
 * Walk: tensors
 */
BARYON_API const char *baryon_tensor_name(const struct baryon_tensor *tensor);
BARYON_API int baryon_tensor_type(const struct baryon_tensor *tensor);
BARYON_API int baryon_tensor_rank(const struct baryon_tensor *tensor);
BARYON_API int64_t baryon_tensor_dim(const struct baryon_tensor *tensor, int axis);
/*
 * The elements one after the other, little-endian, 4-bit and 2-bit types packed;
 * not for strings. The bytes may be unaligned. They are those of the file where it
 * stores them like that; other forms are unpacked into memory of the model.
 */
BARYON_API int baryon_tensor_bytes(struct baryon_model *model, const struct baryon_tensor *tensor,
                                   const void **bytes, size_t *size, struct baryon_error *err);
/* "float32", "int4"; "undefined" for 0 and "unknown" for numbers that are no type. */
BARYON_API const char *baryon_type_name(int type);
/* The number of "float32", "FLOAT", "fp32" and so on; -1 when there is none. */
BARYON_API int baryon_type_by_name(const char *name);

#ifdef __cplusplus
}
#endif

#endif
