/* What equalization works on: layers seen as matrices of peaks, and links between them. */
#ifndef BY_CLE_INTERNAL_H
#define BY_CLE_INTERNAL_H

#include "adjust/cle.h"

#define BY_CLE_DEAD 1e-7 /* of the layer's greatest weight: a channel that is as good as none */
#define BY_CLE_NONE SIZE_MAX

/*
 * Weights as [out][in of the group][inside]: element (o, i, k) stands at
 * o / group_outs * stride_group + o % group_outs * stride_out + i * stride_in + k * stride_inside.
 */
struct by_cle_layer {
    struct baryon_node *node;
    struct baryon_value *weight, *bias; /* bias NULL: none */
    size_t outs, group_ins, groups, inside;
    size_t group_outs, stride_group, stride_out, stride_in, stride_inside;
    float *peak;           /* [out][in of the group], greatest magnitude inside */
    float greatest;        /* of the peaks */
    float *work;           /* room for a figure of each input channel */
    double *out_scale;     /* weights are divided by it, NULL: nothing after to equalize with */
    double *in_scale;      /* weights are multiplied by it, NULL: nothing before */
    size_t before, behind; /* links that those belong to, BY_CLE_NONE: none */
};

/* Layer `from` reaches layer `to` through operators that scale as their input does. */
struct by_cle_link {
    size_t from, to; /* places among the layers */
    size_t channels;
    struct baryon_value *between; /* what `to` reads */
    struct baryon_node *clip;     /* Relu6 on the way, NULL: none */
    double *scale;                /* of each channel: `from` is divided, `to` multiplied */
    double *low;                  /* least scale that keeps activations in range */
    double stale; /* how far the peaks have moved since it was balanced last, as a logarithm */
};

struct by_cle {
    bool only_quantized; /* of the options */
    struct by_arena arena;
    struct baryon_graph *graph;
    size_t *layer_at; /* by node->index: place among the layers, BY_CLE_NONE */
    struct {
        struct by_cle_layer *at;
        size_t count, cap;
    } layers;
    struct {
        struct by_cle_link *at;
        size_t count, cap;
    } links;
};

/* All links there are; clips only where `through_clips`. */
int by_cle_find(struct by_cle *cle, struct by_quant_plan *plan, bool through_clips,
                struct baryon_error *err);
/* A layer of the node, when it is one whose channels can be scaled; *fits tells. */
int by_cle_layer_open(struct by_cle *cle, struct baryon_node *node, size_t inside,
                      struct by_cle_layer *layer, bool *fits, struct baryon_error *err);
/* Greatest magnitude of each output channel's, each input channel's weights with the scales as
 * they are. */
void by_cle_out_peaks(const struct by_cle_layer *layer, double *peaks);
void by_cle_in_peaks(const struct by_cle_layer *layer, double *peaks);
/* Moves the scales until nothing moves, or as often as the options say. */
int by_cle_balance(struct by_cle *cle, const struct by_cle_options *options,
                   struct by_cle_report *report, struct baryon_error *err);
/* Writes the scales into weights and bias. */
int by_cle_layer_apply(struct by_cle *cle, const struct by_cle_layer *layer,
                       struct baryon_error *err);

/* A float initializer that nobody else gives. */
bool by_cle_is_constant(const struct baryon_value *value);
/* f(s * x) is s * f(x) for s > 0, channel by channel. */
bool by_cle_scales_along(const struct baryon_node *node, struct by_arena *arena);
/* How many bits a list of peaks loses, in the mean, to the greatest one. */
double by_cle_spread(const double *peaks, size_t channels);
/* Greatest magnitude that a channel had. */
double by_cle_magnitude(const struct by_channels *channels, size_t channel);
/* Counts stems, and equalizes them if asked to. stats may be NULL. */
int by_cle_stems(struct by_cle *cle, const struct by_quant_plan *plan, struct by_stats *stats,
                 bool write, struct by_cle_report *report, struct baryon_error *err);

#endif
