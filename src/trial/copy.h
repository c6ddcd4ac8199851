/*
 * A copy of the model that is being quantized, with a plan of its own, to be tried out: its nodes
 * stand where the original's do, and stay float where those do.
 */
#ifndef BY_TRIAL_COPY_H
#define BY_TRIAL_COPY_H

#include "onnx/frame.h"
#include "trial/quantization.h"

struct by_trial_copy {
    struct baryon_model *model;
    struct by_origins *origins;
    struct by_recipe recipe;    /* to run it */
    struct by_quant_plan *plan; /* placed */
};

/* frame: of the model as it is. Whatever comes out, by_trial_copy_close() goes with it. */
int by_trial_copy_open(struct by_trial_copy *copy, const struct by_quantization *q,
                       const struct by_frame *frame, const struct by_recipe *recipe,
                       struct baryon_error *err);
/* Anew, after the model was edited. */
int by_trial_copy_place(struct by_trial_copy *copy, struct baryon_error *err);
void by_trial_copy_close(struct by_trial_copy *copy);

#endif
