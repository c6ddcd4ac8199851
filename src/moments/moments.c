/* Divides the Gram matrix of a layer into tiles, and merges and reads them. */
#include "moments/moments_internal.h"

#include <string.h>

/* --- Tiles --- */

static size_t tiles_a_group(const struct by_moments_layer *layer)
{
    const size_t blocks = by_layer_blocks(layer);
    return blocks * (blocks + 1) / 2;
}

size_t by_moments_tiles(const struct by_moments_layer *layer)
{
    return layer->kind == BY_LAYER_GATHER ? 0 : (size_t)layer->groups * tiles_a_group(layer);
}

static size_t block_size(const struct by_moments_layer *layer, size_t block)
{
    const size_t left = (size_t)layer->columns - block * BY_MOMENTS_TILE;
    return left < BY_MOMENTS_TILE ? left : BY_MOMENTS_TILE;
}

void by_moments_tile_at(const struct by_moments_layer *layer, size_t index,
                        struct by_moments_tile *tile)
{
    const size_t a_group = tiles_a_group(layer);
    size_t left = index % a_group, in_row = by_layer_blocks(layer);
    *tile = (struct by_moments_tile){.group = index / a_group};
    for (; left >= in_row; tile->row++)
        left -= in_row--;
    tile->column = tile->row + left;
    tile->rows = block_size(layer, tile->row);
    tile->columns = block_size(layer, tile->column);
    tile->entries =
        tile->row == tile->column ? tile->rows * (tile->rows + 1) / 2 : tile->rows * tile->columns;
}

size_t by_moments_tile_bytes(const struct by_moments_tile *tile)
{
    return tile->entries * 2 * sizeof(int64_t);
}

/* --- Layers --- */

static bool same_windows(const struct by_moments_layer *one, const struct by_moments_layer *other)
{
    for (size_t i = 0; i < one->spatial; i++)
        if (one->kernel[i] != other->kernel[i] || one->stride[i] != other->stride[i] ||
            one->dilation[i] != other->dilation[i] || one->pad_begin[i] != other->pad_begin[i] ||
            one->pad_end[i] != other->pad_end[i] || one->output_pad[i] != other->output_pad[i] ||
            one->output_size[i] != other->output_size[i])
            return false;
    return true;
}

bool by_layer_same_columns(const struct by_moments_layer *one, const struct by_moments_layer *other)
{
    return one->kind == other->kind && !strcmp(one->input, other->input) &&
           one->groups == other->groups && one->columns == other->columns &&
           one->spatial == other->spatial && one->channels == other->channels &&
           one->auto_pad == other->auto_pad && one->transposed == other->transposed &&
           same_windows(one, other);
}

/* --- Moments --- */

static int init_tiles(struct by_moments *moments, const struct by_moments_layer *layer,
                      size_t first, size_t end, struct baryon_error *err)
{
    for (size_t i = first; i < end; i++) {
        struct by_moments_tile tile;
        by_moments_tile_at(layer, i, &tile);
        if (by_fold_init(&moments->tiles[i], tile.entries, err))
            return -1;
    }
    return 0;
}

static int init_parts(struct by_moments *moments, const struct by_moments_layer *layer,
                      size_t first, size_t end, struct baryon_error *err)
{
    const size_t width = (size_t)layer->columns;
    if (layer->kind == BY_LAYER_GATHER) {
        moments->counts = first ? NULL : by_alloc_zero(width, sizeof *moments->counts, err);
        return first || moments->counts ? 0 : -1;
    }
    moments->tile_count = by_moments_tiles(layer);
    moments->tiles = by_alloc_zero(moments->tile_count, sizeof *moments->tiles, err);
    if (!moments->tiles)
        return -1;
    for (size_t i = 0; i < moments->tile_count; i++)
        moments->tiles[i].cell = BY_FOLD_NONE;
    if (!first && by_fold_init(&moments->mean, (size_t)layer->groups * width, err))
        return -1;
    return init_tiles(moments, layer, first, end, err);
}

int by_moments_init(struct by_moments *moments, const struct by_moments_layer *layer, size_t first,
                    size_t end, struct baryon_error *err)
{
    *moments = (struct by_moments){.mean.cell = BY_FOLD_NONE};
    if (!init_parts(moments, layer, first, end, err))
        return 0;
    by_moments_release(moments);
    return -1;
}

void by_moments_release(struct by_moments *moments)
{
    by_fold_release(&moments->mean);
    for (size_t i = 0; moments->tiles && i < moments->tile_count; i++)
        by_fold_release(&moments->tiles[i]);
    by_free(moments->tiles);
    by_free(moments->counts);
    *moments = (struct by_moments){.mean.cell = BY_FOLD_NONE};
}

static bool same_parts(const struct by_moments *a, const struct by_moments *b)
{
    if (a->tile_count != b->tile_count || a->mean.count != b->mean.count ||
        !a->counts != !b->counts)
        return false;
    for (size_t i = 0; i < a->tile_count; i++)
        if (a->tiles[i].count != b->tiles[i].count)
            return false;
    return true;
}

int by_moments_merge(struct by_moments *moments, const struct by_moments_layer *layer,
                     const struct by_moments *other, struct baryon_error *err)
{
    char name[BY_QUOTE_MAX];
    if (!same_parts(moments, other))
        return by_fail(err, BARYON_ERR_INTERNAL,
                       "layer %s: Gram matrices with different tiles cannot be added",
                       by_quote(name, layer->name));
    moments->rows += other->rows;
    moments->samples += other->samples;
    moments->nonfinite_rows += other->nonfinite_rows;
    by_fold_merge(&moments->mean, &other->mean);
    for (size_t i = 0; i < moments->tile_count; i++)
        by_fold_merge(&moments->tiles[i], &other->tiles[i]);
    for (int64_t i = 0; moments->counts && i < layer->columns; i++)
        moments->counts[i] += other->counts[i];
    return 0;
}

/* --- Reading --- */

void by_moments_put_tile(const struct by_fold *fold, const struct by_moments_tile *tile,
                         size_t columns, double scale, const double *mean, float *gram)
{
    size_t from = 0;
    for (size_t i = 0; i < tile->rows; i++)
        for (size_t k = tile->row == tile->column ? i : 0; k < tile->columns; k++) {
            const size_t row = tile->row * BY_MOMENTS_TILE + i;
            const size_t column = tile->column * BY_MOMENTS_TILE + k;
            const double shift = mean ? mean[row] * mean[column] : 0;
            const float value = (float)(by_fold_value(fold, from++) * scale - shift);
            gram[row * columns + column] = value;
            gram[column * columns + row] = value;
        }
}

void by_moments_mean(const struct by_moments *moments, const struct by_moments_layer *layer,
                     size_t group, double *mean)
{
    const size_t width = (size_t)layer->columns;
    for (size_t i = 0; i < width; i++)
        mean[i] = moments->rows
                      ? by_fold_value(&moments->mean, group * width + i) / (double)moments->rows
                      : 0;
}
