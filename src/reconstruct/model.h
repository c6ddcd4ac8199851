/*
 * A model whose layers are rounded one after the other, as the driver (reconstruct/reconstruct.h)
 * sees it: functions with a context, and arrays. ONNX Runtime's stages are one (rounding/model.c);
 * anything that can run its layers in order can be another.
 *
 * After it are two models: the reference, which says what layers are to give, and the quantized
 * one, whose layers have what was patched into them so far and the nearest rounding else. The
 * driver calls, for each layer in order,
 *
 *   reach()    once: both models have run up to the layer, on all samples
 *   sample()   any number of times, of any sample
 *   rescale()  once at most, and before patch()
 *   patch()    once at most: it is not called where the nearest rounding stays
 *   leave()    once, where reach() did not fail
 *
 * and judge() before the first layer and after the last one, undo() where the result is no better.
 * Functions return 0, or -1 with err filled, which ends the run. They are called by one thread at a
 * time; an implementation may use as many as it likes, and gives the same numbers for any of them.
 */
#ifndef BY_RECONSTRUCT_MODEL_H
#define BY_RECONSTRUCT_MODEL_H

#include "base/hash.h"
#include "solve/round_target.h"

struct by_round_choice;
struct by_round_moments;

/* What is known of a layer before it is reached. */
struct by_reconstruct_layer {
    const char *name;             /* for people */
    size_t groups, outs, columns; /* as its target has them */
    bool keeps_values;            /* patch() needs the choice's weights besides its integers */
    double places; /* at which it gives its outputs, in one sample: for the time that is left */
};

struct by_reconstruct_score {
    double sqnr;    /* of the model's outputs, dB */
    bool better;    /* than at the call before, beyond what chance could do */
    double against; /* SQNR of what that was compared with, dB */
};

struct by_reconstruct_model {
    void *context;
    const struct by_reconstruct_layer *layers; /* in the order in which they run */
    size_t layer_count;
    size_t train, judging; /* samples: the first ones are solved on, those after them judge */
    bool held_out;         /* those that judge are none of those that are solved on */

    /* *target: as it is now, until leave(). */
    int (*reach)(void *context, size_t layer, const struct by_round_target **target,
                 struct baryon_error *err);
    /* What the layer in hand reads in the quantized model (on samples that are solved on it may be
     * what it reads in the reference instead), and what it gives in the reference; floats, until
     * the next call. */
    int (*sample)(void *context, size_t sample, const struct by_array **x,
                  const struct by_array **y, struct baryon_error *err);
    /* In place of sample() and judge(): finished moments of what the layer in hand reads in the
     * float model (solve/round_given.h), of samples to be solved on or of those that judge. Layers
     * are judged by these alone. NULL: samples are looked at. */
    int (*moments)(void *context, bool judging, struct by_round_moments *moments,
                   struct baryon_error *err);
    /* The choice's scales become those of the layer, and its biases what these make of them; moved
     * false: they may not, and nothing changed. NULL: scales of weights stay as they are. */
    int (*rescale)(void *context, const struct by_round_choice *choice, bool *moved,
                   struct baryon_error *err);
    /* The choice becomes the layer's, for all layers after it and for good, unless undo() is
     * called. The choice is the caller's. */
    int (*patch)(void *context, const struct by_round_choice *choice, struct baryon_error *err);
    void (*leave)(void *context);

    /* The quantized model as it is now, on the samples that judge. NULL, and then undo() too: what
     * layers say of themselves decides. */
    int (*judge)(void *context, struct by_reconstruct_score *score, struct baryon_error *err);
    /* All that was patched is taken back. */
    int (*undo)(void *context, struct baryon_error *err);
    /* Adds what decides on the result besides layers and options: the models, the samples. NULL
     * where no journal is kept. */
    int (*key)(void *context, struct by_hasher *hasher, struct baryon_error *err);
};

#endif
