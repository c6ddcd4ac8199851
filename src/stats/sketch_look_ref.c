/* What a look is: the plain definition, value by value. */
#include "stats/sketch_path.h"

#include "base/half.h"
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t magnitude(float value)
{
    return to_bits(value) & 0x7fffffff;
}

/* --- One piece --- */

static void join_lanes(double *sum, double *squares, struct by_sketch_piece *piece)
{
    for (size_t half = BY_SKETCH_LANES / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++) {
            sum[i] += sum[i + half];
            squares[i] += squares[i + half];
        }
    piece->sum = sum[0];
    piece->squares = squares[0];
}

void by_sketch_measure_rest(const float *values, size_t count, double sum[BY_SKETCH_LANES],
                            double squares[BY_SKETCH_LANES], struct by_sketch_piece *piece)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t size = magnitude(values[i]);
        if (size >= BY_SKETCH_INF) {
            piece->nans += size > BY_SKETCH_INF;
            piece->infinities += size == BY_SKETCH_INF;
            continue;
        }
        double value = (double)values[i];
        piece->zeros += !size;
        piece->min = values[i] < piece->min ? values[i] : piece->min;
        piece->max = values[i] > piece->max ? values[i] : piece->max;
        piece->greatest = size > piece->greatest ? size : piece->greatest;
        piece->least = size && size < piece->least ? size : piece->least;
        sum[i % BY_SKETCH_LANES] += value;
        squares[i % BY_SKETCH_LANES] += value * value;
    }
    join_lanes(sum, squares, piece);
}

void by_sketch_measure_ref(const float *values, size_t count, struct by_sketch_piece *piece)
{
    double sum[BY_SKETCH_LANES] = {0}, squares[BY_SKETCH_LANES] = {0};
    *piece = (struct by_sketch_piece){.least = UINT32_MAX, .min = INFINITY, .max = -INFINITY};
    by_sketch_measure_rest(values, count, sum, squares, piece);
}

/* --- Pieces together --- */

void by_sketch_part_init(struct by_sketch_part *part)
{
    *part = (struct by_sketch_part){.least = UINT32_MAX, .min = INFINITY, .max = -INFINITY};
}

void by_sketch_part_add(struct by_sketch_part *part, const struct by_sketch_piece *piece)
{
    part->zeros += piece->zeros;
    part->nans += piece->nans;
    part->infinities += piece->infinities;
    part->greatest = piece->greatest > part->greatest ? piece->greatest : part->greatest;
    part->least = piece->least < part->least ? piece->least : part->least;
    part->min = piece->min < part->min ? piece->min : part->min;
    part->max = piece->max > part->max ? piece->max : part->max;
    by_exact_add(&part->sum, piece->sum);
    by_exact_add(&part->squares, piece->squares);
}

void by_sketch_part_merge(struct by_sketch_part *part, const struct by_sketch_part *other)
{
    part->zeros += other->zeros;
    part->nans += other->nans;
    part->infinities += other->infinities;
    part->greatest = other->greatest > part->greatest ? other->greatest : part->greatest;
    part->least = other->least < part->least ? other->least : part->least;
    part->min = other->min < part->min ? other->min : part->min;
    part->max = other->max > part->max ? other->max : part->max;
    by_exact_merge(&part->sum, &other->sum);
    by_exact_merge(&part->squares, &other->squares);
}

int by_sketch_part_top(const struct by_sketch_part *part)
{
    return part->greatest ? (int)(part->greatest >> 23) : -1;
}

/* --- Values of any type --- */

int by_sketch_check(int64_t elem, struct baryon_error *err)
{
    if (elem == BY_ELEM_FLOAT || elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ||
        elem == BY_ELEM_DOUBLE)
        return 0;
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "values of type %s have no statistics, only floats of 16, 32 and 64 bits do",
                   by_elem_name(elem));
}

static void from_doubles(float *out, const unsigned char *in, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, in + i * sizeof value, sizeof value);
        out[i] = (float)value;
    }
}

