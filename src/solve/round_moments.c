/* Gathers Gram matrix and cross moments of one layer, sample by sample. */
#include "solve/round_moments.h"

#include "moments/columns.h"
#include "solve/round_sums.h"

#include <math.h>
#include <string.h>

int by_round_moments_init(struct by_round_moments *moments, const struct by_round_target *target,
                          struct baryon_error *err)
{
    const size_t columns = target->columns, outs = target->groups * target->outs;
    *moments = (struct by_round_moments){
        .groups = target->groups, .outs = target->outs, .columns = columns};
    moments->cross = by_alloc_zero(outs * columns, sizeof(float), err);
    moments->x = by_alloc_zero(target->groups * columns, sizeof(double), err);
    moments->y = by_alloc_zero(outs, sizeof(double), err);
    if (moments->cross && moments->x && moments->y)
        return 0;
    by_round_moments_release(moments);
    return -1;
}

void by_round_moments_release(struct by_round_moments *moments)
{
    by_free(moments->gram);
    by_free(moments->values);
    by_free(moments->cross);
    by_free(moments->x);
    by_free(moments->y);
    *moments = (struct by_round_moments){0};
}

/* --- Gram or rows --- */

#define WIDTH_LEAST 2048 /* columns */
/* Work as multiplications of a matrix product: descent on a row of an output, which takes some
 * forty looks at each column, and descent on the Gram matrix. */
#define ON_ROWS 70.0
#define ON_GRAM 1.5

static bool rows_are_less(const struct by_round_moments *moments, size_t rows_a_sample)
{
    const double columns = (double)moments->columns, outs = (double)moments->outs;
    const double rows = (double)rows_a_sample * (double)moments->samples;
    return moments->samples && moments->groups == 1 && moments->columns >= WIDTH_LEAST &&
           rows < columns && ON_ROWS * rows * outs < columns * (rows / 2 + ON_GRAM * outs);
}

/* Room for so many more rows: of the first sample as if all were like it. */
static int make_row_room(struct by_round_moments *moments, size_t rows, struct baryon_error *err)
{
    const size_t used = (size_t)moments->rows, needed = used + rows;
    if (needed <= moments->kept.stride)
        return 0;
    const size_t stride = used ? 2 * needed : rows * moments->samples;
    float *values = by_alloc(moments->columns * stride, sizeof *values, err);
    if (!values)
        return -1;
    for (size_t i = 0; i < moments->columns && used; i++)
        memcpy(values + i * stride, moments->values + i * moments->kept.stride,
               used * sizeof *values);
    by_free(moments->values);
    moments->values = values;
    moments->kept = (struct by_descent_rows){.stride = stride, .values = values};
    return 0;
}

static int open_sums(struct by_round_moments *moments, const struct by_round_chunk *chunk,
                     struct baryon_error *err)
{
    if (moments->gram)
        return 0;
    if (moments->values || rows_are_less(moments, chunk->rows))
        return make_row_room(moments, moments->values ? chunk->length : chunk->rows, err);
    moments->gram =
        by_alloc_zero(moments->groups * moments->columns * moments->columns, sizeof(float), err);
    return moments->gram ? 0 : -1;
}

/* --- Adding a chunk --- */

struct adding {
    struct by_round_moments *moments;
    const struct by_round_chunk *chunk;
    const struct by_blas *blas;
    struct by_pool *pool;
    size_t blocks; /* of columns, in a group */
};

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t width_of(const struct adding *adding, size_t block)
{
    return smaller_of(BY_MOMENTS_TILE, adding->moments->columns - block * BY_MOMENTS_TILE);
}

static const float *columns_at(const struct adding *adding, size_t group, size_t block)
{
    return by_chunk_block(adding->chunk->inputs, group, block);
}

static float *gram_at(const struct adding *adding, const struct by_moments_tile *tile)
{
    const size_t width = adding->moments->columns;
    return adding->moments->gram + (tile->group * width + tile->row * BY_MOMENTS_TILE) * width +
           tile->column * BY_MOMENTS_TILE;
}

static void add_few(const struct adding *adding, const struct by_moments_tile *tile)
{
    float products[BY_FEW_COLUMNS * (BY_FEW_COLUMNS + 1) / 2];
    const size_t width = adding->moments->columns;
    float *gram = gram_at(adding, tile);
    const float *from = products;
    by_few_products(columns_at(adding, tile->group, 0), width, adding->chunk->length, products);
    for (size_t row = 0; row < width; row++)
        for (size_t i = row; i < width; i++)
            gram[row * width + i] += *from++;
}

static void add_gram(const struct adding *adding, size_t index)
{
    const struct by_chunk *chunk = adding->chunk->inputs;
    struct by_moments_tile tile;
    by_moments_tile_at(chunk->columns->layer, index, &tile);
    if (by_chunk_is_few(chunk))
        add_few(adding, &tile);
    else
        by_chunk_multiply(chunk, adding->blas, &tile, true, gram_at(adding, &tile),
                          adding->moments->columns);
}

static void add_cross(const struct adding *adding, size_t group, size_t block)
{
    const struct by_round_moments *moments = adding->moments;
    const int length = (int)adding->chunk->length;
    adding->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)moments->outs,
                        (int)width_of(adding, block), length, 1,
                        adding->chunk->y + group * moments->outs * adding->chunk->length, length,
                        columns_at(adding, group, block), length, 1,
                        moments->cross + group * moments->outs * moments->columns +
                            block * BY_MOMENTS_TILE,
                        (int)moments->columns);
}

