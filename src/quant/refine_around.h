/* Rows around a node, as rules of hardware look at them. */
#ifndef BY_REFINE_AROUND_H
#define BY_REFINE_AROUND_H

#include "quant/refine.h"

/* One node seen by one rule. */
struct by_refining {
    struct by_quant_plan *plan;
    struct baryon_node *node;
    const struct by_refine_rule *rule;
    bool *moved;
    struct by_str *broken; /* not NULL: nothing moves, what is not kept is noted */
};

/* Row of what the node reads at a slot, dequantized; BY_NO_ROW: none. */
size_t by_row_in(const struct by_refining *at, size_t slot);
/* Row of its output, through one activation or factor that belongs to it; BY_NO_ROW: none. */
size_t by_row_out(const struct by_refining *at);
/* The only node that reads the first output; NULL: none or several. */
struct baryon_node *by_next_node(const struct baryon_node *node);
/* True when the row has one scale, a power of two; *position is set. */
bool by_row_position(const struct by_quant_plan *plan, size_t row, int *position);
/* Moves a row to a position, with the reason; rows that share its parameters go along. */
int by_row_move(struct by_refining *at, size_t row, int position, struct baryon_error *err,
                const char *why, ...) __attribute__((format(printf, 5, 6)));
/* Moves it into [least, most], when it is not there. */
int by_row_clamp(struct by_refining *at, size_t row, int position, int least, int most,
                 struct baryon_error *err, const char *why);
/* Gives a row the parameters of another one. */
int by_row_copy(struct by_refining *at, size_t to, size_t from, struct baryon_error *err,
                const char *why);

#endif
