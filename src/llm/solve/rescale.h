/*
 * A hook before a layer is rounded: it may change the layer's float weights in memory as long as
 * the layer computes the same (scales of channels between a norm and the linears that read it, v
 * and o, up and down; rotations within a head). AWQ and SmoothQuant are such hooks.
 *
 * The driver calls it once a layer, with the inputs that the layer's float weights see in the
 * quantized stream. Inputs that weights, once rounded, see are gathered again afterwards. What is
 * not rounded (norms, biases) is written from memory behind it.
 */
#ifndef BY_LLM_SOLVE_RESCALE_H
#define BY_LLM_SOLVE_RESCALE_H

#include "llm/decoder/decoder.h"
#include "llm/solve/inputs.h"

struct by_llm_rescale_layer {
    const struct by_decoder *decoder;
    size_t layer;
    struct by_decoder_loaded *loaded; /* weights, biases and norms may change in place */
    /* Of q, k, v; of o; of gate and up; of down. Of experts: gate and up of all tokens, down NULL.
     */
    const struct by_llm_inputs *inputs[BY_INPUTS];
};

struct by_llm_rescale {
    int (*layer)(void *context, struct by_llm_rescale_layer *layer, struct by_pool *pool,
                 struct baryon_error *err);
    void *context;
    const char *key; /* everything that the result depends on, for runs that go on */
};

#endif
