/* Makes the bytes of a converted tensor, slab by slab. */
#include "llm/layout/made.h"

#include "llm/family/arch.h"

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

static int check_part(const struct by_made_tensor *made, const struct by_stored_tensor *part,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], shape[96];
    const struct by_ggml_type *type = type_of_part(part);
    uint64_t width = by_made_width(made), rows = by_made_rows(made) / made->part_count;
    if (!type || !type->decode)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "tensor %s: type %s, must be a float or a block type that can be decoded",
                       by_quote(quoted, part->name), part->type->name);
    if (width % type->block || part->elements / width < made->first_row + rows ||
        part->elements % width)
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
        if (check_part(made, made->parts[i], err))
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
};

/* Bytes of a row in its part, in the part's type. */
static const uint8_t *row_of_part(const struct slab *slab, uint64_t row,
                                  const struct by_ggml_type **type)
{
    const struct by_made_tensor *made = slab->made;
    uint64_t rows = by_made_rows(made) / made->part_count, local = row % rows;
    const struct by_stored_tensor *part = made->parts[row / rows];
    *type = type_of_part(part);
    if (made->heads)
        local = made->back ? by_gguf_row_back(local, rows, made->heads)
                           : by_gguf_row_of(local, rows, made->heads);
    return by_checkpoint_bytes(slab->checkpoint, part) +
           (made->first_row + local) * row_bytes(*type, slab->width);
}

static int decode_row(const struct slab *slab, uint64_t row, float *out, struct baryon_error *err)
{
    const struct by_ggml_type *type;
    const uint8_t *bytes = row_of_part(slab, row, &type);
    return by_ggml_decode(type, bytes, (size_t)slab->width, out, err);
}

static int slab_row(const struct slab *slab, uint64_t row, float *values, struct baryon_error *err)
{
    const struct by_made_tensor *made = slab->made;
    const struct by_ggml_type *type = NULL;
    const uint8_t *bytes = made->values ? NULL : row_of_part(slab, row, &type);
    uint8_t *out = slab->out + (row - slab->first) * slab->row_bytes;
    const float *from = values;
    size_t width = (size_t)slab->width;
    if (made->values) {
        from = made->values + row * slab->width;
    } else if (type == made->type && made->add == 0) {
        memcpy(out, bytes, slab->row_bytes);
        return 0;
    } else if (by_ggml_decode(type, bytes, width, values, err)) {
        return -1;
    }
    for (size_t i = 0; made->add != 0 && i < width; i++)
        values[i] += made->add;
    return by_ggml_encode(made->type, from, 1, width, NULL, out, err);
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
    float *values = by_alloc((size_t)slab->width, sizeof *values, err);
    if (!values)
        return -1;
    for (size_t i = begin; !status && i < end; i++) {
        status = slab_row(slab, slab->first + i, values, err);
        if (status)
            by_err_in(err, "tensor %s row %" PRIu64, by_quote(quoted, slab->made->name),
                      slab->first + i);
    }
    by_free(values);
    return status;
}

/* Pages of sources are given back when a tensor is done. */
static void give_back(const struct slab *slab)
{
    const struct by_made_tensor *made = slab->made;
    uint64_t rows = made->part_count ? by_made_rows(made) / made->part_count : 0;
    for (size_t i = 0; i < made->part_count; i++) {
        uint64_t bytes = row_bytes(type_of_part(made->parts[i]), slab->width);
        by_checkpoint_done(slab->checkpoint, made->parts[i], made->first_row * bytes, rows * bytes);
    }
}

/* Pages behind a slab of rows that keep their order. */
static void give_back_slab(const struct slab *slab, uint64_t rows)
{
    const struct by_made_tensor *made = slab->made;
    if (made->part_count != 1 || made->heads)
        return;
    uint64_t bytes = row_bytes(type_of_part(made->parts[0]), slab->width);
    by_checkpoint_done(slab->checkpoint, made->parts[0], (made->first_row + slab->first) * bytes,
                       rows * bytes);
}

int by_made_write(const struct by_made_tensor *made, const struct by_checkpoint *checkpoint,
                  struct by_pool *pool, by_made_sink *sink, void *context, struct baryon_error *err)
{
    uint64_t rows = by_made_rows(made), width = by_made_width(made);
    uint64_t most = SLAB_BYTES / 4 / width, grain = PIECE_BYTES / 4 / width;
    struct slab slab = {.made = made,
                        .checkpoint = checkpoint,
                        .width = width,
                        .row_bytes = (size_t)row_bytes(made->type, width)};
    most = most < 1 ? 1 : most > rows ? rows : most;
    slab.out = by_alloc((size_t)most, slab.row_bytes, err);
    int status = slab.out ? 0 : -1;
    for (; !status && slab.first < rows; slab.first += most) {
        uint64_t count = rows - slab.first < most ? rows - slab.first : most;
        status = by_par_for(pool, (size_t)count, grain ? (size_t)grain : 1, slab_piece, &slab, err);
        if (!status)
            status = sink(context, slab.out, (size_t)count * slab.row_bytes, err);
        if (!status)
            give_back_slab(&slab, count);
    }
    give_back(&slab);
    by_free(slab.out);
    return status;
}