static void keep_rows(const struct adding *adding, size_t block)
{
    const struct by_round_moments *moments = adding->moments;
    const size_t first = block * BY_MOMENTS_TILE, length = adding->chunk->length;
    for (size_t i = first; i < first + width_of(adding, block); i++)
        memcpy(moments->values + i * moments->kept.stride + moments->rows,
               adding->chunk->x + i * length, length * sizeof(float));
}

/* The products with the outputs, by group and block, and then all tiles, or the rows. */
static size_t cross_items(const struct adding *adding)
{
    return adding->moments->groups * adding->blocks;
}

static size_t input_items(const struct adding *adding)
{
    return adding->moments->gram ? by_moments_tiles(&adding->chunk->target->rows) : adding->blocks;
}

static int add_item(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct adding *adding = context;
    const size_t crosses = cross_items(adding);
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++)
        if (i < crosses)
            add_cross(adding, i / adding->blocks, i % adding->blocks);
        else if (adding->moments->gram)
            add_gram(adding, i - crosses);
        else
            keep_rows(adding, i - crosses);
    return 0;
}

static int add_sums_of(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct adding *adding = context;
    const struct by_round_moments *moments = adding->moments;
    const size_t xs = moments->groups * moments->columns, length = adding->chunk->length;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++) {
        double sum, squares;
        by_round_sums(i < xs ? adding->chunk->x + i * length : adding->chunk->y + (i - xs) * length,
                      length, &sum, &squares);
        if (i < xs)
            moments->x[i] += sum;
        else
            moments->y[i - xs] += sum;
    }
    return 0;
}

static int add_chunk(void *context, const struct by_round_chunk *chunk, struct baryon_error *err)
{
    struct adding *adding = context;
    struct by_round_moments *moments = adding->moments;
    adding->chunk = chunk;
    if (open_sums(moments, chunk, err) < 0)
        return -1;
    const size_t items = cross_items(adding) + input_items(adding);
    const size_t sums = moments->groups * (moments->columns + moments->outs);
    if (by_par_for(adding->pool, items, moments->columns <= BY_FEW_COLUMNS ? 16 : 1, add_item,
                   adding, err) < 0)
        return -1;
    moments->rows += chunk->length;
    return by_par_for(adding->pool, sums, 64, add_sums_of, adding, err);
}

int by_round_moments_look(struct by_round_moments *moments, struct by_round_scratch *scratch,
                          const struct by_round_target *target, const struct by_array *x,
                          const struct by_array *y, uint64_t sample, struct baryon_error *err)
{
    struct adding adding = {.moments = moments,
                            .blas = by_round_blas(scratch),
                            .pool = by_round_pool(scratch),
                            .blocks = by_layer_blocks(&target->rows)};
    return by_round_each_chunk(scratch, target, x, y, sample, add_chunk, &adding, err);
}

/* --- Finishing --- */

/* One row of a Gram matrix, from the diagonal on, and its mirror. */
static void finish_row(const struct by_round_moments *moments, size_t group, size_t row)
{
    const size_t width = moments->columns;
    const double *x = moments->x + group * width, count = (double)moments->rows;
    float *gram = moments->gram + group * width * width;
    for (size_t i = row; i < width; i++) {
        const double shift = moments->centred ? x[row] * x[i] : 0;
        gram[row * width + i] = (float)((double)gram[row * width + i] / count - shift);
        gram[i * width + row] = gram[row * width + i];
    }
}

/* A column that is constant but for rounding says nothing. */
#define CONSTANT 1e-6

/* What is kept of a column comes around its mean. */
static void centre(const struct by_round_moments *moments, size_t column)
{
    const double mean = moments->x[column], least = CONSTANT * fabs(mean);
    float *values = moments->values + column * moments->kept.stride;
    for (size_t i = 0; moments->centred && i < moments->kept.count; i++) {
        const double value = (double)values[i] - mean;
        values[i] = fabs(value) > least ? (float)value : 0;
    }
}

static int finish_rows(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct by_round_moments *moments = context;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++)
        if (moments->gram)
            finish_row(moments, i / moments->columns, i % moments->columns);
        else
            centre(moments, i);
    return 0;
}

static void finish_cross(const struct by_round_moments *moments, size_t out)
{
    const size_t width = moments->columns;
    const double *x = moments->x + out / moments->outs * width;
    float *cross = moments->cross + out * width;
    for (size_t i = 0; i < width; i++) {
        const double shift = moments->centred ? moments->y[out] * x[i] : 0;
        cross[i] = (float)((double)cross[i] / (double)moments->rows - shift);
    }
}

int by_round_moments_finish(struct by_round_moments *moments, bool centred, struct by_pool *pool,
                            struct baryon_error *err)
{
    const size_t outs = moments->groups * moments->outs, xs = moments->groups * moments->columns;
    for (size_t i = 0; i < xs; i++)
        moments->x[i] /= (double)moments->rows;
    for (size_t i = 0; i < outs; i++)
        moments->y[i] /= (double)moments->rows;
    moments->centred = centred;
    for (size_t i = 0; i < outs; i++)
        finish_cross(moments, i);
    moments->kept.count = (size_t)moments->rows;
    return by_par_for(pool, xs, 16, finish_rows, moments, err);
}
