/* What the files of SmoothQuant share. */
#ifndef BY_SMOOTH_INTERNAL_H
#define BY_SMOOTH_INTERNAL_H

#include "adjust/smooth.h"
#include "ir/shape.h"
#include "quant/floats.h"

#define BY_SMOOTH_NONE (-1)

/*
 * Which factor an element of a value is divided by. Axes that matter are `on`; map has, row-major
 * over those axes, the number of the factor, or BY_SMOOTH_NONE for elements that stay.
 */
struct by_smooth_spread {
    size_t rank;
    bool on[BY_RANK_MAX];
    int64_t dims[BY_RANK_MAX]; /* of axes that are on */
    int32_t *map;
    size_t count;
};

/* A constant whose element e belongs to map[e / inner % count]. */
struct by_smooth_edit {
    struct baryon_value *value;
    bool multiplies; /* else it is divided */
    size_t inner, count;
    const int32_t *map;
    /* Not NULL: a constant of fewer elements is spread to those dims first, for this reader. */
    struct baryon_node *reader;
    size_t slot;
    size_t rank;
    int64_t dims[BY_RANK_MAX];
};

/* Layers that read a tensor by its channels. */
struct by_smooth_layer {
    struct baryon_node *node;
    struct baryon_value *weight;
    size_t ins, outs;
    size_t inner;   /* of its input channels: element e is of channel e / inner % ins */
    bool ins_first; /* input channels are rows: [ins][outs] */
};

struct by_smooth_group {
    struct baryon_value *tensor;
    struct {
        struct by_smooth_layer *at;
        size_t count, cap;
    } layers;
    size_t axis, channels;
    const char *why; /* what cannot be smoothed; NULL: nothing speaks against it */
};

struct by_smooth {
    struct by_arena arena;
    struct by_quant_plan *plan;
    struct baryon_graph *graph;
    struct {
        struct by_smooth_group *at;
        size_t count, cap;
    } groups;
    /* Of the group at hand. */
    struct {
        struct by_smooth_edit *at;
        size_t count, cap;
    } edits;
    char *refusal; /* why the last way back ended, in the arena */

    /* Rotation walks back by the same rows: channels are mixed and not scaled, and the product of
     * an attention that they pass tells which of them are a head. */
    bool mixes;
    struct {
        const int32_t *channels; /* [count][size], numbers of the channels; NULL: none passed */
        size_t count, size;
    } heads;
};

/* --- smooth_spread.c --- */

/* One axis is on, and its elements have their own numbers. */
int by_smooth_spread_axis(struct by_arena *arena, size_t rank, size_t axis, size_t channels,
                          struct by_smooth_spread *spread, struct baryon_error *err);
/* The same elements in another shape; *fits: it can be told which. */
int by_smooth_spread_reshape(struct by_arena *arena, const struct by_smooth_spread *from,
                             const struct by_shape *out, const struct by_shape *in,
                             struct by_smooth_spread *spread, bool *fits, struct baryon_error *err);
/* Axis i of `from` is axis perm[i] of the result. */
int by_smooth_spread_transpose(struct by_arena *arena, const struct by_smooth_spread *from,
                               const size_t *perm, struct by_smooth_spread *spread,
                               struct baryon_error *err);
/* A part of an axis: [begin, begin + its size) of `size`; `taken`: the part has no such axis. */
int by_smooth_spread_widen(struct by_arena *arena, const struct by_smooth_spread *from, size_t axis,
                           int64_t part, int64_t begin, int64_t size, bool taken,
                           struct by_smooth_spread *spread, struct baryon_error *err);
/* Numbers of the elements of a constant that stands beside the value; *fits: it has a number of its
 * own for each. */
int by_smooth_spread_constant(struct by_arena *arena, const struct by_smooth_spread *spread,
                              const struct baryon_value *constant, int32_t **map, size_t *count,
                              bool *fits, struct baryon_error *err);

/* --- smooth_size.c --- */

/* -1: not known. */
int64_t by_smooth_size(const struct baryon_value *value, size_t axis);

/* --- smooth_back.c --- */

/* Fills smooth->edits with what takes the factors of a value; *fits, or refusal tells why not. */
int by_smooth_back(struct by_smooth *smooth, struct baryon_value *value,
                   const struct by_smooth_spread *spread, bool *fits, struct baryon_error *err);
bool by_smooth_is_free(const struct baryon_value *value);
/* "shared by others", not finite, ...; NULL: it can be edited. */
const char *by_smooth_refuses(const struct baryon_value *value);
int by_smooth_refuse(struct by_smooth *smooth, bool *fits, struct baryon_error *err,
                     const char *format, ...) __attribute__((format(printf, 4, 5)));

/* --- smooth_find.c --- */

/* The node reads input 0 by its channels, with constant weights. */
bool by_smooth_layer_of(struct baryon_node *node, struct by_smooth_layer *layer);

int by_smooth_find(struct by_smooth *smooth, struct baryon_error *err);

/* --- smooth_factor.c --- */

/* What is known of a group by its statistics and weights. */
struct by_smooth_view {
    const struct by_smooth_group *group;
    const struct by_quant_plan *plan;
    size_t channels;
    const float *low, *high; /* of activations */
    double *peak;            /* of activations, by channel */
    double *reach;           /* of weights, by channel */
    double *power;           /* of weights: sums of squares, by channel */
    double *square;          /* of activations: expected square, by channel */
    struct by_floats_view *weights;
    float *tops;  /* room for a figure of each output channel */
    float *lanes; /* and for the factors of input channels */
};

/* *why not NULL: the statistics are of no use, and there is nothing to close. */
int by_smooth_view_open(struct by_smooth *smooth, const struct by_smooth_group *group,
                        struct by_stats *stats, struct by_smooth_view *view, const char **why,
                        struct baryon_error *err);
void by_smooth_view_close(struct by_smooth_view *view);
/* The step of integers that reach from low to high. */
double by_smooth_step(const struct by_tensor_spec *spec, double low, double high);

/* Factors of a group by its statistics: [channels]. *gain: in dB, predicted; *fits false: there are
 * none, or nothing to win. alpha below 0: the best one. */
int by_smooth_factors(struct by_smooth *smooth, const struct by_smooth_group *group,
                      struct by_stats *stats, double alpha, double *factors, double *gain,
                      const char **why, struct baryon_error *err);

#endif
