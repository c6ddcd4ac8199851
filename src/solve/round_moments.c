#include "solve/round_moments.h"

#include "solve/round_sums.h"
#include "stats/moments_internal.h"

int by_round_moments_init(struct by_round_moments *moments, const struct by_round_layer *layer,
                          struct baryon_error *err)
{
    const size_t columns = layer->columns, outs = layer->groups * layer->outs;
    *moments =
        (struct by_round_moments){.groups = layer->groups, .outs = layer->outs, .columns = columns};
    moments->gram = by_alloc_zero(layer->groups * columns * columns, sizeof(float), err);
    moments->cross = by_alloc_zero(outs * columns, sizeof(float), err);
    moments->x = by_alloc_zero(layer->groups * columns, sizeof(double), err);
    moments->y = by_alloc_zero(outs, sizeof(double), err);
    moments->yy = by_alloc_zero(outs, sizeof(double), err);
    if (moments->gram && moments->cross && moments->x && moments->y && moments->yy)
        return 0;
    by_round_moments_release(moments);
    return -1;
}

void by_round_moments_release(struct by_round_moments *moments)
{
    by_free(moments->gram);
    by_free(moments->cross);
    by_free(moments->x);
    by_free(moments->y);
    by_free(moments->yy);
    *moments = (struct by_round_moments){0};
}

/* --- Adding a chunk --- */

struct adding {
    struct by_round_moments *moments;
    const struct by_round_chunk *chunk;
    const struct by_blas *blas;
    struct by_pool *pool;
    size_t blocks; /* of columns, in a group */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t width_of(const struct adding *adding, size_t block)
{
    return least(BY_MOMENTS_TILE, adding->moments->columns - block * BY_MOMENTS_TILE);
}

static const float *columns_at(const struct adding *adding, size_t group, size_t block)
{
    const size_t first = group * adding->moments->columns + block * BY_MOMENTS_TILE;
    return adding->chunk->x + first * adding->chunk->length;
}

static float *gram_at(const struct adding *adding, size_t group, size_t row, size_t column)
{
    const size_t width = adding->moments->columns;
    return adding->moments->gram + (group * width + row * BY_MOMENTS_TILE) * width +
           column * BY_MOMENTS_TILE;
}

static void add_few(const struct adding *adding, size_t group)
{
    float products[BY_FEW_COLUMNS * (BY_FEW_COLUMNS + 1) / 2];
    const size_t width = adding->moments->columns;
    float *gram = gram_at(adding, group, 0, 0);
    const float *from = products;
    by_few_products(columns_at(adding, group, 0), width, adding->chunk->length, products);
    for (size_t row = 0; row < width; row++)
        for (size_t i = row; i < width; i++)
            gram[row * width + i] += *from++;
}

static void add_gram(const struct adding *adding, size_t group, size_t row, size_t column)
{
    const int length = (int)adding->chunk->length, width = (int)adding->moments->columns;
    float *gram = gram_at(adding, group, row, column);
    const float *a = columns_at(adding, group, row), *b = columns_at(adding, group, column);
    if (width <= BY_FEW_COLUMNS)
        add_few(adding, group);
    else if (row == column)
        adding->blas->ssyrk(BY_BLAS_ROW_MAJOR, BY_BLAS_UPPER, BY_BLAS_NO_TRANS,
                            (int)width_of(adding, row), length, 1, a, length, 1, gram, width);
    else
        adding->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS,
                            (int)width_of(adding, row), (int)width_of(adding, column), length, 1, a,
                            length, b, length, 1, gram, width);
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

/* Of a group: its tiles, row by row, and then the products with the outputs. */
static size_t items_a_group(const struct adding *adding)
{
    return adding->blocks * (adding->blocks + 1) / 2 + adding->blocks;
}

static int add_item(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct adding *adding = context;
    const size_t each = items_a_group(adding);
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++) {
        size_t item = i % each, row = 0;
        if (item < adding->blocks) {
            add_cross(adding, i / each, item);
            continue;
        }
        item -= adding->blocks;
        for (; item >= adding->blocks - row; row++)
            item -= adding->blocks - row;
        add_gram(adding, i / each, row, row + item);
    }
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
        if (i < xs) {
            moments->x[i] += sum;
            continue;
        }
        moments->y[i - xs] += sum;
        moments->yy[i - xs] += squares;
    }
    return 0;
}

static int add_chunk(void *context, const struct by_round_chunk *chunk, struct baryon_error *err)
{
    struct adding *adding = context;
    struct by_round_moments *moments = adding->moments;
    adding->chunk = chunk;
    moments->rows += chunk->length;
    const size_t items = moments->groups * items_a_group(adding);
    const size_t sums = moments->groups * (moments->columns + moments->outs);
    if (by_par_for(adding->pool, items, moments->columns <= BY_FEW_COLUMNS ? 16 : 1, add_item,
                   adding, err) < 0)
        return -1;
    return by_par_for(adding->pool, sums, 64, add_sums_of, adding, err);
}

int by_round_moments_look(struct by_round_moments *moments, struct by_round_scratch *scratch,
                          const struct by_round_layer *layer, const struct by_array *x,
                          const struct by_array *y, uint64_t sample, struct baryon_error *err)
{
    struct adding adding = {.moments = moments,
                            .blas = by_round_blas(scratch),
                            .pool = by_round_pool(scratch),
                            .blocks = by_layer_blocks(&layer->rows)};
    return by_round_each_chunk(scratch, layer, x, y, sample, add_chunk, &adding, err);
}

/* --- Finishing --- */

struct finishing {
    struct by_round_moments *moments;
    bool centred;
};

/* One row of a Gram matrix, from the diagonal on, and its mirror. */
static void finish_row(const struct finishing *finishing, size_t group, size_t row)
{
    const struct by_round_moments *moments = finishing->moments;
    const size_t width = moments->columns;
    const double *x = moments->x + group * width, count = (double)moments->rows;
    float *gram = moments->gram + group * width * width;
    for (size_t i = row; i < width; i++) {
        const double shift = finishing->centred ? x[row] * x[i] : 0;
        gram[row * width + i] = (float)((double)gram[row * width + i] / count - shift);
        gram[i * width + row] = gram[row * width + i];
    }
}

static int finish_rows(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct finishing *finishing = context;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++)
        finish_row(finishing, i / finishing->moments->columns, i % finishing->moments->columns);
    return 0;
}

static void finish_cross(const struct by_round_moments *moments, size_t out, bool centred)
{
    const size_t width = moments->columns;
    const double *x = moments->x + out / moments->outs * width;
    float *cross = moments->cross + out * width;
    for (size_t i = 0; i < width; i++) {
        const double shift = centred ? moments->y[out] * x[i] : 0;
        cross[i] = (float)((double)cross[i] / (double)moments->rows - shift);
    }
}

int by_round_moments_finish(struct by_round_moments *moments, bool centred, struct by_pool *pool,
                            struct baryon_error *err)
{
    struct finishing finishing = {moments, centred};
    const size_t outs = moments->groups * moments->outs, xs = moments->groups * moments->columns;
    for (size_t i = 0; i < xs; i++)
        moments->x[i] /= (double)moments->rows;
    for (size_t i = 0; i < outs; i++) {
        moments->y[i] /= (double)moments->rows;
        moments->yy[i] /= (double)moments->rows;
    }
    for (size_t i = 0; i < outs; i++)
        finish_cross(moments, i, centred);
    return by_par_for(pool, xs, 16, finish_rows, &finishing, err);
}
