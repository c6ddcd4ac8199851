/* What the steps of placement share. */
#ifndef BY_PLACE_INTERNAL_H
#define BY_PLACE_INTERNAL_H

#include "ir/opinfo.h"
#include "quant/place.h"
#include "quant/place_ops.h"

/* What a node wants of what it reads. */
enum by_slot_role {
    BY_SLOT_FLOAT,    /* nothing: it reads it as it is */
    BY_SLOT_DATA,     /* an activation */
    BY_SLOT_WEIGHT,   /* a constant, the layer's weight */
    BY_SLOT_CONSTANT, /* a constant where there could be data: of Add, Mul, ... */
    BY_SLOT_TABLE,    /* a constant whose elements it moves */
    BY_SLOT_BIAS,
};

struct by_placing {
    struct by_quant_plan *plan;
    const struct by_recipe *recipe;
    const struct by_origins *origins; /* NULL: nodes are the user's */
    struct baryon_graph *graph;       /* the main one, settled */
    size_t node_count, value_count;
    /* By node->index. */
    const struct by_place_op **ops;
    const char **stays;       /* why it stays float; NULL: it need not */
    enum by_node_state *kind; /* of those that stay */
    bool *quantized, *folded;
    bool *mute; /* no pairs on its outputs */
    /* By value->index; values made during placement are after the end. */
    bool *marked;
    bool *computed;       /* out of constants alone */
    unsigned char *picks; /* [rule][node]: the rule is about the node */
};

/* --- place_util.c --- */
const char *by_place_text(struct by_placing *placing, struct baryon_error *err, const char *format,
                          ...) BARYON_PRINTF(3, 4);
bool by_place_is_float(const struct baryon_value *value);
/* One that may be quantized: where float16 becomes float32, what stayed float16 may not. */
bool by_place_takes(const struct by_placing *placing, const struct baryon_value *value);
bool by_place_is_constant(const struct baryon_value *value);
/* The node stays float for this reason, if it does not for another. */
void by_place_keep(struct by_placing *placing, const struct baryon_node *node, const char *why);
int by_place_any_picks(const struct by_patterns *patterns, const char *name, bool *picks,
                       struct baryon_error *err);
bool by_place_in(const struct by_placing *placing, const struct baryon_value *value);
/* Finds values that are computed out of constants. */
void by_place_find_computed(struct by_placing *placing);
static inline bool by_place_marked(const struct by_placing *placing,
                                   const struct baryon_value *value)
{
    return by_place_in(placing, value) && placing->marked[value->index];
}

/* --- place_rules.c: what the user's rules say --- */
int by_place_open_rules(struct by_placing *placing, struct baryon_error *err);
/* The rule of that place is about the node. */
bool by_place_rule_picks(const struct by_placing *placing, size_t rule,
                         const struct baryon_node *node);
/* A rule that keeps the node float; NULL: none. */
const struct by_rule *by_place_kept(const struct by_placing *placing,
                                    const struct baryon_node *node);
int by_place_tensor_rule(const struct by_placing *placing, const struct baryon_value *value,
                         const struct by_rule **rule, struct baryon_error *err);
/* The type that an activation gets; one that a constant gets at one place. */
int by_place_data_spec(struct by_placing *placing, const struct baryon_value *value,
                       struct by_tensor_spec *spec, struct baryon_error *err);
int by_place_constant_spec(struct by_placing *placing, const struct baryon_node *node, size_t slot,
                           enum by_slot_role role, struct by_tensor_spec *spec,
                           struct baryon_error *err);
/* The type of what a quantized node gives, by its rules alone; what a reader would have, if nobody
 * else had a say. */
void by_place_given_spec(const struct by_placing *placing, const struct baryon_value *value,
                         struct by_tensor_spec *spec);
void by_place_wanted_spec(const struct by_placing *placing, const struct baryon_node *reader,
                          struct by_tensor_spec *spec);
bool by_place_same_spec(const struct by_tensor_spec *one, const struct by_tensor_spec *other);
int by_place_picks(const struct by_placing *placing, const struct by_pattern *pattern,
                   const struct baryon_node *node, bool *picks, struct baryon_error *err);
/* True when a rule asks for another type of that bias. */
int by_place_bias_asked(const struct by_placing *placing, const struct baryon_node *node,
                        size_t slot, bool *asked, struct baryon_error *err);

