/*
 * Layers with constant weights, into which what is done to each output channel can be folded:
 * Conv, ConvTranspose, Gemm, MatMul, and MatMul with an Add after it.
 */
#ifndef BY_PASS_LAYER_H
#define BY_PASS_LAYER_H

#include "pass/edit.h"

struct by_pass_layer {
    struct baryon_node *node;
    struct baryon_node *bias_node; /* reads the bias; NULL: MatMul alone, which has none */
    size_t bias_slot;
    struct baryon_node *last; /* gives the layer's output */
    const struct baryon_tensor *weight, *bias;
    size_t channels;
    size_t groups;
    size_t rank; /* of the output; 0: unknown */
    bool channels_last;
};

/* Weights and bias to be, from doubles; bias NULL: none. */
struct by_layer_change {
    double *weight, *bias;
};

/* False when the node is no such layer, or weights or bias are no constants. */
bool by_layer_of(const struct by_pass_context *context, struct baryon_node *node,
                 struct by_pass_layer *layer);
/* Output channel c becomes c * scale[c] + shift[c]; in *fits whether all of it can be written: no
 * infinity, and a place for the bias. Nothing is changed yet. */
int by_layer_scale(const struct by_pass_layer *layer, const double *scale, const double *shift,
                   struct by_arena *scratch, struct by_layer_change *change, bool *fits,
                   struct baryon_error *err);
/* The same for input channels, as if the layer read x * scale + shift. */
int by_layer_scale_input(const struct by_pass_layer *layer, const double *scale,
                         const double *shift, size_t channels, struct by_arena *scratch,
                         struct by_layer_change *change, bool *fits, struct baryon_error *err);
int by_layer_apply(struct by_pass_layer *layer, const struct by_layer_change *change,
                   struct baryon_error *err);

/* What BatchNormalization does to its channels; *is false when that is not fixed. default_epsilon:
 * where the node says none. */
int by_batch_norm(const struct baryon_node *node, double default_epsilon, struct by_arena *scratch,
                  double **scale, double **shift, size_t *channels, bool *is,
                  struct baryon_error *err);
#define BY_BN_EPSILON 1e-5

#endif
