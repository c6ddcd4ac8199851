/* Makes the bytes of a converted tensor, slab by slab. */
#include "llm/layout/made.h"

#include "llm/family/arch.h"
#include "llm/layout/source.h"

#include <inttypes.h>
#include <string.h>

/* Bytes of values that a slab may have, as floats; and what a piece of work has at least. */
#define SLAB_BYTES  ((uint64_t)16 << 20)
#define PIECE_BYTES ((uint64_t)64 << 10)

/* A vector whose rows change their order is a matrix of one column. */
static bool made_is_column(const struct by_made_tensor *made)
{
    return made->rank == 1 && made->heads;
}

uint64_t by_made_width(const struct by_made_tensor *made)
{
    return made->rank && !made_is_column(made) ? made->dims[made->rank - 1] : 1;
}

uint64_t by_made_rows(const struct by_made_tensor *made)
{
    uint64_t rows = 1;
    for (size_t i = 0; i + 1 < made->rank + made_is_column(made); i++)
        rows *= made->dims[i];
    return rows;
}

static uint64_t row_bytes(const struct by_ggml_type *type, uint64_t width)
{
    return width / type->block * type->bytes;
}

uint64_t by_made_bytes(const struct by_made_tensor *made)
{
    return by_made_rows(made) * row_bytes(made->type, by_made_width(made));
}

static const struct by_ggml_type *type_of_part(const struct by_stored_tensor *part)
{
    return part->type->ggml < 0 ? NULL : by_ggml_type((uint32_t)part->type->ggml);
}

/* The weight that a part is, when its bytes are no rows of a type. */
static const struct by_llm_weight *weight_of_part(const struct by_made_tensor *made, size_t part)
{
    return made->weights ? made->weights[part] : NULL;
}

static const struct by_ggml_type *part_type(const struct by_made_tensor *made, size_t part)
{
    return weight_of_part(made, part) ? by_ggml_type(BY_GGML_F32) : type_of_part(made->parts[part]);
}

static int check_part(const struct by_made_tensor *made, size_t place, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], shape[96];
    const struct by_stored_tensor *part = made->parts[place];
    const struct by_llm_weight *weight = weight_of_part(made, place);
    const struct by_ggml_type *type = part_type(made, place);
    const uint64_t elements = weight ? (uint64_t)weight->rows * weight->columns : part->elements;
    uint64_t width = by_made_width(made), rows = by_made_rows(made) / made->part_count;
    if (!type || !type->decode)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s: type %s, must be a float or a block type that can be decoded",
                       by_quote(quoted, part->name), part->type->name);
    if (width % type->block || elements / width < made->first_row + rows || elements % width)
        return by_fail(
            err, BARYON_ERR_INPUT, "tensor %s: shape %s, must have %" PRIu64 " rows of %" PRIu64,
            by_quote(quoted, part->name), by_stored_shape(part, shape, sizeof shape), rows, width);
    return 0;
}

int by_made_check(const struct by_made_tensor *made, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    uint64_t width = by_made_width(made), rows = by_made_rows(made);
    if (!width || !rows || (made->part_count && rows % made->part_count))
        return by_fail(err, BARYON_ERR_INPUT, "tensor %s is empty, must have values",
                       by_quote(quoted, made->name));
    if (made->heads && (rows % made->heads || rows / made->heads % 2))
        return by_fail(err, BARYON_ERR_INPUT,
                       "tensor %s: rows (%" PRIu64 "), must be %" PRIu64 " heads of even size",
                       by_quote(quoted, made->name), rows, made->heads);
    for (size_t i = 0; i < made->part_count; i++)
        if (check_part(made, i, err))
            return -1;
    return 0;
}

struct slab {
    const struct by_made_tensor *made;
    const struct by_checkpoint *checkpoint;
    uint64_t first; /* its first row */
    uint64_t width;
    size_t row_bytes;
    uint8_t *out;
    struct by_made_errors *errors; /* each row; NULL: nobody asks */
};

/* Where a row is: its part, and its number there. */
static size_t place_of_row(const struct by_made_tensor *made, uint64_t row, uint64_t *local)
{
    const uint64_t rows = by_made_rows(made) / made->part_count;
    *local = row % rows;
    if (made->heads)
        *local = made->back ? by_gguf_row_back(*local, rows, made->heads)
                            : by_gguf_row_of(*local, rows, made->heads);
    *local += made->first_row;
    return (size_t)(row / rows);
}

/* Rows of weights come in blocks; rows of q and k alternate between two of them. */
struct block_cache {
    float *values;
    const struct by_llm_weight *weight;
    size_t first;
};

/* A thread's memory for a piece of rows. */
struct piece {
    float *values; /* of a row */
    float *back;   /* the row as its blocks have it, where errors are asked for */
    struct block_cache blocks[2];
    unsigned oldest;
};

