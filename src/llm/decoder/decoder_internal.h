/*
 * What the parts of the forward pass share.
 *
 *   config.c        config.json: sizes, scales, windows
 *   rope.c          frequencies of rotary positions
 *   places.c        which weight is what
 *   run.c           windows through the layers
 *   layer.c         one layer of one window
 *   attention.c     its attention
 *   feed_forward.c  its feed-forward part, with experts or without
 */
#ifndef BY_LLM_DECODER_INTERNAL_H
#define BY_LLM_DECODER_INTERNAL_H

#include "base/blas.h"
#include "llm/decoder/decoder.h"

int by_decoder_config(struct by_decoder *d, const struct by_doc_node *config,
                      struct baryon_error *err);
int by_decoder_ropes(struct by_decoder *d, const struct by_doc_node *config,
                     struct baryon_error *err);
int by_decoder_places(struct by_decoder *d, struct baryon_error *err);

/* A matrix in memory, [rows][columns]; bias may be NULL. */
struct by_decoder_matrix {
    const float *weight, *bias;
    size_t rows, columns;
};

/* A layer in memory. */
struct by_decoder_loaded {
    struct by_decoder_matrix parts[BY_PARTS];
    struct by_decoder_matrix *experts;
};

/* One window in one layer; everything that a thread needs. */
struct by_decoder_work {
    const struct by_decoder *d;
    const struct by_decoder_layer *layer;
    const struct by_decoder_loaded *loaded;
    const struct by_blas *blas;
    size_t length;
    float *state; /* [length][hidden] */
    float *scratch;
    size_t used; /* of scratch, in floats */
};

/* Zeroed never; NULL cannot come out, by_decoder_scratch() says how much there has to be. */
float *by_decoder_take(struct by_decoder_work *work, size_t count);
size_t by_decoder_scratch(const struct by_decoder *d, size_t length);
/* out[tokens][rows] = in[tokens][columns] * weight' + bias. */
void by_decoder_multiply(const struct by_decoder_work *work, const struct by_decoder_matrix *matrix,
                         const float *in, size_t tokens, float *out);
void by_decoder_norm(const struct by_decoder *d, const float *weight, const float *in, size_t count,
                     size_t width, float *out);
void by_decoder_attention(struct by_decoder_work *work, const float *in, float *out);
void by_decoder_feed_forward(struct by_decoder_work *work, const float *in, float *out);
void by_decoder_layer(struct by_decoder_work *work);

#endif
