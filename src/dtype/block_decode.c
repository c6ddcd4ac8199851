/* Codes of blocks to values: each times the step of its sub-block. */
#include "dtype/block_code.h"

#define CHUNK 1024 /* values whose steps are laid out at once */

bool by_block_meaning(const struct by_dtype *dtype, const struct by_block_cast *cast,
                      struct by_block_meaning *meaning)
{
    if (dtype->block.shifts > 1)
        return false;
    meaning->grid.twos = dtype->block.twos;
    by_float_grid(&dtype->element, BY_TIES_EVEN, false, &meaning->grid.element);
    for (int shift = 0; shift < 2; shift++)
        for (unsigned i = 0; i < 256; i++)
            meaning->steps[shift][i] = (float)by_block_plain_step(dtype, cast, (uint8_t)i, shift);
    return true;
}

/* Of a sub-block; `scale` is what its block has. */
static float step_at(const struct by_block_work *work, const uint8_t *scale, size_t sub)
{
    const int shift = work->dtype->block.sub ? scale[1 + sub / 8] >> sub % 8 & 1 : 0;
    return work->meaning->steps[shift][*scale];
}

/* --- Neighbours in memory --- */

struct steps {
    const struct by_block_work *work;
    const uint8_t *codes;
    float *out;
    size_t count;
    float at[CHUNK];
};

static void flush_block_steps(struct steps *steps)
{
    by_dtype_path_chosen()->decode(steps->out, steps->codes, steps->at, steps->count,
                                   &steps->work->meaning->grid);
    steps->codes += steps->count;
    steps->out += steps->count;
    steps->count = 0;
}

static void add_block_steps(struct steps *steps, float step, size_t count)
{
    while (count) {
        const size_t room = CHUNK - steps->count, some = count < room ? count : room;
        for (size_t i = 0; i < some; i++)
            steps->at[steps->count + i] = step;
        steps->count += some;
        count -= some;
        if (steps->count == CHUNK)
            flush_block_steps(steps);
    }
}

void by_block_decode_line(const struct by_block_work *work, size_t value, size_t count,
                          size_t block)
{
    const size_t size = work->extent.size, bytes = work->extent.block_bytes;
    const size_t sub = work->dtype->block.sub ? work->dtype->block.sub : size;
    const uint8_t *scale = work->from_scales + block * bytes;
    struct steps steps;
    steps.work = work;
    steps.codes = work->from_codes + value;
    steps.out = work->out + value;
    steps.count = 0;
    for (size_t begin = 0; begin < count; begin += size, scale += bytes) {
        const size_t some = count - begin < size ? count - begin : size;
        for (size_t at = 0, i = 0; at < some; at += sub, i++)
            add_block_steps(&steps, step_at(work, scale, i), some - at < sub ? some - at : sub);
    }
    flush_block_steps(&steps);
}

/* --- Columns --- */

void by_block_decode_columns(const struct by_block_work *work, size_t value, size_t rows,
                             size_t columns, size_t block)
{
    const size_t stride = work->extent.inner, bytes = work->extent.block_bytes;
    const size_t sub = work->dtype->block.sub ? work->dtype->block.sub : rows;
    const uint8_t *scales = work->from_scales + block * bytes;
    float steps[CHUNK];
    for (size_t begin = 0; begin < columns; begin += CHUNK) {
        const size_t some = columns - begin < CHUNK ? columns - begin : CHUNK;
        for (size_t row = 0; row < rows; row++) {
            const size_t at = value + row * stride + begin;
            for (size_t i = 0; row % sub == 0 && i < some; i++)
                steps[i] = step_at(work, scales + (begin + i) * bytes, row / sub);
            by_dtype_path_chosen()->decode(work->out + at, work->from_codes + at, steps, some,
                                           &work->meaning->grid);
        }
    }
}
