/*
 * What the parts of the forward pass share.
 *
 *   config.c        config.json: sizes, scales, windows
 *   rope.c          frequencies of rotary positions
 *   places.c        which weight is what
 *   simulate.c      which inputs are rounded
 *   load.c          weights of a layer into memory
 *   tiles.c         or into a file, and products by tiles
 *   run.c           windows through the layers
 *   kept.c          what lies between them
 *   layer.c         one layer of one window
 *   attention.c     its attention
 *   feed_forward.c  its feed-forward part, with experts or without
 */
#ifndef BY_LLM_DECODER_INTERNAL_H
#define BY_LLM_DECODER_INTERNAL_H

#include "base/blas.h"
#include "llm/decoder/decoder.h"

#define BY_DECODER_BLOCK 128 /* tokens whose scores of attention are in memory at a time */
#define BY_DECODER_READ_ROWS                                                                       \
    256 /* of a weight, that are read at once; what codes ask for divides it */

int by_decoder_config(struct by_decoder *d, const struct by_doc_node *config,
                      struct baryon_error *err);
int by_decoder_ropes(struct by_decoder *d, const struct by_doc_node *config,
                     struct baryon_error *err);
int by_decoder_places(struct by_decoder *d, struct baryon_error *err);

/* One window in one layer; everything that a thread needs. */
struct by_decoder_work {
    const struct by_decoder *d;
    const struct by_decoder_layer *layer;
    const struct by_decoder_loaded *loaded;
    const struct by_blas *blas;
    const struct by_decoder_watch *watch; /* NULL: nobody */
    size_t length, window;
    float *state;  /* [length][hidden] */
    float *inputs; /* [length][columns]: of the linears that come next */
    float *chosen; /* [length][experts] */
    float *scratch;
    size_t used; /* of scratch, in floats */
    int status;  /* -1: err is filled */
    struct baryon_error *err;
};

/* Zeroed never; NULL cannot come out, by_decoder_scratch() says how much there has to be. */
float *by_decoder_take(struct by_decoder_work *work, size_t count);
size_t by_decoder_scratch(const struct by_decoder *d, size_t length);
/* out[tokens][rows] = in[tokens][columns] * weight' + bias; rows of out are `stride` floats
 * apart. */
void by_decoder_multiply(struct by_decoder_work *work, const struct by_decoder_matrix *matrix,
                         const float *in, size_t tokens, float *out, size_t stride);
void by_decoder_norm(const struct by_decoder *d, const float *weight, const float *in, size_t count,
                     size_t width, float *out);
/* From the inputs to those of o. */
void by_decoder_attention(struct by_decoder_work *work);
/* Chooses the experts of tokens by the inputs of gates. */
void by_decoder_route(struct by_decoder_work *work);
/* From the inputs to those of down. */
void by_decoder_gates(struct by_decoder_work *work);
/* What down makes of the inputs. */
void by_decoder_down(struct by_decoder_work *work, float *out);
/* From one input to the next; BY_INPUTS: to the state after the layer. */
void by_decoder_next(struct by_decoder_work *work, enum by_decoder_input input);
/* The first of the numbers that is NaN or infinite; count: none. */
size_t by_decoder_strange(const struct by_decoder *decoder, const void *kept, size_t count);
/* Floats of a layer's weights. */
size_t by_decoder_layer_floats(const struct by_decoder *d, const struct by_decoder_layer *layer);
int by_decoder_read(const struct by_decoder_run *run, const struct by_llm_weight *weight,
                    float *out, struct baryon_error *err);
/* Room for weights of a run, in memory or in its file, which has room for one layer and the head.
 */
float *by_decoder_room(struct by_decoder_run *run, size_t floats, struct baryon_error *err);
void by_decoder_free(const struct by_decoder_run *run, float *values);

/* out[tokens][rows] = in[tokens][columns] * weight'; rows of out are `stride` floats apart. */
struct by_decoder_product {
    const float *weight, *in;
    float *out;
    size_t rows, columns, tokens, stride;
};
/* Tile by tile; spill: where the weight lies, or NULL. */
void by_decoder_product(const struct by_blas *blas, const struct by_spill *spill,
                        const struct by_decoder_product *product);

#endif
