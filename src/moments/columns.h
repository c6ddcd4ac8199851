/*
 * Rows and columns out of a layer's input, for everything that multiplies them: by_columns_init()
 * says how the input of one sample lies, by_rows_choose() which of its rows are taken, and
 * by_columns_fill() writes the columns of a chunk of these rows, im2col of a window included. An
 * input whose rows lie as they are (`in_rows`) needs no filling. Nothing here depends on the number
 * of threads.
 */
#ifndef BY_COLUMNS_H
#define BY_COLUMNS_H

#include "moments/moments.h"

#define BY_SPATIAL_MAX 6

/* Rows are worked off in chunks of this many, or as many as fit the room for columns. */
#define BY_CHUNK_ROWS     1024
#define BY_CHUNK_ROWS_MIN 64
/* Numbers of columns that are out of the input at once, 16 MiB, unless 64 rows are more. */
#define BY_COLUMNS_ROOM ((size_t)4 << 20)
/* From here on a product could leave the range of float: such a row counts as not finite. */
#define BY_MAGNITUDE_MAX 0x1p56f

/* One sample's input as a matrix. */
struct by_columns {
    const struct by_moments_layer *layer;
    const float *values;
    size_t rows;  /* of all there are */
    size_t most;  /* that are taken; 0: as many as moments need */
    bool in_rows; /* as they are: row after row of `columns` numbers */
    /* Otherwise windows: images of `channels` planes. */
    size_t images, channels, plane, places; /* places: of the window in an image */
    size_t spatial, kernel_size;
    int64_t kernel[BY_SPATIAL_MAX], stride[BY_SPATIAL_MAX], dilation[BY_SPATIAL_MAX];
    int64_t in[BY_SPATIAL_MAX], out[BY_SPATIAL_MAX], pad[BY_SPATIAL_MAX];
    bool spread; /* ConvTranspose: strides lie in the output */
};

/* Refuses shapes that do not fit the layer. values are set by the caller. */
int by_columns_init(struct by_columns *columns, const struct by_moments_layer *layer,
                    const struct by_array *input, struct baryon_error *err);
/* Which element of a plane the window at that place sees with its kernel element at `at`;
 * false: none, a zero. */
bool by_columns_source(const struct by_columns *columns, const int64_t *place, const int64_t *at,
                       size_t *element);
/* Image and place of a row. */
size_t by_columns_place(const struct by_columns *columns, size_t row, int64_t *place);

/* Rows that are taken: all of them in order, or a list. */
struct by_moments_rows {
    size_t count;
    const size_t *list; /* NULL: rows 0 .. count - 1 */
    size_t left_out;
};

/* Rows that are taken of each of so many samples: together they have to say enough, each by itself
 * a little. 0 samples: as of one. */
size_t by_rows_wanted(size_t columns, size_t samples);
/* No more than these are worth their time where so many samples are solved on. */
size_t by_rows_enough(size_t columns, size_t samples);
/* list: room for by_rows_most() numbers. */
size_t by_rows_most(const struct by_columns *columns);
int by_rows_choose(const struct by_columns *columns, uint64_t sample, size_t *list,
                   struct by_moments_rows *rows, const struct by_team *team,
                   struct baryon_error *err);

/* A stretch of numbers along the rows of one column. */
struct by_stretch {
    size_t to, from, count;
    bool zeros;
};
/* Stretches that one kernel element of a chunk can have. */
#define BY_STRETCHES (3 * BY_CHUNK_ROWS + 3)

struct by_place {
    size_t image;
    int64_t at[BY_SPATIAL_MAX];
};

/* What taking columns out of the input needs: for rows in order, and for rows of a list. */
struct by_fill_room {
    struct by_stretch *stretches; /* BY_STRETCHES */
    struct by_place *places;      /* BY_CHUNK_ROWS each */
    size_t *sources;
};

/* Whatever comes out, by_fill_room_close() goes with it; all zero is fine. */
int by_fill_room_open(struct by_fill_room *room, struct baryon_error *err);
void by_fill_room_close(struct by_fill_room *room);

/* Where columns go: one after the other, `length` numbers each. */
struct by_fill {
    size_t begin, length;     /* rows of those taken */
    size_t channel, channels; /* of the whole input; each gives as many columns as the kernel */
    float *out;               /* all columns */
    const bool *needed;       /* blocks of columns, by_layer_blocks() a group */
};

/* Of windows. */
void by_columns_fill(const struct by_columns *columns, const struct by_moments_rows *rows,
                     const struct by_fill *fill, const struct by_fill_room *room);

/*
 * The upper triangle of the products of few columns, row after row; what a BLAS is slow
 * at. The columns stand `length` numbers each, one after the other.
 */
#define BY_FEW_COLUMNS 32
void by_few_products(const float *columns, size_t count, size_t length, float *out);

/* Blocks of BY_MOMENTS_TILE columns, the last one shorter, in a group. */
size_t by_layer_blocks(const struct by_moments_layer *layer);

/* Room for `count` items of `size` bytes in *room; what was in there is lost. */
int by_scratch_room(void *block, size_t *room, size_t count, size_t size, struct baryon_error *err);

#endif
