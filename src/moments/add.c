/* Multiplies the input columns of a sample and adds the products to the tiles. */
#include "moments/moments_internal.h"

#include <string.h>

#define WIDE  4
#define LANES 4 /* vectors of doubles that a sum is kept in */

typedef double doubles __attribute__((vector_size(WIDE * sizeof(double))));
typedef float floats __attribute__((vector_size(WIDE * sizeof(float))));

/*
 * What is worked off at once: some groups, some chunks of rows. First their columns are
 * taken out of the input, then each pair of a tile and a chunk is multiplied and added.
 */
struct wave {
    struct by_moments *moments;
    const struct by_columns *columns;
    const struct by_moments_rows *rows;
    struct by_moments_scratch *scratch;
    size_t width, blocks; /* columns of a group, and blocks of them */
    size_t chunk;         /* rows, the last one has fewer */
    size_t group_begin, group_end, chunk_begin, chunk_end;
    size_t tile_begin, tile_end;
    bool direct; /* the products read the input as it is */
};

/* Where the numbers of a block of columns are, for the products. */
struct operand {
    const float *at;
    int step;
    bool in_rows;
};

size_t by_layer_blocks(const struct by_moments_layer *layer)
{
    return ((size_t)layer->columns + BY_MOMENTS_TILE - 1) / BY_MOMENTS_TILE;
}

static size_t block_width(const struct wave *wave, size_t block)
{
    const size_t left = wave->width - block * BY_MOMENTS_TILE;
    return left < BY_MOMENTS_TILE ? left : BY_MOMENTS_TILE;
}

static size_t chunk_length(const struct wave *wave, size_t chunk)
{
    const size_t left = wave->rows->count - chunk * wave->chunk;
    return left < wave->chunk ? left : wave->chunk;
}

static size_t chunks_in(const struct wave *wave)
{
    return wave->chunk_end - wave->chunk_begin;
}

/* The columns of a group and chunk stand one behind the other, chunk_length() numbers each;
 * of a matrix the rows do. */
static float *slot_of(const struct wave *wave, size_t group, size_t chunk)
{
    const size_t slot = (group - wave->group_begin) * chunks_in(wave) + (chunk - wave->chunk_begin);
    return wave->scratch->columns + slot * wave->width * wave->chunk;
}

static struct operand operand_of(const struct wave *wave, size_t group, size_t chunk, size_t block)
{
    const struct by_columns *columns = wave->columns;
    const size_t first = block * BY_MOMENTS_TILE, row = chunk * wave->chunk;
    const size_t length = chunk_length(wave, chunk);
    if (columns->in_rows) {
        const float *rows =
            wave->direct ? columns->values + row * wave->width : slot_of(wave, 0, chunk);
        return (struct operand){rows + first, (int)wave->width, true};
    }
    if (!wave->direct)
        return (struct operand){slot_of(wave, group, chunk) + first * length, (int)length, false};
    return (struct operand){columns->values + (group * wave->width + first) * columns->plane + row,
                            (int)columns->plane, false};
}

/* --- First step: columns out of the input --- */

static void fill_rows(const struct wave *wave, size_t chunk)
{
    const size_t *list = wave->rows->list + chunk * wave->chunk;
    float *out = slot_of(wave, 0, chunk);
    for (size_t i = 0; i < chunk_length(wave, chunk); i++)
        memcpy(out + i * wave->width, wave->columns->values + list[i] * wave->width,
               wave->width * sizeof *out);
}

/* So many channels that they make about a block of columns. */
static size_t channels_a_fill(const struct wave *wave)
{
    const size_t channels = BY_MOMENTS_TILE / wave->columns->kernel_size;
    return channels ? channels : 1;
}

static size_t channels_in(const struct wave *wave)
{
    const size_t a_group = wave->columns->channels / (size_t)wave->columns->layer->groups;
    return (wave->group_end - wave->group_begin) * a_group;
}

static size_t fill_items(const struct wave *wave)
{
    if (wave->direct)
        return 0;
    if (wave->columns->in_rows)
        return chunks_in(wave);
    const size_t some = channels_a_fill(wave);
    return (channels_in(wave) + some - 1) / some * chunks_in(wave);
}

static void fill_windows(const struct wave *wave, size_t chunk, size_t first, unsigned worker)
{
    const size_t a_group = wave->columns->channels / (size_t)wave->columns->layer->groups;
    const size_t some = channels_a_fill(wave), left = channels_in(wave) - first;
    const struct by_fill fill = {.begin = chunk * wave->chunk,
                                 .length = chunk_length(wave, chunk),
                                 .channel = wave->group_begin * a_group + first,
                                 .channels = some < left ? some : left,
                                 .out = slot_of(wave, wave->group_begin, chunk),
                                 .group = wave->group_begin,
                                 .group_step = chunks_in(wave) * wave->width * wave->chunk,
                                 .needed = wave->scratch->needed};
    by_columns_fill(wave->columns, wave->rows, &fill, &wave->scratch->worker[worker].room);
}

