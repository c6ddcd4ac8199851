/*
 * Links between nodes, and edits that keep them right.
 *
 * by_model_link() makes one struct baryon_value for everything that a graph
 * defines (inputs, initializers, node outputs) and connects it with its producer
 * and its uses. A nested graph sees the values around it; its uses are recorded
 * there. Linking refuses what has no meaning: a name defined twice, an input
 * that nothing defines, a cycle. A graph whose nodes are only in the wrong order
 * is linked; by_graph_settle() sorts it.
 *
 * Edits
 *  - cost time in proportion to what they touch. They append at the end of a list
 *    or leave a hole (NULL) in it: node, initializer, sparse_initializer, input,
 *    value_info, annotation, all_values. by_graph_settle() closes the holes and puts
 *    every node before its users, keeping the order where it can. Saving settles
 *    what was edited by itself.
 *  - either happen or, when they fail, have changed nothing.
 *  - leave what they do not touch alone: removing the last use of a value removes
 *    nothing, that is by_graph_prune()'s work.
 *  - take names that are new in the graph, in those around it and those nested in it, so
 *    that no edit can hide a value; by_model_fresh_name() makes one.
 * A removed node or value stays readable until the model is freed; its `graph` is NULL.
 */
#ifndef BY_GRAPH_H
#define BY_GRAPH_H

#include "ir/model.h"

struct by_shape;

#define BY_GRAPH_DEPTH_MAX 32
#define BY_NO_SLOT         SIZE_MAX

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
    bool pinned; /* training information names it: it keeps its name and stays */
    struct baryon_tensor *initializer; /* an input may have one as its default */
    struct by_sparse_tensor *sparse;
    size_t init_slot;           /* place among the (sparse) initializers */
    struct by_value_info *info; /* declared type, NULL when there is none */
    struct by_use *uses;        /* order is not kept under edits */
    size_t use_count, use_cap;
    size_t use_wanted;           /* scratch of the edit that makes room for uses */
    size_t output_count;         /* of the uses, those that are graph outputs */
    size_t index;                /* place in graph->all_values */
    size_t info_slot;            /* place in graph->value_info, BY_NO_SLOT: not there */
    size_t annotation;           /* place in graph->annotation, BY_NO_SLOT: none */
    struct by_mention *mentions; /* quantization parameters of annotations */

    /* Found by ir/infer. */
    int64_t elem;                 /* 0: unknown */
    const struct by_shape *shape; /* NULL: unknown rank */
};

/* From a node input or graph output to the value, and its place in value->uses. */
struct by_link {
    struct baryon_value *value; /* NULL for "" */
    size_t use;
};

/* Does nothing when the model is linked already. */
int by_model_link(struct baryon_model *model, struct baryon_error *err);
/* Forgets all links and gives their tables back; freeing a model does it. */
void by_model_unlink(struct baryon_model *model);

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
static inline struct baryon_value *by_graph_out(const struct baryon_graph *graph, size_t slot)
{
    return slot < graph->output.count ? graph->out_links[slot].value : NULL;
}
static inline bool by_value_is_output(const struct baryon_value *value)
{
    return value->output_count > 0;
}
/* Something needs it though no node reads it: an annotation, training information. */
bool by_value_is_kept(const struct baryon_value *value);
/* The node of `graph` that the use belongs to, itself or by a graph nested in it; NULL: an
 * output of `graph`. */
struct baryon_node *by_use_reader(const struct by_use *use, const struct baryon_graph *graph);

/* Goes through the graphs in a node's attributes: start from {0}; NULL at the end. */
struct by_nested {
    size_t attr, slot;
};
struct baryon_graph *by_node_nested(const struct baryon_node *node, struct by_nested *at);

/* Puts the way to a graph before err's place: "graph.node[3].attribute[0].g.". */
int by_err_in_graph(struct baryon_error *err, const struct baryon_graph *graph);
/* Gives err the byte offset of a message that was read from the model's file. */
int by_err_at_msg(struct baryon_error *err, const struct baryon_model *model,
                  const struct by_msg *msg);

/* True when every node stands after those it reads; else first_bad (may be NULL) does not. */
bool by_graph_is_sorted(const struct baryon_graph *graph, const struct baryon_node **first_bad);

/* A name not in use anywhere in the model: stem, stem_1, stem_2, ... in constant time each. */
const char *by_model_fresh_name(struct baryon_model *model, const char *stem,
                                struct baryon_error *err);

/*
 * A new node with those inputs (NULL: left out) and outputs of those names (NULL: left out).
 * name and domain may be NULL.
 */
struct baryon_node *by_graph_add_node(struct baryon_graph *graph, const char *op_type,
                                      const char *domain, const char *name,
                                      struct baryon_value *const *inputs, size_t input_count,
                                      const char *const *output_names, size_t output_count,
                                      struct baryon_error *err);
/* The node's outputs must have no uses left. Graphs inside it go too. */
int by_graph_remove_node(struct baryon_node *node, struct baryon_error *err);

/* Raises the model's IR version to 4 where initializers had to be inputs as well. */
struct baryon_value *by_graph_add_initializer(struct baryon_graph *graph,
                                              struct baryon_tensor *tensor,
                                              struct baryon_error *err);
/* The value must have no uses left. An input of its name goes with it. */
int by_graph_remove_initializer(struct baryon_value *value, struct baryon_error *err);
/* An initializer that is an input as well is an input no longer; its type stays declared. */
int by_graph_remove_default_input(struct baryon_value *value, struct baryon_error *err);
/* A second initializer with the same payload (shared view) under a fresh name. */
struct baryon_value *by_graph_duplicate_initializer(struct baryon_value *value,
                                                    struct baryon_error *err);

