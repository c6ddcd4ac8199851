/* What the steps of a change of types share. */
#ifndef BY_RETYPE_INTERNAL_H
#define BY_RETYPE_INTERNAL_H

#include "pass/edit.h"
#include "pass/retype.h"

/* A graph as it was before; nodes and values by index. */
struct by_retype_part {
    struct baryon_graph *graph;
    size_t node_count, value_count;
    bool *inside; /* nodes that compute in the new type */
    bool *counts; /* values that are whole numbers in float */
    int64_t *was; /* the old type of values that change; 0: stays */
};

struct by_retype {
    struct by_pass_context *context;
    const struct by_retype_options *options;
    struct by_retype_report *report;
    uint64_t from;
    int64_t to;
    bool narrows, whole, interface;
    struct by_arena arena;
    struct by_map by_graph; /* struct by_retype_part by address */
    struct {
        struct by_retype_part **at; /* outer graphs before those in them */
        size_t count, cap;
    } parts;
};

enum by_retype_want { BY_WANTS_OLD, BY_WANTS_NEW, BY_TAKES_ANY };

static inline bool by_retype_is_from(const struct by_retype *r, int64_t elem)
{
    return elem > 0 && elem < 64 && (r->from >> elem & 1);
}

struct by_retype_part *by_retype_part(const struct by_retype *r, const struct baryon_graph *graph);
bool by_retype_is_inside(const struct by_retype *r, const struct baryon_node *node);
/* The old type of a value that changes, else 0. */
int64_t by_retype_was(const struct by_retype *r, const struct baryon_value *value);
/* Of a use of a value whose type is one of `from`, or was. */
enum by_retype_want by_retype_wants(const struct by_retype *r, const struct by_use *use);

/* --- retype_region.c: marks the nodes of the regions --- */
int by_retype_regions(struct by_retype *r, struct baryon_error *err);

/* --- retype_fit.c: takes out what has to stay, and says so in the report --- */
int by_retype_fit(struct by_retype *r, struct baryon_error *err);
/* The node reads or gives values that would change. */
bool by_retype_touches(const struct by_retype *r, const struct baryon_node *node);
/* Input of a type of its own: it stays what it is. */
bool by_retype_slot_stays(const struct baryon_node *node, size_t slot);
/* The output has the new type when the node computes in it. */
bool by_retype_follows(const struct by_retype *r, const struct baryon_node *node, size_t slot);

/* --- retype_tensor.c: what holds numbers or names types --- */
/* The tensor in the new type under the same name; itself when its type is not one of `from`. */
struct baryon_tensor *by_retype_tensor(struct by_retype *r, struct baryon_tensor *tensor,
                                       struct baryon_error *err);
int by_retype_attributes(struct by_retype *r, struct baryon_node *node, struct baryon_error *err);
int by_retype_initializer(struct by_retype *r, struct baryon_value *value,
                          struct baryon_error *err);
/* Declared types of the values of a graph, from what they are now. */
void by_retype_declare(struct by_retype *r, struct baryon_graph *graph);
/* Bodies of functions: their inputs have the types that callers give. */
int by_retype_functions(struct by_retype *r, struct baryon_error *err);

/* --- retype_cast.c: values that cross --- */
int by_retype_cross(struct by_retype *r, struct baryon_value *value, struct baryon_error *err);
/* Casts of the part that hand on what they read go. */
int by_retype_cancel(struct by_retype *r, const struct by_retype_part *part,
                     struct baryon_error *err);

#endif
