/*
 * Scales that rules moved in a plan raised from a finished model, on their way back into the model.
 * Nodes of pairs get new constants, those that others share stay for the others, and integers of
 * weights and biases are quantized anew from what they meant. The plan's nodes stay valid.
 */
#ifndef BY_RESCALE_H
#define BY_RESCALE_H

#include "base/log.h"
#include "quant/plan.h"

struct by_rescaling {
    struct by_quant_plan *plan;
    struct by_params *was; /* of each row */
};

/* After by_raise() and before any rule. Rows that cannot be written back keep their parameters. */
int by_rescale_open(struct by_rescaling *rescaling, struct by_quant_plan *plan,
                    struct baryon_error *err);
/* Everything that moved since. log gets each row with the reason, and warnings of integers that
 * leave their type's range; changes: rows. */
int by_rescale_write(const struct by_rescaling *rescaling, const struct by_log *log,
                     size_t *changes, struct baryon_error *err);

#endif
