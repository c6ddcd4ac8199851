/*
 * Pairs of QuantizeLinear and DequantizeLinear as one operator of ours, for sessions that compute
 * pairs as they stand: half the nodes to open, one pass over the values instead of two, and no
 * constants for the runtime to fold. The bits are those of the pair, NaN and infinity included.
 */
#ifndef BY_PAIR_H
#define BY_PAIR_H

#include "engine/session_internal.h"

#define BY_PAIR_DOMAIN "baryon.pairs"
#define BY_PAIR_OP     "QuantizeDequantize"
#define BY_PAIR_TABLE  4 /* numbers of a row: scale, least and greatest level, of zero point 0 */
#define BY_PAIR_INDEX  "pair" /* attribute: which row */

/*
 * In the main graph: pairs of floats with one constant scale and 8 or 16 bits become one node,
 * and by_pairs_fold_small() is done. All else stays. The model is linked, and only good for a
 * session afterwards. joined: so many nodes are gone.
 */
int by_pairs_join(struct baryon_model *model, size_t *joined, struct baryon_error *err);

/* Scales and levels of the pairs, as an input of the model. With a scale of 0 a pair leaves values
 * as they are. */
struct by_pair_table {
    struct by_array array; /* for by_session_run() */
    char *name;
    float *rows;
    size_t count; /* 0: there are no pairs, and no input */
};

/*
 * The two steps of by_pairs_join() by themselves. Pairs become nodes that read their parameters
 * from an input of the model, the last one: models that are otherwise the same can share a session,
 * and each run has a table. Release it in any case.
 */
int by_pairs_join_open(struct baryon_model *model, struct by_pair_table *table,
                       struct baryon_error *err);
void by_pair_table_release(struct by_pair_table *table);

/* --- pair_fold.c --- */

/* What DequantizeLinear makes of constants that are not large becomes a constant, and what is
 * looked up in large tables is dequantized after it. Adds how many nodes are gone. */
int by_pairs_fold_small(struct baryon_model *model, size_t *folded, struct baryon_error *err);
/* For a session that reads weights as they lie: large ones of products and recurrent layers stay
 * integers until then (dequantize.h). */
int by_pairs_fold(struct baryon_model *model, struct baryon_error *err);
/* The largest of these become constants, which sessions share; for the model that is opened. */
int by_pairs_fold_largest(struct baryon_model *model, struct baryon_error *err);
/* Dequantizes a constant, with one scale, that by_pairs_fold_small() leaves. */
bool by_pair_is_large_constant(const struct baryon_node *node);

/* --- pair_look_up.c --- */

/* What only Gather reads of a constant that is not folded, with one scale, is dequantized after it:
 * the floats of a large table would be in memory of each session, for a few of its rows. */
int by_pairs_look_up(struct baryon_graph *graph, struct baryon_error *err);

/* --- pair_join.c --- */

bool by_pair_is_only_constant(const struct baryon_value *value);
/* Of a constant. */
size_t by_pair_count_of(const struct baryon_value *value);
/* Scales and zero points of a tensor, or of its channels; not of blocks. */
bool by_pair_has_plain_params(const struct baryon_node *node);
/* Takes out the node of a pair, and constants that nobody else reads. */
int by_pair_drop(struct baryon_node *node, struct baryon_error *err);

/* --- pair_inside.c --- */

/* by_session_open_model() of what by_pairs_join() or its two steps give. The model comes out as it
 * was, but for the largest weights that by_pairs_fold() has left. */
int by_session_open_pairs(struct by_session **session, struct baryon_model *model,
                          const struct by_session_options *options, struct baryon_error *err);

/* --- pair_op.c --- */

bool by_pairs_wanted(const struct baryon_model *model);
/* The node is a joined pair; NULL is none. */
bool by_node_is_pair(const struct baryon_node *node);
/* Adds the operator to the options of a session that is being opened. */
int by_pair_ops_add(struct by_session *session, OrtSessionOptions *built, struct baryon_error *err);

#endif
