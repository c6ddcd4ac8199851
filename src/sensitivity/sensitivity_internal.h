/*
 * What the files sensitivity*.c share.
 *
 *   sensitivity.c   samples, outputs, the order of things
 *   models.c        the model in each state
 *   twin.c          layers and tensors
 *   cause.c         what it comes to
 */
#ifndef BY_SENSITIVITY_INTERNAL_H
#define BY_SENSITIVITY_INTERNAL_H

#include "engine/twin.h"
#include "sensitivity/sensitivity.h"
#include "trial/draft.h"

/* A copy of the model; all but the float one are lowered. */
struct by_sensing_model {
    struct by_draft draft; /* without a plan: the float one */
    size_t *row_at;        /* by row of the whole plan: that of this one, or BY_NO_ROW */
    struct by_twin_side side;
};

struct by_sensing {
    struct by_sensitivity *out;
    struct by_quantization *q;
    const struct by_judge *judge;
    unsigned states; /* mask of those to judge */
    bool decompose;
    struct by_frame now; /* of the model, with its biases as they are now */
    struct by_sensing_model models[BY_STATES];
};

int by_sensing_open_models(struct by_sensing *sensing, struct baryon_error *err);
void by_sensing_close_models(struct by_sensing *sensing);
/* Uses the models up. */
int by_sensing_twin(struct by_sensing *sensing, struct baryon_error *err);

#endif
