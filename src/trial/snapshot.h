/*
 * What a candidate may change, as it was: rows and nodes of the plan, and constants of the model
 * that hold floats (biases). A candidate edits plan and model in place; restoring takes all of that
 * back, remarks included. Comparing tells whether that was all.
 *
 * Rows and nodes neither come nor go in between. What the rows point to in the plan's memory stays
 * there as long as the plan, so that a row may get other scales, integers or readers at another
 * place.
 */
#ifndef BY_TRIAL_SNAPSHOT_H
#define BY_TRIAL_SNAPSHOT_H

#include "quant/plan.h"

struct by_snapshot_row;
struct by_snapshot_constant;

/* Zero to begin with. */
struct by_snapshot {
    struct by_arena arena;
    struct by_snapshot_row *rows;
    size_t row_count;
    struct by_quant_node *nodes;
    size_t node_count;
    struct by_snapshot_constant *constants;
    size_t constant_count;
};

/* constants: values with an initializer of float type; NULL among them are passed over. What the
 * snapshot held before is released. */
int by_snapshot_take(struct by_snapshot *snapshot, const struct by_quant_plan *plan,
                     struct baryon_value *const *constants, size_t count, struct baryon_error *err);
/* Of the same plan; any number of times. */
int by_snapshot_restore(const struct by_snapshot *snapshot, struct by_quant_plan *plan,
                        struct baryon_error *err);
/* Fails with the first place where plan or constants differ from the snapshot: value by value,
 * floats by their bits. */
int by_snapshot_check(const struct by_snapshot *snapshot, const struct by_quant_plan *plan,
                      struct baryon_error *err);
/* The first scale that a row had; 0: it had none. */
float by_snapshot_scale(const struct by_snapshot *snapshot, size_t row);
void by_snapshot_release(struct by_snapshot *snapshot);

#endif