/* --- place_slot.c: what a node's operator says --- */
enum by_slot_role by_place_slot(const struct by_placing *placing, const struct baryon_node *node,
                                size_t slot);
/* True when a quantized node's output is to be quantized. */
bool by_place_gives(const struct by_placing *placing, const struct baryon_node *node, size_t slot);
bool by_place_runs_quantized(const struct by_placing *placing, const struct baryon_value *value);
/* True when the node's outputs have the parameters of its input 0. */
bool by_place_moves(const struct by_placing *placing, const struct baryon_node *node);
/* Axes that a constant's parameters lie along: -1, none. */
void by_place_axes(const struct by_placing *placing, const struct baryon_node *node, size_t slot,
                   const struct by_tensor_spec *spec, int *axis, int *group_axis);

/* --- place_node.c: which nodes may be quantized --- */
int by_place_select(struct by_placing *placing, struct baryon_error *err);
/* --- place_variance.c: normalizations in pieces stay float --- */
void by_place_variances(struct by_placing *placing);
/* --- place_softmax.c: a Softmax in pieces stays float --- */
void by_place_softmaxes(struct by_placing *placing);
/* --- place_gelu.c: a GELU in pieces stays float from its power to Tanh --- */
void by_place_gelus(struct by_placing *placing);
/* --- place_front_end.c: layers that compute a spectrum before a logarithm stay float, if wanted
 * --- */
void by_place_front_ends(struct by_placing *placing);

/* --- place_joins.c: joins of different ranges stay float, if wanted --- */
void by_place_joins(struct by_placing *placing);

/* --- place_logarithm.c: what computes before a logarithm stays float --- */
void by_place_logarithms(struct by_placing *placing);
/* --- place_spare.c: pairs that no layer reads are left out --- */
int by_place_spare(struct by_placing *placing, struct baryon_error *err);
/* True when a node that hands values on is quantized only after what is. */
bool by_place_waits(const struct by_placing *placing, const struct baryon_node *node);
/* --- place_mask.c: from a mask to its Softmax all stays float, for this reason --- */
extern const char by_place_masked[];
int by_place_masks(struct by_placing *placing, struct baryon_error *err);
/* --- place_mark.c: which are, and which values --- */
int by_place_mark(struct by_placing *placing, struct baryon_error *err);
/* --- place_fuse.c: pairs that are left out --- */
bool by_place_fused(const struct by_placing *placing, const struct baryon_value *value,
                    const struct by_tensor_spec *spec);
/* True when the recipe wants no pair between a layer and this node. */
bool by_place_is_activation(const struct by_recipe *recipe, const struct baryon_node *node);
/* The layer whose activation gives the value, with no pair between the two; NULL: none. */
const struct baryon_node *by_place_fused_layer(const struct by_placing *placing,
                                               const struct baryon_value *value);
int by_place_fold(struct by_placing *placing, struct baryon_error *err);
/* --- place_rows.c, place_constant.c: rows and readers --- */
int by_place_rows(struct by_placing *placing, struct baryon_error *err);
int by_place_constant(struct by_placing *placing, struct baryon_node *node, size_t slot,
                      enum by_slot_role role, struct baryon_error *err);
int by_place_bias(struct by_placing *placing, struct baryon_node *node, size_t slot,
                  struct baryon_error *err);
/* --- place_second.c: readers of the row that want another type get a row of their own --- */
int by_place_second(struct by_placing *placing, size_t row, struct baryon_error *err);
/* --- place_nested.c: who stays float and reads a weight all the same --- */
int by_place_nested(struct by_placing *placing, struct baryon_error *err);
/* --- place_block.c: axes that blocks lie along --- */
int by_place_block_axis(const struct baryon_node *node, size_t slot,
                        const struct by_tensor_spec *spec);
int by_place_blocks(struct by_placing *placing, struct baryon_error *err);
/* --- place_share.c: who has whose parameters and ranges --- */
int by_place_share(struct by_placing *placing, struct baryon_error *err);
/* --- place_unused.c: rules that change nothing are notices --- */
int by_place_tell_unused(const struct by_placing *placing, const struct by_log *log,
                         struct baryon_error *err);

#endif