/* A tensor type for the two below. shape NULL: unknown rank. */
struct by_type *by_type_tensor(struct baryon_model *model, int64_t elem,
                               const struct by_shape *shape, struct baryon_error *err);
/* type NULL: none declared. */
struct baryon_value *by_graph_add_input(struct baryon_graph *graph, const char *name,
                                        struct by_type *type, struct baryon_error *err);
/* Makes a value, which is not one yet, the last output of its graph. */
int by_graph_add_output(struct baryon_value *value, struct by_type *type, struct baryon_error *err);
/* Declares what inference found: types and shapes of values that nodes of the main graph compute.
 * What is declared already stays. */
int by_model_declare(struct baryon_model *model, struct baryon_error *err);
int by_value_declare(struct baryon_value *value, struct baryon_error *err);
/* Takes out value infos that a change would make wrong or that are so already: those of inputs and
 * outputs, which are declared as such, second ones, and those with another shape than inference
 * found. The model is unsettled then. */
void by_model_drop_wrong_infos(struct baryon_model *model);
/* Imports a domain in that version, whether it was imported before or not. */
int by_model_set_opset(struct baryon_model *model, const char *domain, int64_t version,
                       struct baryon_error *err);
/* A pair of the model's metadata; value NULL: removes it. */
int by_model_set_metadata(struct baryon_model *model, const char *key, const char *value,
                          struct baryon_error *err);

/* Makes input `slot` of a node read another value (NULL: leave it out; may append). */
int by_node_set_input(struct baryon_node *node, size_t slot, struct baryon_value *value,
                      struct baryon_error *err);
/* The node becomes that operator with those inputs (NULL: left out) and without attributes. It
 * keeps its name and its outputs, whose types are the caller's to keep right. domain may be NULL.
 */
int by_node_become(struct baryon_node *node, const char *op_type, const char *domain,
                   struct baryon_value *const *inputs, size_t count, struct baryon_error *err);
/* All uses of old read new_value instead. Where old is an output of the main graph, the output
 * keeps its name: new_value takes old's name over and old gets a fresh one; that cannot be
 * when one of them is an input or new_value is another output. `except` may be NULL. */
int by_value_replace_uses(struct baryon_value *old, struct baryon_value *new_value,
                          const struct baryon_node *except, struct baryon_error *err);
/* The same, and `now` has the name that `was` had, which gets a fresh one like stem. */
int by_value_stand_in(struct baryon_value *now, struct baryon_value *was,
                      const struct baryon_node *except, const char *stem, struct baryon_error *err);
/*
 * Puts a new node with one output between a value and one reader: reader's slot
 * then reads the new node, whose input 0 is the value. Further inputs as given.
 */
struct baryon_node *by_graph_insert_on_edge(struct baryon_node *reader, size_t slot,
                                            const char *op_type, const char *domain,
                                            struct baryon_value *const *more_inputs,
                                            size_t more_count, struct baryon_error *err);
/* The same before output `slot` of a graph; other readers of the value are left alone. */
struct baryon_node *by_graph_insert_before_output(struct baryon_graph *graph, size_t slot,
                                                  const char *op_type, const char *domain,
                                                  struct baryon_value *const *more_inputs,
                                                  size_t more_count, struct baryon_error *err);
/* New name everywhere: definition, uses, nested graphs, value infos, annotations. */
int by_value_rename(struct baryon_value *value, const char *name, struct baryon_error *err);

/*
 * Settles, then removes nodes none of whose outputs is used and initializers without uses,
 * in nested graphs first. Nodes without outputs stay. removed (may be NULL): how many.
 */
int by_graph_prune(struct baryon_graph *graph, size_t *removed, struct baryon_error *err);

/* Sorts and closes holes, whether the graph was edited or not. Moves a node only when it has
 * to, and then just before the first node that reads it. Nested graphs are left alone. */
int by_graph_settle(struct baryon_graph *graph, struct baryon_error *err);
/* Settles the graphs that were edited. */
int by_model_settle(struct baryon_model *model, struct baryon_error *err);
/* Settles all graphs. */
int by_model_sort(struct baryon_model *model, struct baryon_error *err);

/*
 * Marks (by node->index) the nodes that lie on a path from a start to an end:
 * reachable from a start forwards and from an end backwards, both included.
 */
int by_graph_between(struct baryon_graph *graph, struct baryon_node *const *starts,
                     size_t start_count, struct baryon_node *const *ends, size_t end_count,
                     bool *marks, struct baryon_error *err);

/* Attributes of a node; an older one of the name is replaced. */
int by_node_set_int(struct baryon_node *node, const char *name, int64_t value,
                    struct baryon_error *err);
int by_node_set_float(struct baryon_node *node, const char *name, float value,
                      struct baryon_error *err);
int by_node_set_text(struct baryon_node *node, const char *name, const char *value,
                     struct baryon_error *err);
int by_node_set_ints(struct baryon_node *node, const char *name, const int64_t *values,
                     size_t count, struct baryon_error *err);
int by_node_set_floats(struct baryon_node *node, const char *name, const float *values,
                       size_t count, struct baryon_error *err);
int by_node_set_tensor(struct baryon_node *node, const char *name, struct baryon_tensor *tensor,
                       struct baryon_error *err);
/* Graphs inside go with it. True when there was one. */
bool by_node_remove_attr(struct baryon_node *node, const char *name);

/* Works out from scratch whether all of the above holds; for tests. */
int by_graph_verify(const struct baryon_model *model, struct baryon_error *err);

/* The tensor of an initializer or of a Constant node; NULL: it is none. */
const struct baryon_tensor *by_value_constant(const struct baryon_value *value);

#endif
