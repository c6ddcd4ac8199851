/*
 * What passes ask of a graph, and the walk they do it on.
 *
 * A matcher carries what a question may need: memory that is given back after each node, and
 * the place for an error. Questions answer false when something fails; the walk sees that and
 * ends with the error, so that patterns read as conditions.
 */
#ifndef BY_MATCH_H
#define BY_MATCH_H

#include "ir/shape.h"
#include "pass/pass.h"

struct by_matcher {
    struct by_pass_context *context;
    struct by_arena arena; /* for the time of one visit */
    struct baryon_error *err;
    bool failed;
};

typedef int by_match_visit(struct by_matcher *match, struct baryon_node *node);

/* Visits, in all graphs, the nodes that stood there at the beginning, are still there and need
 * not stay as they are. A visit that does not like a node returns 0. */
int by_match_each(struct by_pass_context *context, by_match_visit *visit, struct baryon_error *err);
/* The same for the main graph alone: nested graphs stay float, hardware never sees them. */
int by_match_main(struct by_pass_context *context, by_match_visit *visit, struct baryon_error *err);

/* --- Constants: initializers that no caller can replace, and Constant nodes --- */

bool by_match_is_constant(const struct baryon_value *value);
/* Elements of any real or integer type as numbers; NULL when it is not a constant, has more than
 * `most` elements or its payload is damaged, which is the checker's to tell. */
const double *by_match_numbers(struct by_matcher *match, const struct baryon_value *value,
                               size_t most, size_t *count);
const int64_t *by_match_ints(struct by_matcher *match, const struct baryon_value *value,
                             size_t most, size_t *count);
/* A constant of one element. */
bool by_match_scalar(struct by_matcher *match, const struct baryon_value *value, double *number);
/* One element that is that number, but for the rounding of a float. */
bool by_match_number(struct by_matcher *match, const struct baryon_value *value, double wanted);
bool by_match_near(double number, double wanted);

/* --- Neighbours --- */

/* The node of the same graph whose output 0 is input `slot`, when it is that operator. */
struct baryon_node *by_match_producer(const struct baryon_node *node, size_t slot,
                                      const char *op_type);
/* The node that alone reads output 0, once; NULL when there is none. */
struct baryon_node *by_match_reader(const struct baryon_node *node);
/* Of a node with two inputs the one that is not the value; NULL when it has not that one. */
struct baryon_value *by_match_other(const struct baryon_node *node,
                                    const struct baryon_value *value);
/* Slot of the only input of two that is a constant; false when none or both are. */
bool by_match_constant_slot(const struct baryon_node *node, size_t *slot);
/* The node has that operator and no output but the first that anybody reads. */
bool by_match_plain(const struct baryon_node *node, const char *op_type);

/* --- Types and shapes --- */

bool by_match_is_float(const struct baryon_value *value); /* float32 */
/* A size; -1 when it is not known. */
int64_t by_match_size(const struct baryon_value *value, size_t axis);
/* Axes of a Reduce* node, sorted, from the front where the rank is known and as given otherwise;
 * NULL when they are not constants. All axes: as many as the rank. */
const int64_t *by_match_axes(struct by_matcher *match, const struct baryon_node *node,
                             size_t *count);

/* --- Patterns of several nodes --- */

#define BY_PATTERN_MAX 24u

struct by_node_set {
    struct baryon_node *nodes[BY_PATTERN_MAX];
    size_t count;
    bool full; /* more nodes than there is room for: no pattern */
};

/* NULL and nodes that are there already are passed over. */
void by_set_add(struct by_node_set *set, struct baryon_node *node);
bool by_set_has(const struct by_node_set *set, const struct baryon_node *node);
/* All outputs of the nodes but `end` are read inside the set only, and the nodes may become one. */
bool by_set_is_closed(const struct by_matcher *match, const struct by_node_set *set,
                      const struct baryon_node *end);

#endif
