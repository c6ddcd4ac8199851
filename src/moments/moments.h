/*
 * What a layer's inputs look like to its weights: the Gram matrix of its input columns,
 * their means, and the number of rows after them. With them the error of any candidate
 * weights on all samples is a quadratic form.
 *
 * A layer's output at one place is the product of its weights with one row of `columns`
 * numbers: for Conv the window that the kernel sees (zeros where it hangs over, im2col),
 * for ConvTranspose the inputs that reach this output, for MatMul and Gemm a row of the
 * input. With groups each group has a matrix of its own. A Gather from a constant table has
 * no Gram matrix but counts of the indices.
 *
 * When rows are far more than needed, a look takes some of them, chosen by the sample's
 * index alone. Sums are kept in folds (fold.h): the same bytes for any split or order.
 *
 * A matrix is cut into tiles of BY_MOMENTS_TILE columns, of which the upper triangle is kept.
 * A tile can be gathered without the others, so that a pass over the data fits any memory.
 */
#ifndef BY_MOMENTS_H
#define BY_MOMENTS_H

#include "array/array.h"
#include "base/team.h"
#include "moments/fold.h"

#define BY_MOMENTS_TILE 512
/* Rows that a look takes at most: so many for each column, and never less than the second.
 * docs/design/statistics.md has what is lost by it. */
#define BY_MOMENTS_ROWS_A_COLUMN 2
#define BY_MOMENTS_ROWS_MIN      1024

enum by_layer_kind { BY_LAYER_MATMUL, BY_LAYER_CONV, BY_LAYER_CONV_TRANSPOSE, BY_LAYER_GATHER };

/* Which samples a layer's moments are of: those that judge what the others found are every fourth.
 */
enum by_moments_share { BY_SHARE_ALL, BY_SHARE_SOLVES, BY_SHARE_JUDGES };
#define BY_SHARE_STEP 4

enum by_auto_pad { BY_PADS_GIVEN, BY_PADS_VALID, BY_PADS_SAME_UPPER, BY_PADS_SAME_LOWER };

/* A layer with constant weights: what columns come out of its input. Names are the caller's; where
 * a model has the layer, stats/layers.h finds it. */
struct by_moments_layer {
    enum by_layer_kind kind;
    const char *name;  /* unique; which rows are taken follows from it. In a graph: of its first
                          output */
    const char *input; /* the value whose columns count */
    const char *weight;
    int64_t groups, columns; /* a group; of a gather: rows of the table, and groups is 1 */
    /* Windows: how many spatial dimensions, and for each the usual numbers. */
    size_t spatial;
    int64_t channels; /* of the input */
    int64_t kernel[6], stride[6], dilation[6], pad_begin[6], pad_end[6], output_pad[6];
    int64_t output_size[6]; /* of a ConvTranspose with output_shape; 0: not given */
    int auto_pad;           /* enum by_auto_pad; but for BY_PADS_GIVEN pads depend on the input */
    /* MatMul and Gemm: columns lie along the last axis but one, not along the last (Gemm with
     * transA; a constant matrix times data, where a column of the data is a row to us). */
    bool transposed;
    enum by_moments_share share;
};

/* The columns of both come out of the same input in the same way, whatever weights they meet. */
bool by_layer_same_columns(const struct by_moments_layer *one,
                           const struct by_moments_layer *other);

/* Windows of a Conv along a spatial axis of so many elements: padding before the first, and how
 * many there are. */
void by_layer_windows(const struct by_moments_layer *layer, size_t axis, int64_t in, int64_t *pad,
                      int64_t *out);

struct by_moments {
    uint64_t rows; /* gathered so far, per group */
    uint64_t samples;
    uint64_t nonfinite_rows; /* left out; rows with a magnitude of 2^56 or more are, too */
    struct by_fold mean;     /* groups * columns sums */
    size_t tile_count;       /* of the whole matrix, all groups; see by_moments_tile_at() */
    struct by_fold *tiles;   /* count 0: not gathered in this pass */
    uint64_t *counts;        /* of a gather: columns of them */
};

struct by_moments_tile {
    size_t group, row, column; /* in tiles; row <= column */
    size_t rows, columns;      /* in numbers */
    /* What a fold of it holds: rows * columns, or the upper triangle of a tile on the
     * diagonal, row by row. */
    size_t entries;
};

size_t by_moments_tiles(const struct by_moments_layer *layer);
void by_moments_tile_at(const struct by_moments_layer *layer, size_t index,
                        struct by_moments_tile *tile);
/* Memory of one tile while it is gathered. */
size_t by_moments_tile_bytes(const struct by_moments_tile *tile);

/* Gathers tiles [first, end); means and counts with the first tile. */
int by_moments_init(struct by_moments *moments, const struct by_moments_layer *layer, size_t first,
                    size_t end, struct baryon_error *err);
void by_moments_release(struct by_moments *moments);

/* Buffers for looks, shared by layers one after the other. */
struct by_moments_scratch;
int by_moments_scratch_open(struct by_moments_scratch **scratch, unsigned workers,
                            struct baryon_error *err);
void by_moments_scratch_close(struct by_moments_scratch *scratch);

/*
 * Passes over samples that are not of the layer's share.
 * input: the layer's input of one sample, float, float16, bfloat16 or double; of a gather
 * int32 or int64. Shapes that do not fit the layer are refused, and indices outside of the
 * table. Nothing has changed after a refusal.
 */
int by_moments_look(struct by_moments *moments, const struct by_moments_layer *layer,
                    struct by_moments_scratch *scratch, const struct by_array *input,
                    uint64_t sample, const struct by_team *team, struct baryon_error *err);
int by_moments_merge(struct by_moments *moments, const struct by_moments_layer *layer,
                     const struct by_moments *other, struct baryon_error *err);

/* One tile of a group's Gram matrix, both triangles of it: sums times `scale` of rows that are
 * `mean` apart from 0; NULL: as they are. gram: [columns][columns]. */
void by_moments_put_tile(const struct by_fold *fold, const struct by_moments_tile *tile,
                         size_t columns, double scale, const double *mean, float *gram);
/* Mean of each column. */
void by_moments_mean(const struct by_moments *moments, const struct by_moments_layer *layer,
                     size_t group, double *mean);

#endif
