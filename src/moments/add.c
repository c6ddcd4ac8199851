/* Multiplies the input columns of a sample and adds the products to the tiles. */
#include "moments/moments_internal.h"

#include <string.h>

#define WIDE  4
#define LANES 4 /* vectors of doubles that a sum is kept in */

typedef double doubles __attribute__((vector_size(WIDE * sizeof(double))));
typedef float floats __attribute__((vector_size(WIDE * sizeof(float))));

struct adding {
    struct by_moments *moments;
    struct by_moments_scratch *scratch;
    const struct by_team *team;
    const struct by_chunk *chunk;
};

size_t by_layer_blocks(const struct by_moments_layer *layer)
{
    return ((size_t)layer->columns + BY_MOMENTS_TILE - 1) / BY_MOMENTS_TILE;
}

static pthread_mutex_t *lock_of(const struct adding *adding, size_t index)
{
    return &adding->scratch->locks[index % BY_MOMENTS_LOCKS];
}

/* --- Means --- */

static float sum_of(const float *values, size_t count)
{
    doubles sums[LANES] = {{0}};
    size_t i = 0;
    for (; i + LANES * WIDE <= count; i += LANES * WIDE)
        for (size_t k = 0; k < LANES; k++) {
            floats some;
            memcpy(&some, values + i + k * WIDE, sizeof some);
            sums[k] += __builtin_convertvector(some, doubles);
        }
    const doubles all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    double sum = (all[0] + all[1]) + (all[2] + all[3]);
    for (; i < count; i++)
        sum += (double)values[i];
    return (float)sum;
}

/* Of a block of columns, numbered through all groups: their cuts are the same for everybody. */
static void add_sums(const struct adding *adding, size_t block)
{
    float sums[BY_MOMENTS_TILE];
    const struct by_chunk *chunk = adding->chunk;
    const size_t first = block * BY_MOMENTS_TILE;
    const size_t left = adding->moments->mean.count - first;
    const size_t width = left < BY_MOMENTS_TILE ? left : BY_MOMENTS_TILE;
    for (size_t i = 0; i < width; i++)
        sums[i] = sum_of(chunk->x + (first + i) * chunk->length, chunk->length);
    pthread_mutex_lock(lock_of(adding, 0));
    by_fold_add_part(&adding->moments->mean, first, width, sums);
    pthread_mutex_unlock(lock_of(adding, 0));
}

static size_t sum_blocks(const struct adding *adding)
{
    return (adding->moments->mean.count + BY_MOMENTS_TILE - 1) / BY_MOMENTS_TILE;
}

/* --- Products --- */

/* Of a square the upper triangle, row after row. */
static void pack_triangle(float *values, size_t size)
{
    float *to = values;
    for (size_t row = 0; row < size; row++) {
        memmove(to, values + row * size + row, (size - row) * sizeof *to);
        to += size - row;
    }
}

static void multiply_tile(const struct adding *adding, const struct by_moments_tile *tile,
                          float *out)
{
    const struct by_chunk *chunk = adding->chunk;
    if (by_chunk_is_few(chunk)) {
        by_few_products(by_chunk_block(chunk, tile->group, 0), tile->rows, chunk->length, out);
        return;
    }
    by_chunk_multiply(chunk, adding->scratch->blas, tile, false, out, tile->columns);
    if (tile->row == tile->column)
        pack_triangle(out, tile->rows);
}

static void add_product(const struct adding *adding, size_t index, float *out)
{
    struct by_fold *fold = &adding->moments->tiles[index];
    struct by_moments_tile tile;
    if (!fold->count)
        return;
    by_moments_tile_at(adding->chunk->columns->layer, index, &tile);
    multiply_tile(adding, &tile, out);
    pthread_mutex_lock(lock_of(adding, 1 + index));
    by_fold_add(fold, out);
    pthread_mutex_unlock(lock_of(adding, 1 + index));
}

static int add_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct adding *adding = context;
    const size_t tiles = adding->moments->tile_count;
    (void)err;
    for (size_t i = begin; i < end; i++)
        if (i < tiles)
            add_product(adding, i, adding->scratch->tiles[worker]);
        else
            add_sums(adding, i - tiles);
    return 0;
}

static int add_chunk(void *context, const struct by_chunk *chunk, struct baryon_error *err)
{
    struct adding *adding = context;
    /* A few small groups a piece, but single tiles where they are big. */
    const size_t grain = chunk->columns->layer->columns >= 128 ? 1 : 8;
    adding->chunk = chunk;
    return by_team_for(adding->team, adding->moments->tile_count + sum_blocks(adding), grain,
                       add_piece, adding, err);
}

/* --- All of it --- */

/* A pass over some tiles alone needs their columns alone. */
static bool mark_needed(const struct by_moments *moments, const struct by_moments_layer *layer,
                        bool *needed)
{
    const size_t blocks = by_layer_blocks(layer);
    bool any = moments->mean.count != 0;
    memset(needed, any, (size_t)layer->groups * blocks);
    for (size_t i = 0; i < moments->tile_count; i++) {
        struct by_moments_tile tile;
        if (!moments->tiles[i].count)
            continue;
        by_moments_tile_at(layer, i, &tile);
        needed[tile.group * blocks + tile.row] = true;
        needed[tile.group * blocks + tile.column] = true;
        any = true;
    }
    return any;
}

int by_moments_add(struct by_moments *moments, const struct by_columns *columns,
                   const struct by_moments_rows *rows, struct by_moments_scratch *scratch,
                   const struct by_team *team, struct baryon_error *err)
{
    struct adding adding = {.moments = moments, .scratch = scratch, .team = team};
    if (!rows->count)
        return 0;
    if (by_chunk_need(&scratch->room, columns->layer, err) < 0)
        return -1;
    if (!mark_needed(moments, columns->layer, scratch->room.needed))
        return 0;
    return by_chunk_each(&scratch->room, columns, rows, team, add_chunk, &adding, err);
}
