/*
 * The primitives that links are changed with, for the files of ir/graph only.
 *
 * An edit first checks and reserves, which may fail, and then changes, which may
 * not: the functions here that return nothing never fail.
 */
#ifndef BY_LINKS_H
#define BY_LINKS_H

#include "ir/graph.h"

/* A quantization parameter of an annotation, which names the value. */
struct by_mention {
    struct by_mention *next;
    const struct by_annotation *annotation; /* without names once it was removed */
    struct by_pair *pair;
};

/* What a node with a `graph` and a graph with a `model` belong to. */
static inline struct by_arena *by_graph_arena(const struct baryon_graph *graph)
{
    return &graph->model->arena;
}

/* --- linking (define.c, pin.c) --- */

struct by_linker {
    struct baryon_model *model;
    size_t parts; /* nodes and values so far */
};

/* Values for everything that the graph itself defines; places in err begin in the graph. */
int by_graph_define(struct by_linker *linker, struct baryon_graph *graph, struct baryon_error *err);
/* The value of that name that is already there for a nested graph when its owner runs; or NULL. */
const struct baryon_value *by_graph_outer_value(const struct baryon_graph *graph, const char *name);
/* Marks the values that training information names. */
int by_model_pin(struct baryon_model *model, struct baryon_error *err);

/* --- uses (use.c) --- */

/* Room for `more` further uses. */
int by_value_reserve(struct baryon_value *value, size_t more, struct baryon_error *err);
struct by_link *by_use_link(const struct by_use *use);
/* Needs reserved room, and a link that is not connected. Does not touch names. */
void by_use_connect(struct by_use use, struct baryon_value *value);
/* Fine when the link is not connected. */
void by_link_drop(struct by_link *link);
/* Moves a use over to another value with room, name included. */
void by_use_move(struct by_use use, struct baryon_value *value);
/* Writes a name where the use stands. */
void by_use_write_name(const struct by_use *use, const char *name);
/* The use stands in that node, or in a graph nested in it. */
bool by_use_is_inside(const struct by_use *use, const struct baryon_node *node);
/* The declared type from where it stands first: input, output, value_info. */
void by_value_find_info(struct baryon_value *value);
/* Takes out its value_info, where it has one; what is found then, by_value_find_info() says. */
void by_value_drop_own_info(struct baryon_value *value);

/* --- values and lists (value.c) --- */

/* A new value, entered in the graph's tables. */
struct baryon_value *by_value_new(struct baryon_graph *graph, const char *name,
                                  struct baryon_error *err);
/* Takes it out of the graph's tables and what is said about it out of the graph's lists. */
void by_value_forget(struct baryon_value *value);
/* Fails when the node or value was removed, or a value's name means another one from there. */
int by_graph_can_read(const struct baryon_graph *graph, const struct baryon_value *value,
                      struct baryon_error *err);
int by_node_is_live(const struct baryon_node *node, struct baryon_error *err);
int by_value_is_live(const struct baryon_value *value, struct baryon_error *err);
/* Disconnects everything inside the node: its inputs and all of the graphs nested in it. */
void by_node_detach(struct baryon_node *node);
void by_attr_detach(struct baryon_attribute *attr);
/* The text as an interned name; NULL in *name when it cannot be one. */
int by_span_name(struct baryon_model *model, struct by_span text, const char **name,
                 struct baryon_error *err);
/* Appends to a list with room. */
void by_ptrs_add(struct by_ptrs *list, void *item);

/* --- names (names.c) --- */

/* Interned; fails when it is not a possible name or already names a value that it
 * would hide or be hidden by.
 * Types that the graph declares for it, while nothing defines it, are dropped. */
const char *by_new_value_name(struct baryon_graph *graph, const char *name,
                              struct baryon_error *err);
/* new_value gets the name of old, in the same graph, old a fresh one; uses stay. */
int by_value_take_name(struct baryon_value *old, struct baryon_value *new_value,
                       struct baryon_error *err);

/* --- order (order.c) --- */

/* For each node the producers that it waits for, in its own graph, as indices; holes have none.
 * Those of node i stand in [first[i], first[i + 1]). */
struct by_deps {
    size_t count; /* graph->node.count */
    size_t *first;
    size_t *producer;
};

int by_deps_build(struct by_deps *deps, const struct baryon_graph *graph, struct baryon_error *err);
void by_deps_release(struct by_deps *deps);
/* An order of the live nodes, by_free() it. Fails on a cycle and names the nodes on it. */
int by_graph_order(const struct baryon_graph *graph, size_t **order, size_t *count,
                   struct baryon_error *err);

#endif