static int open_piece(struct piece *piece, const struct slab *slab, struct baryon_error *err)
{
    const struct by_made_tensor *made = slab->made;
    *piece = (struct piece){.values = by_alloc((size_t)slab->width, sizeof(float), err)};
    int status = piece->values ? 0 : -1;
    if (!status && slab->errors)
        status = (piece->back = by_alloc((size_t)slab->width, sizeof(float), err)) ? 0 : -1;
    for (size_t i = 0; i < 2 && made->weights && !status; i++) {
        const size_t rows = made->rank > 1 ? BY_LLM_ROWS_STEP : (size_t)by_made_rows(made);
        piece->blocks[i].values = by_alloc(rows * (size_t)slab->width, sizeof(float), err);
        status = piece->blocks[i].values ? 0 : -1;
    }
    return status;
}

static void close_piece(struct piece *piece)
{
    by_free(piece->values);
    by_free(piece->back);
    by_free(piece->blocks[0].values);
    by_free(piece->blocks[1].values);
}

/* A row of a weight; of a vector, all is a block. */
static int cached_row(const struct slab *slab, struct piece *piece,
                      const struct by_llm_weight *weight, uint64_t local, const float **row,
                      struct baryon_error *err)
{
    const size_t width = (size_t)slab->width, step = BY_LLM_ROWS_STEP;
    const size_t first = weight->rank > 1 ? (size_t)local / step * step : 0;
    struct block_cache *block = &piece->blocks[0];
    for (size_t i = 0; i < 2; i++)
        if (piece->blocks[i].weight == weight && piece->blocks[i].first == first)
            block = &piece->blocks[i];
    if (block->weight != weight || block->first != first) {
        const size_t left = weight->rows - first;
        block = &piece->blocks[piece->oldest];
        piece->oldest = !piece->oldest;
        block->weight = NULL;
        if (by_llm_source_rows(slab->made->source, weight, first, left < step ? left : step,
                               block->values, err))
            return -1;
        block->weight = weight;
        block->first = first;
    }
    *row = block->values + ((size_t)local - first) * width;
    return 0;
}

static int decode_row(const struct slab *slab, uint64_t row, float *out, struct baryon_error *err)
{
    uint64_t local;
    const struct by_stored_tensor *part = slab->made->parts[place_of_row(slab->made, row, &local)];
    const struct by_ggml_type *type = type_of_part(part);
    return by_ggml_decode(
        type, by_checkpoint_bytes(slab->checkpoint, part) + local * row_bytes(type, slab->width),
        (size_t)slab->width, out, err);
}

/* The row as it is where nothing is to be done to it. */
static bool copy_row(const struct slab *slab, uint64_t row, uint8_t *out)
{
    const struct by_made_tensor *made = slab->made;
    uint64_t local;
    const size_t place = place_of_row(made, row, &local);
    if (weight_of_part(made, place) || type_of_part(made->parts[place]) != made->type ||
        made->add != 0)
        return false;
    memcpy(out, by_checkpoint_bytes(slab->checkpoint, made->parts[place]) + local * slab->row_bytes,
           slab->row_bytes);
    return true;
}

static int find_errors(const struct slab *slab, uint64_t row, const float *values,
                       const uint8_t *blocks, struct piece *piece, struct baryon_error *err)
{
    const size_t width = (size_t)slab->width;
    struct by_made_errors *errors = &slab->errors[row - slab->first];
    if (by_ggml_decode(slab->made->type, blocks, width, piece->back, err))
        return -1;
    *errors = (struct by_made_errors){0};
    for (size_t i = 0; i < width; i++) {
        const double value = values[i], off = (double)piece->back[i] - value;
        errors->energy += value * value;
        errors->error += off * off;
    }
    return 0;
}

/* Of the row's matrix. */
static const float *importance_of(const struct by_made_tensor *made, uint64_t row, uint64_t width)
{
    const uint64_t matrices = made->rank == 3 ? made->dims[0] : 1;
    return made->importance ? made->importance + row / (by_made_rows(made) / matrices) * width
                            : NULL;
}

static int slab_row(const struct slab *slab, uint64_t row, struct piece *piece,
                    struct baryon_error *err)
{
    const struct by_made_tensor *made = slab->made;
    uint8_t *out = slab->out + (row - slab->first) * slab->row_bytes;
    const float *from = piece->values;
    const size_t width = (size_t)slab->width;
    uint64_t local = 0;
    const size_t place = made->values ? 0 : place_of_row(made, row, &local);
    if (made->values)
        from = made->values + row * slab->width;
    else if (copy_row(slab, row, out)) {
        if (!slab->errors)
            return 0;
        return decode_row(slab, row, piece->values, err) ||
                       find_errors(slab, row, piece->values, out, piece, err)
                   ? -1
                   : 0;
    } else if (weight_of_part(made, place)
                   ? cached_row(slab, piece, weight_of_part(made, place), local, &from, err)
                   : decode_row(slab, row, piece->values, err))
        return -1;
    for (size_t i = 0; made->add != 0 && i < width; i++)
        piece->values[i] = from[i] + made->add;
    from = made->add != 0 ? piece->values : from;
    if (by_ggml_encode(made->type, from, 1, width, importance_of(made, row, width), out, err))
        return -1;
    return slab->errors ? find_errors(slab, row, from, out, piece, err) : 0;
}

