/*
 * Links between nodes, and edits that keep them right.
 *
 * by_model_link() makes one struct baryon_value for everything that a graph
 * defines (inputs, initializers, node outputs) and connects it with its producer
 * and its uses. A nested graph sees the values around it; its uses are recorded
 * there. Linking refuses what has no meaning: a name defined twice, an input
 * that nothing defines, a cycle.
 *
 * All edits cost time in proportion to what they touch. They append at the end
 * of a list or leave a hole in it; by_graph_settle() closes the holes and puts
 * every node before its users, keeping the order where it can. Saving settles
 * by itself. Removing the last use of a value removes nothing: that is
 * by_graph_prune()'s work.
 */
#ifndef BY_GRAPH_H
#define BY_GRAPH_H

#include "ir/model.h"

struct by_shape;

/* A place that reads a value: input `slot` of a node, or output `slot` of a graph. */
struct by_use {
    struct baryon_node *node;   /* NULL: a graph output */
    struct baryon_graph *graph; /* the graph that the use stands in */
    size_t slot;
};

struct baryon_value {
    const char *name;
    struct baryon_graph *graph;
    struct baryon_node *producer; /* NULL: input or initializer */
    size_t slot;                  /* output of the producer, or place among the inputs */
    bool is_input;
    struct baryon_tensor *initializer; /* an input may have one as its default */
    struct by_sparse_tensor *sparse;
    struct by_value_info *info; /* declared type, NULL when there is none */
    struct by_use *uses;        /* order is not kept under edits */
    size_t use_count, use_cap;
    size_t index; /* place in graph->all_values */

    /* Found by ir/infer. */
    int64_t elem; /* 0: unknown */
    const struct by_shape *shape; /* NULL: unknown rank */
};

/* From a node input to the value, and its place in value->uses. */
struct by_link {
    struct baryon_value *value; /* NULL for "" */
    size_t use;
};

int by_model_link(struct baryon_model *model, struct baryon_error *err);

/* The value that a name means inside a graph, outer graphs included; NULL when none. */
struct baryon_value *by_graph_value(const struct baryon_graph *graph, const char *name);
static inline struct baryon_value *by_node_in(const struct baryon_node *node, size_t slot)
{
    return slot < node->input.count ? node->links[slot].value : NULL;
}
static inline struct baryon_value *by_node_out(const struct baryon_node *node, size_t slot)
{
    return slot < node->output.count ? node->outs[slot] : NULL;
}
bool by_value_is_output(const struct baryon_value *value);

/* A name not in use anywhere in the model: stem, stem_1, stem_2, ... in constant time each. */
const char *by_model_fresh_name(struct baryon_model *model, const char *stem,
                                struct baryon_error *err);

/* A new node with those inputs (NULL: left out) and as many fresh outputs. */
struct baryon_node *by_graph_add_node(struct baryon_graph *graph, const char *op_type,
                                      const char *domain, const char *name,
                                      struct baryon_value *const *inputs, size_t input_count,
                                      const char *const *output_names, size_t output_count,
                                      struct baryon_error *err);
/* The node's outputs must have no uses left. */
int by_graph_remove_node(struct baryon_node *node, struct baryon_error *err);
struct baryon_value *by_graph_add_initializer(struct baryon_graph *graph,
                                              struct baryon_tensor *tensor,
                                              struct baryon_error *err);
int by_graph_remove_initializer(struct baryon_value *value, struct baryon_error *err);
/* A second initializer with the same payload (shared view) under a fresh name. */
struct baryon_value *by_graph_duplicate_initializer(struct baryon_value *value,
                                                    struct baryon_error *err);

/* Makes input `slot` of a node read another value (NULL: leave it out; may append one). */
int by_node_set_input(struct baryon_node *node, size_t slot, struct baryon_value *value,
                      struct baryon_error *err);
/* All uses of old read new_value instead. Where old is a graph output, the output keeps its
 * name: new_value takes old's name over and old gets a fresh one. `except` may be NULL. */
int by_value_replace_uses(struct baryon_value *old, struct baryon_value *new_value,
                          const struct baryon_node *except, struct baryon_error *err);
/*
 * Puts a new node with one output between a value and one reader: reader's slot
 * then reads the new node, whose input 0 is the value. Further inputs as given.
 */
struct baryon_node *by_graph_insert_on_edge(struct baryon_node *reader, size_t slot,
                                            const char *op_type, const char *domain,
                                            struct baryon_value *const *more_inputs,
                                            size_t more_count, struct baryon_error *err);
/* New name everywhere: definition, uses, nested graphs, value infos, annotations. */
int by_value_rename(struct baryon_value *value, const char *name, struct baryon_error *err);

/* Removes nodes none of whose outputs is used, and initializers without uses. Returns how many. */
int by_graph_prune(struct baryon_graph *graph, size_t *removed, struct baryon_error *err);

int by_graph_settle(struct baryon_graph *graph, struct baryon_error *err);
int by_model_settle(struct baryon_model *model, struct baryon_error *err);

/*
 * Marks (by node->index) the nodes that lie on a path from a start to an end:
 * reachable from a start forwards and from an end backwards, both included.
 */
int by_graph_between(struct baryon_graph *graph, struct baryon_node *const *starts,
                     size_t start_count, struct baryon_node *const *ends, size_t end_count,
                     bool *marks, struct baryon_error *err);

/* Attributes of a node made by us; replaces an older one of the name. */
int by_node_set_int(struct baryon_node *node, const char *name, int64_t value,
                    struct baryon_error *err);
int by_node_set_float(struct baryon_node *node, const char *name, float value,
                      struct baryon_error *err);
int by_node_set_text(struct baryon_node *node, const char *name, const char *value,
                     struct baryon_error *err);
int by_node_set_ints(struct baryon_node *node, const char *name, const int64_t *values,
                     size_t count, struct baryon_error *err);

#endif
