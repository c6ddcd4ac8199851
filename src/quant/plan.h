/*
 * The plan: what of a model becomes which type, with which parameters, and why. A table; lowering
 * (quant/lower.h) writes the graph from it and decides nothing.
 *
 *   place     rows: which tensors, which readers, who shares whose parameters   quant/place.h
 *   adjust    equalization and the like edit weights and rows                  adjust/
 *   params    ranges by calibration, scales, weights' parameters               quant/params.h
 *   refine    rules of hardware move parameters                                quant/refine.h
 *   lower     the quantized graph                                              quant/lower.h
 *
 * Rows refer to each other by their place in the list. Weights and biases are quantized from the
 * float values with the final scale, at lowering: no stage holds integers that a later one
 * could make stale, but for a solver's rounding decisions.
 */
#ifndef BY_PLAN_H
#define BY_PLAN_H

#include "ir/graph.h"
#include "quant/affine.h"
#include "quant/recipe.h"

#define BY_NO_ROW SIZE_MAX

enum by_role { BY_ROLE_ACTIVATION, BY_ROLE_WEIGHT, BY_ROLE_BIAS };

/* A place that reads the dequantized value. */
struct by_quant_reader {
    struct baryon_node *node; /* NULL: output `slot` of `graph` */
    struct baryon_graph *graph;
    size_t slot;
};

/* Something that happened to a row after its first reason. */
struct by_quant_remark {
    const char *rule; /* "shift-cut", "share", "softmax-range", "cle" */
    const char *text; /* one sentence */
};

struct by_quant_row {
    struct baryon_value *value;
    enum by_role role;
    struct by_tensor_spec spec;
    const char *why; /* rule that put it here: "weight of Conv 'conv1'" */
    struct {
        struct by_quant_remark *at;
        size_t count, cap;
    } remarks;

    /* --- Placement --- */
    struct {
        struct by_quant_reader *at; /* who reads the dequantized value */
        size_t count, cap;
    } readers;
    bool dedicated;  /* a pair for each reader */
    bool keep_float; /* of a constant: Q and DQ stand in the graph */
    int block_axis;  /* of formats of blocks */
    /* A stack of matrices whose rows have a channel each is stored, and seen by its parameters, as
     * one matrix; count 0: as it is. */
    struct by_ints matrix;
    size_t
        converts;  /* row whose dequantized value it quantizes anew, BY_NO_ROW: the value itself */
    size_t second; /* the next row that does so with the same value, BY_NO_ROW: none */
    size_t shares; /* row whose parameters it has, BY_NO_ROW: its own */
    /* Range of another row instead of its own statistics (Relu's output for its input). */
    size_t range_of;
    size_t input_row, weight_row; /* of a bias whose scale is their product */
    double beta;                  /* further factor of that product */

    /* --- Parameters --- */
    struct by_range range;
    bool has_range;  /* given, or set by a rule: not calibrated */
    bool is_zero;    /* samples had nothing but zeros, or no values: any scale has them */
    bool has_params; /* given by the user, or of a float type: nothing moves them */
    struct by_params params;
    double error;     /* mean squared error of what chose them, NAN: unknown */
    int32_t *rounded; /* a solver's integers in the tensor's order; NULL: nearest */
    float *solved;    /* of floats and blocks the values, which these leave as they are */
};

enum by_node_state {
    BY_NODE_QUANTIZED,
    BY_NODE_FLOAT, /* could be quantized, is not: see why */
    BY_NODE_OTHER, /* has nothing to quantize: Shape, Cast, ... */
};

struct by_quant_node {
    struct baryon_node *node;
    enum by_node_state state;
    const char *why;
    double macs; /* multiply-adds; sizes that are not known count as 1 */
    bool open;   /* there are such sizes */
    bool folded; /* the range of what it gives does its work: lowering leaves it out */
};

struct by_known;

struct by_quant_plan {
    struct by_arena arena;
    struct baryon_model *model; /* linked, inferred */
    const struct by_recipe *recipe;
    struct {
        struct by_quant_row *at;
        size_t count, cap;
    } rows;
    struct by_quant_node *nodes; /* all graphs, outer before inner, in order */
    size_t node_count;
    /* quant/known.h; or NULL. They belong to whoever set them. */
    struct by_known *known;        /* parameters of constants */
    struct by_known *known_ranges; /* of activations in the statistics that the plan gets */
    /* The plan of a model that this one is a copy of, or NULL: constants with the same payload are
     * not looked at again. It stays as it is meanwhile. */
    const struct by_quant_plan *like;
    struct by_map looked;  /* name of a constant -> what was found out (place_node.c) */
    struct by_map row_of;  /* value -> row + 1 */
    struct by_map node_of; /* node -> place in nodes + 1 */
};

int by_quant_plan_open(struct by_quant_plan **plan, struct baryon_model *model,
                       const struct by_recipe *recipe, struct baryon_error *err);
void by_quant_plan_close(struct by_quant_plan *plan);

/* Placement lists the nodes once, in memory of the plan's arena. */
int by_quant_set_nodes(struct by_quant_plan *plan, struct by_quant_node *nodes, size_t count,
                       struct baryon_error *err);
/* BY_NO_ROW when the value has none. */
size_t by_quant_find(const struct by_quant_plan *plan, const struct baryon_value *value);
/* NULL when the plan does not know the node: it was made after placement. */
struct by_quant_node *by_quant_node_of(const struct by_quant_plan *plan,
                                       const struct baryon_node *node);
/* A new row with the defaults of its role; BY_NO_ROW on failure. */
size_t by_quant_add(struct by_quant_plan *plan, struct baryon_value *value, enum by_role role,
                    const struct by_tensor_spec *spec, const char *why, struct baryon_error *err);
/* A row for readers of another one that want another type: a second pair after its pair. The value
 * still finds the first row. */
size_t by_quant_add_second(struct by_quant_plan *plan, size_t first,
                           const struct by_tensor_spec *spec, const char *why,
                           struct baryon_error *err);
/* The row that a node reads at a slot: of the value, or a second one. BY_NO_ROW: the value has
 * none, which does not mean that the node reads it when there is one. */
size_t by_quant_read(const struct by_quant_plan *plan, const struct baryon_node *node, size_t slot);
bool by_quant_reads(const struct by_quant_row *row, const struct baryon_node *node, size_t slot);
/* The row is found by this value, too. */
int by_quant_alias(struct by_quant_plan *plan, size_t row, struct baryon_value *value,
                   struct baryon_error *err);
int by_quant_add_reader(struct by_quant_plan *plan, size_t row, struct baryon_node *node,
                        struct baryon_graph *graph, size_t slot, struct baryon_error *err);
/* text as printf. */
int by_quant_remark(struct by_quant_plan *plan, size_t row, const char *rule,
                    struct baryon_error *err, const char *text, ...)
    __attribute__((format(printf, 5, 6)));
/* The dims that the axes of a constant's parameters count. */
const struct by_ints *by_quant_dims(const struct by_quant_row *row);
/* The row whose parameters a row has in the end. */
size_t by_quant_owner(const struct by_quant_plan *plan, size_t row);
const struct by_params *by_quant_params(const struct by_quant_plan *plan, size_t row);
/* Position p of a power-of-two scale 2^-p. */
int by_scale_position(float scale);

#endif
