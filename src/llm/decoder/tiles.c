/* Weights of a run in memory, or in a file where one tile of a matrix is resident at a time. */
#include "llm/decoder/decoder_internal.h"

#define TILE_FLOATS ((size_t)1 << 21) /* of a matrix, that is multiplied at once */
#define TILE_ROWS   128 /* tiles have whole multiples of it: codes of rows are packed together */
#define PAGE_FLOATS ((size_t)16384) /* of the largest pages */

size_t by_decoder_tile_rows(size_t columns)
{
    const size_t rows = TILE_FLOATS / columns / TILE_ROWS * TILE_ROWS;
    return rows ? rows : TILE_ROWS;
}

size_t by_decoder_tile_floats(size_t columns)
{
    const size_t multiplied = by_decoder_tile_rows(columns) * columns;
    const size_t read = BY_DECODER_READ_ROWS * columns;
    return multiplied > read ? multiplied : read;
}

void by_decoder_done(const struct by_spill *spill, const float *values, size_t count)
{
    if (spill && by_spill_has(spill, (const uint8_t *)values))
        by_mapped_done(&spill->file, (size_t)((const uint8_t *)values - spill->file.bytes),
                       count * sizeof *values);
}

/* A layer or a stage of it, then the head and the last norm. */
static int open_file(struct by_decoder_run *run, struct baryon_error *err)
{
    const struct by_decoder *d = run->decoder;
    const size_t floats = run->capacity + by_decoder_stage_floats(d) + d->vocab * d->hidden;
    return by_spill_open(&run->weights, d->weight_spill,
                         (floats + d->hidden + 4 * PAGE_FLOATS) * sizeof(float), err);
}

float *by_decoder_room(struct by_decoder_run *run, size_t floats, struct baryon_error *err)
{
    uint8_t *bytes = NULL;
    if (!run->decoder->weight_spill)
        return by_alloc(floats, sizeof(float), err);
    if ((!run->weights.file.bytes && open_file(run, err)) ||
        by_spill_add(&run->weights, floats * sizeof(float), &bytes, err))
        return NULL;
    run->loaded.spill = &run->weights;
    return (float *)(void *)bytes;
}

void by_decoder_free(const struct by_decoder_run *run, float *values)
{
    if (!by_spill_has(&run->weights, (const uint8_t *)values))
        by_free(values);
}

void by_decoder_product(const struct by_blas *blas, const struct by_spill *spill,
                        const struct by_decoder_product *p)
{
    const size_t step = by_decoder_tile_rows(p->columns);
    for (size_t first = 0; first < p->rows; first += step) {
        const size_t count = p->rows - first < step ? p->rows - first : step;
        const float *tile = p->weight + first * p->columns;
        blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)p->tokens, (int)count,
                    (int)p->columns, 1, p->in, (int)p->columns, tile, (int)p->columns, 0,
                    p->out + first, (int)p->stride);
        by_decoder_done(spill, tile, count * p->columns);
    }
}