/* Tensors need not be aligned for their type: those that are not go through memory that is. */
static void from_halves(float *out, const unsigned char *in, size_t count,
                        void convert(float *out, const uint16_t *in, size_t count))
{
    uint16_t aligned[256];
    if ((uintptr_t)in % sizeof *aligned == 0) {
        convert(out, (const void *)in, count);
        return;
    }
    for (size_t step; count; count -= step) {
        step = count < 256 ? count : 256;
        memcpy(aligned, in, step * sizeof *aligned);
        convert(out, aligned, step);
        in += step * sizeof *aligned;
        out += step;
    }
}

const float *by_sketch_floats(const void *values, int64_t elem, size_t begin, size_t count,
                              float *buffer)
{
    size_t size = elem == BY_ELEM_DOUBLE ? 8 : elem == BY_ELEM_FLOAT ? 4 : 2;
    const unsigned char *from = (const unsigned char *)values + begin * size;
    if (elem == BY_ELEM_FLOAT && (uintptr_t)from % sizeof *buffer == 0)
        return (const void *)from;
    if (elem == BY_ELEM_FLOAT)
        memcpy(buffer, from, count * size);
    else if (elem == BY_ELEM_DOUBLE)
        from_doubles(buffer, from, count);
    else
        from_halves(buffer, from, count, elem == BY_ELEM_FLOAT16 ? by_f16_to_f32 : by_bf16_to_f32);
    return buffer;
}

/* --- The look --- */

struct walk {
    const void *values;
    int64_t elem;
    size_t count;
    float *buffer;
    struct by_sketch_part part;
    by_sketch_touched touched;
    struct by_sketch *sketch;
};

static void walk(struct walk *walk, void visit(struct walk *walk, const float *at, size_t count))
{
    for (size_t at = 0, step; at < walk->count; at += step) {
        step = walk->count - at < BY_SKETCH_PIECE ? walk->count - at : BY_SKETCH_PIECE;
        visit(walk, by_sketch_floats(walk->values, walk->elem, at, step, walk->buffer), step);
    }
}

static void visit_measure(struct walk *walk, const float *at, size_t count)
{
    struct by_sketch_piece piece;
    by_sketch_measure_ref(at, count, &piece);
    by_sketch_part_add(&walk->part, &piece);
}

static void visit_touch(struct walk *walk, const float *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t size = magnitude(at[i]);
        if (size && size < BY_SKETCH_INF)
            walk->touched[to_bits(at[i]) >> 31][size >> 23] = true;
    }
}

static void visit_count(struct walk *walk, const float *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t size = magnitude(at[i]);
        if (!size || size >= BY_SKETCH_INF)
            continue;
        int exponent = (int)(size >> 23);
        unsigned bits = by_sketch_bits(walk->sketch->top - exponent);
        uint32_t bin = (size & 0x7fffff) >> (23 - bits);
        walk->sketch->rows[to_bits(at[i]) >> 31][exponent][bin]++;
    }
}

int by_sketch_look_plain(struct by_sketch *sketch, float *buffer, const void *values, int64_t elem,
                         size_t count, uint64_t sample, struct baryon_error *err)
{
    struct walk all = {
        .values = values, .elem = elem, .count = count, .buffer = buffer, .sketch = sketch};
    by_sketch_part_init(&all.part);
    walk(&all, visit_measure);
    walk(&all, visit_touch);
    if (by_sketch_prepare(sketch, by_sketch_part_top(&all.part), all.touched, err))
        return -1;
    walk(&all, visit_count);
    by_sketch_take(sketch, &all.part, count, sample);
    return 0;
}

int by_sketch_look_ref(struct by_sketch *sketch, const void *values, int64_t elem, size_t count,
                       uint64_t sample, struct baryon_error *err)
{
    if (by_sketch_check(elem, err))
        return -1;
    if (!count)
        return 0;
    float *buffer = by_alloc(BY_SKETCH_PIECE, sizeof *buffer, err);
    if (!buffer)
        return -1;
    int status = by_sketch_look_plain(sketch, buffer, values, elem, count, sample, err);
    by_free(buffer);
    return status;
}