int by_made_floats(const struct by_made_tensor *made, const struct by_checkpoint *checkpoint,
                   uint64_t first, uint64_t count, float *out, struct baryon_error *err)
{
    const size_t width = (size_t)by_made_width(made);
    const struct slab slab = {.made = made, .checkpoint = checkpoint, .width = width};
    if (made->rank < 2)
        count = by_made_rows(made);
    for (uint64_t row = first; row < first + count; row++, out += width) {
        if (decode_row(&slab, row, out, err))
            return -1;
        for (size_t i = 0; made->add != 0 && i < width; i++)
            out[i] += made->add;
    }
    return 0;
}

static int slab_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct slab *slab = context;
    char quoted[BY_QUOTE_MAX];
    int status = 0;
    (void)worker;
    struct piece piece;
    status = open_piece(&piece, slab, err);
    for (size_t i = begin; !status && i < end; i++) {
        status = slab_row(slab, slab->first + i, &piece, err);
        if (status)
            by_err_in(err, "tensor %s row %" PRIu64, by_quote(quoted, slab->made->name),
                      slab->first + i);
    }
    close_piece(&piece);
    return status;
}

/* Pages of sources are given back when a tensor is done. */
static void give_back(const struct slab *slab)
{
    const struct by_made_tensor *made = slab->made;
    uint64_t rows = made->part_count ? by_made_rows(made) / made->part_count : 0;
    for (size_t i = 0; i < made->part_count; i++) {
        if (weight_of_part(made, i)) {
            by_checkpoint_done(slab->checkpoint, made->parts[i], 0, made->parts[i]->bytes);
            continue;
        }
        uint64_t bytes = row_bytes(type_of_part(made->parts[i]), slab->width);
        by_checkpoint_done(slab->checkpoint, made->parts[i], made->first_row * bytes, rows * bytes);
    }
}

/* Pages after a slab of rows that keep their order. */
static void give_back_slab(const struct slab *slab, uint64_t rows)
{
    const struct by_made_tensor *made = slab->made;
    if (made->part_count != 1 || made->heads || made->weights)
        return;
    uint64_t bytes = row_bytes(type_of_part(made->parts[0]), slab->width);
    by_checkpoint_done(slab->checkpoint, made->parts[0], (made->first_row + slab->first) * bytes,
                       rows * bytes);
}

/* In the order of rows, whatever the threads. */
static void sum_errors(const struct slab *slab, uint64_t rows, struct by_made_errors *errors)
{
    const size_t parts = slab->made->part_count ? slab->made->part_count : 1;
    const uint64_t rows_of_part = by_made_rows(slab->made) / parts;
    for (uint64_t i = 0; i < rows; i++) {
        struct by_made_errors *sum = &errors[(slab->first + i) / rows_of_part];
        sum->energy += slab->errors[i].energy;
        sum->error += slab->errors[i].error;
    }
}

int by_made_write(const struct by_made_tensor *made, const struct by_checkpoint *checkpoint,
                  struct by_pool *pool, by_made_sink *sink, void *context,
                  struct by_made_errors *errors, struct baryon_error *err)
{
    uint64_t rows = by_made_rows(made), width = by_made_width(made);
    uint64_t most = SLAB_BYTES / 4 / width, grain = PIECE_BYTES / 4 / width;
    struct slab slab = {.made = made,
                        .checkpoint = checkpoint,
                        .width = width,
                        .row_bytes = (size_t)row_bytes(made->type, width)};
    if (made->weights) { /* whole blocks of rows */
        grain = (grain / BY_LLM_ROWS_STEP + 4) * BY_LLM_ROWS_STEP;
        most = (most / grain + 1) * grain;
    }
    most = most < 1 ? 1 : most > rows ? rows : most;
    slab.out = by_alloc((size_t)most, slab.row_bytes, err);
    int status = slab.out ? 0 : -1;
    if (!status && errors)
        status = (slab.errors = by_alloc((size_t)most, sizeof *slab.errors, err)) ? 0 : -1;
    for (; !status && slab.first < rows; slab.first += most) {
        uint64_t count = rows - slab.first < most ? rows - slab.first : most;
        status = by_par_for(pool, (size_t)count, grain ? (size_t)grain : 1, slab_piece, &slab, err);
        if (!status)
            status = sink(context, slab.out, (size_t)count * slab.row_bytes, err);
        if (!status && errors)
            sum_errors(&slab, count, errors);
        if (!status)
            give_back_slab(&slab, count);
    }
    give_back(&slab);
    by_free(slab.errors);
    by_free(slab.out);
    return status;
}