static int fill_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct wave *wave = context;
    (void)err;
    for (size_t i = begin; i < end; i++) {
        const size_t chunk = wave->chunk_begin + i % chunks_in(wave);
        if (wave->columns->in_rows)
            fill_rows(wave, chunk);
        else
            fill_windows(wave, chunk, i / chunks_in(wave) * channels_a_fill(wave), worker);
    }
    return 0;
}

/* --- Second step: sums and products --- */

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

static void sums_in_rows(const struct operand *operand, size_t length, size_t width, float *out)
{
    double sums[BY_MOMENTS_TILE] = {0};
    for (size_t row = 0; row < length; row++)
        for (size_t i = 0; i < width; i++)
            sums[i] += (double)operand->at[row * (size_t)operand->step + i];
    for (size_t i = 0; i < width; i++)
        out[i] = (float)sums[i];
}

static pthread_mutex_t *lock_of(const struct wave *wave, size_t index)
{
    return &wave->scratch->locks[index % BY_MOMENTS_LOCKS];
}

static void add_sums(const struct wave *wave, size_t group, size_t chunk, size_t block)
{
    float sums[BY_MOMENTS_TILE];
    const struct operand operand = operand_of(wave, group, chunk, block);
    const size_t length = chunk_length(wave, chunk), width = block_width(wave, block);
    if (operand.in_rows)
        sums_in_rows(&operand, length, width, sums);
    else
        for (size_t i = 0; i < width; i++)
            sums[i] = sum_of(operand.at + i * (size_t)operand.step, length);
    pthread_mutex_lock(lock_of(wave, 0));
    by_fold_add_part(&wave->moments->mean, group * wave->width + block * BY_MOMENTS_TILE, width,
                     sums);
    pthread_mutex_unlock(lock_of(wave, 0));
}

/* Of a square the upper triangle, row behind row. */
static void pack_triangle(float *values, size_t size)
{
    float *to = values;
    for (size_t row = 0; row < size; row++) {
        memmove(to, values + row * size + row, (size - row) * sizeof *to);
        to += size - row;
    }
}

static void multiply_tile(const struct wave *wave, const struct by_moments_tile *tile, size_t chunk,
                          float *out)
{
    const struct by_blas *blas = wave->scratch->blas;
    const struct operand a = operand_of(wave, tile->group, chunk, tile->row);
    const struct operand b = operand_of(wave, tile->group, chunk, tile->column);
    const int length = (int)chunk_length(wave, chunk);
    const int rows = (int)tile->rows, columns = (int)tile->columns;
    if (wave->width <= BY_FEW_COLUMNS && !a.in_rows && a.step == length)
        by_few_products(a.at, tile->rows, (size_t)length, out);
    else if (tile->row == tile->column) {
        blas->ssyrk(BY_BLAS_ROW_MAJOR, BY_BLAS_UPPER, a.in_rows ? BY_BLAS_TRANS : BY_BLAS_NO_TRANS,
                    rows, length, 1, a.at, a.step, 0, out, rows);
        pack_triangle(out, tile->rows);
    } else
        blas->sgemm(BY_BLAS_ROW_MAJOR, a.in_rows ? BY_BLAS_TRANS : BY_BLAS_NO_TRANS,
                    a.in_rows ? BY_BLAS_NO_TRANS : BY_BLAS_TRANS, rows, columns, length, 1, a.at,
                    a.step, b.at, b.step, 0, out, columns);
}

static void add_product(const struct wave *wave, size_t index, size_t chunk, float *out)
{
    struct by_fold *fold = &wave->moments->tiles[index];
    struct by_moments_tile tile;
    if (!fold->count)
        return;
    by_moments_tile_at(wave->columns->layer, index, &tile);
    multiply_tile(wave, &tile, chunk, out);
    pthread_mutex_lock(lock_of(wave, 1 + index));
    by_fold_add(fold, out);
    pthread_mutex_unlock(lock_of(wave, 1 + index));
}

static size_t sum_items(const struct wave *wave)
{
    if (!wave->moments->mean.count)
        return 0;
    return (wave->group_end - wave->group_begin) * wave->blocks * chunks_in(wave);
}

static int add_piece(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct wave *wave = context;
    const size_t tiles = (wave->tile_end - wave->tile_begin) * chunks_in(wave);
    (void)err;
    for (size_t i = begin; i < end; i++) {
        const size_t chunk = wave->chunk_begin + i % chunks_in(wave);
        if (i < tiles)
            add_product(wave, wave->tile_begin + i / chunks_in(wave), chunk,
                        wave->scratch->worker[worker].tile);
        else {
            const size_t block = (i - tiles) / chunks_in(wave);
            add_sums(wave, wave->group_begin + block / wave->blocks, chunk, block % wave->blocks);
        }
    }
    return 0;
}

/* --- All of it --- */

static int run_wave(struct wave *wave, const struct by_team *team, struct baryon_error *err)
{
    const size_t a_group = wave->blocks * (wave->blocks + 1) / 2;
    /* A few small groups a piece, but single tiles where they are big. */
    const size_t grain = wave->width >= 128 ? 1 : 8;
    wave->tile_begin = wave->group_begin * a_group;
    wave->tile_end = wave->group_end * a_group;
    const size_t adds = (wave->tile_end - wave->tile_begin) * chunks_in(wave) + sum_items(wave);
    if (by_team_for(team, fill_items(wave), 1, fill_piece, wave, err))
        return -1;
    return by_team_for(team, adds, grain, add_piece, wave, err);
}

static bool mark_needed(const struct wave *wave)
{
    const struct by_moments *moments = wave->moments;
    bool *needed = wave->scratch->needed, any = moments->mean.count != 0;
    memset(needed, any, (size_t)wave->columns->layer->groups * wave->blocks);
    for (size_t i = 0; i < moments->tile_count; i++) {
        struct by_moments_tile tile;
        if (!moments->tiles[i].count)
            continue;
        by_moments_tile_at(wave->columns->layer, i, &tile);
        needed[tile.group * wave->blocks + tile.row] = true;
        needed[tile.group * wave->blocks + tile.column] = true;
        any = true;
    }
    return any;
}

/* Depends on the layer alone, so that products are cut at the same places for everybody. */
static size_t chunk_rows(size_t width)
{
    const size_t fitting = BY_COLUMNS_ROOM / width / 16 * 16;
    if (fitting > BY_CHUNK_ROWS)
        return BY_CHUNK_ROWS;
    return fitting < BY_CHUNK_ROWS_MIN ? BY_CHUNK_ROWS_MIN : fitting;
}

static bool can_be_direct(const struct by_columns *columns, const struct by_moments_rows *rows)
{
    if (rows->list)
        return false;
    if (columns->in_rows)
        return true;
    for (size_t i = 0; i < columns->spatial; i++)
        if (columns->kernel[i] != 1 || columns->stride[i] != 1 || columns->pad[i] != 0 ||
            columns->out[i] != columns->in[i])
            return false;
    return columns->images == 1 && columns->plane <= INT32_MAX;
}

static size_t least_count(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many groups and chunks fit at once: more groups where one chunk is all there is. */
static void size_wave(const struct wave *wave, size_t *groups, size_t *chunks)
{
    const size_t all_groups = (size_t)wave->columns->layer->groups;
    const size_t all_chunks = (wave->rows->count + wave->chunk - 1) / wave->chunk;
    const size_t fit = BY_COLUMNS_ROOM / (wave->width * wave->chunk);
    if (wave->direct) {
        *groups = all_groups;
        *chunks = all_chunks;
        return;
    }
    *chunks = least_count(all_chunks, fit ? fit : 1);
    *groups = least_count(all_groups, fit / *chunks ? fit / *chunks : 1);
}

static int run_waves(struct wave *wave, const struct by_team *team, struct baryon_error *err)
{
    const size_t all_groups = (size_t)wave->columns->layer->groups;
    const size_t all_chunks = (wave->rows->count + wave->chunk - 1) / wave->chunk;
    struct by_moments_scratch *scratch = wave->scratch;
    size_t groups, chunks;
    size_wave(wave, &groups, &chunks);
    if (!wave->direct &&
        by_scratch_room(&scratch->columns, &scratch->columns_room,
                        groups * chunks * wave->chunk * wave->width, sizeof *scratch->columns, err))
        return -1;
    for (size_t g = 0; g < all_groups; g += groups)
        for (size_t c = 0; c < all_chunks; c += chunks) {
            wave->group_begin = g;
            wave->group_end = least_count(g + groups, all_groups);
            wave->chunk_begin = c;
            wave->chunk_end = least_count(c + chunks, all_chunks);
            if (run_wave(wave, team, err))
                return -1;
        }
    return 0;
}

int by_moments_add(struct by_moments *moments, const struct by_columns *columns,
                   const struct by_moments_rows *rows, struct by_moments_scratch *scratch,
                   const struct by_team *team, struct baryon_error *err)
{
    const struct by_moments_layer *layer = columns->layer;
    struct wave wave = {.moments = moments,
                        .columns = columns,
                        .rows = rows,
                        .scratch = scratch,
                        .width = (size_t)layer->columns,
                        .blocks = by_layer_blocks(layer),
                        .direct = can_be_direct(columns, rows)};
    wave.chunk = chunk_rows(wave.width);
    if (!rows->count)
        return 0;
    if (by_scratch_room(&scratch->needed, &scratch->needed_room,
                        (size_t)layer->groups * wave.blocks, sizeof *scratch->needed, err))
        return -1;
    return mark_needed(&wave) ? run_waves(&wave, team, err) : 0;
}
