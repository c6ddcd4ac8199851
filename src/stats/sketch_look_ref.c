/* Adds one tensor to a histogram value by value, as reference for the vector paths. */
#include "stats/sketch_path.h"

#include "array/elem.h"
#include "base/half.h"

#include <math.h>
#include <string.h>

static uint32_t to_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint32_t magnitude_bits(float value)
{
    return to_bits(value) & 0x7fffffff;
}

/* --- One piece --- */

int by_sketch_range_top(const struct by_sketch_range *range)
{
    const float size = range->max > -range->min ? range->max : -range->min;
    return range->min <= range->max && size > 0 ? (int)(to_bits(size) >> 23) : -1;
}

/* Neither overflow nor losses that matter: squares are between 2^-80 and 2^82 at the top. */
bool by_sketch_in_singles(int top)
{
    return top >= 127 - 40 && top <= 127 + 40;
}

void by_sketch_run_end(struct by_sketch_lanes *lanes)
{
    for (size_t i = 0; i < BY_SKETCH_LANES; i++) {
        lanes->sum[i] += (double)lanes->run_sum[i];
        lanes->squares[i] += (double)lanes->run_squares[i];
        lanes->run_sum[i] = lanes->run_squares[i] = 0;
    }
}

void by_sketch_lanes_add(struct by_sketch_lanes *lanes, size_t i, float value)
{
    const float square = value * value;
    lanes->run_sum[i % BY_SKETCH_LANES] += value;
    lanes->run_squares[i % BY_SKETCH_LANES] += square;
    if ((i + 1) % BY_SKETCH_RUN == 0)
        by_sketch_run_end(lanes);
}

static void add_double(struct by_sketch_lanes *lanes, size_t i, double value)
{
    lanes->sum[i % BY_SKETCH_LANES] += value;
    lanes->squares[i % BY_SKETCH_LANES] += value * value;
}

void by_sketch_sums_end(struct by_sketch_lanes *lanes, const float *rest, size_t count,
                        struct by_sketch_sums *sums)
{
    for (size_t i = 0; i < count; i++)
        by_sketch_lanes_add(lanes, i, rest[i]);
    by_sketch_run_end(lanes);
    for (size_t half = BY_SKETCH_LANES / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++) {
            lanes->sum[i] += lanes->sum[i + half];
            lanes->squares[i] += lanes->squares[i + half];
        }
    *sums = (struct by_sketch_sums){lanes->sum[0], lanes->squares[0]};
}

void by_sketch_sums_ref(const float *values, size_t count, int top, struct by_sketch_sums *sums)
{
    struct by_sketch_lanes lanes = {0};
    const bool singles = by_sketch_in_singles(top);
    for (size_t i = 0; i < count; i++) {
        const float value = magnitude_bits(values[i]) < BY_SKETCH_INF ? values[i] : 0;
        if (singles)
            by_sketch_lanes_add(&lanes, i, value);
        else
            add_double(&lanes, i, (double)value);
    }
    by_sketch_sums_end(&lanes, NULL, 0, sums);
}

/* --- Pieces together --- */

void by_sketch_part_init(struct by_sketch_part *part)
{
    *part = (struct by_sketch_part){.range = {INFINITY, -INFINITY}};
}

static void widen_range(struct by_sketch_range *range, const struct by_sketch_range *other)
{
    range->min = other->min < range->min ? other->min : range->min;
    range->max = other->max > range->max ? other->max : range->max;
}

void by_sketch_part_add(struct by_sketch_part *part, const struct by_sketch_range *range,
                        const struct by_sketch_sums *sums)
{
    widen_range(&part->range, range);
    by_exact_add(&part->sum, sums->sum);
    by_exact_add(&part->squares, sums->squares);
}

void by_sketch_part_merge(struct by_sketch_part *part, const struct by_sketch_part *other)
{
    part->zeros += other->zeros;
    part->nans += other->nans;
    part->infinities += other->infinities;
    widen_range(&part->range, &other->range);
    by_exact_merge(&part->sum, &other->sum);
    by_exact_merge(&part->squares, &other->squares);
}

/* --- Values of any type --- */

int by_sketch_check(int64_t elem, struct baryon_error *err)
{
    if (elem == BY_ELEM_FLOAT || elem == BY_ELEM_FLOAT16 || elem == BY_ELEM_BFLOAT16 ||
        elem == BY_ELEM_DOUBLE)
        return 0;
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "values of type %s, must be floats of 16, 32 or 64 bits", by_elem_name(elem));
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

static void walk_pieces(struct walk *walk,
                        void visit(struct walk *walk, const float *at, size_t count))
{
    for (size_t at = 0, step; at < walk->count; at += step) {
        step = walk->count - at < BY_SKETCH_PIECE ? walk->count - at : BY_SKETCH_PIECE;
        visit(walk, by_sketch_floats(walk->values, walk->elem, at, step, walk->buffer), step);
    }
}

static void visit_measure(struct walk *walk, const float *at, size_t count)
{
    struct by_sketch_range range = {INFINITY, -INFINITY};
    struct by_sketch_sums sums;
    for (size_t i = 0; i < count; i++) {
        walk->part.zeros += !magnitude_bits(at[i]);
        walk->part.nans += magnitude_bits(at[i]) > BY_SKETCH_INF;
        walk->part.infinities += magnitude_bits(at[i]) == BY_SKETCH_INF;
    }
    by_sketch_range_plain(at, count, &range.min, &range.max);
    by_sketch_sums_ref(at, count, by_sketch_range_top(&range), &sums);
    by_sketch_part_add(&walk->part, &range, &sums);
}

static void visit_touch(struct walk *walk, const float *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t size = magnitude_bits(at[i]);
        if (size && size < BY_SKETCH_INF)
            walk->touched[to_bits(at[i]) >> 31][size >> 23] = true;
    }
}

static void visit_count(struct walk *walk, const float *at, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t size = magnitude_bits(at[i]);
        if (!size || size >= BY_SKETCH_INF)
            continue;
        int exponent = (int)(size >> 23);
        unsigned bits = by_sketch_bits(walk->sketch->top - exponent);
        uint32_t bin = (size & 0x7fffff) >> (23 - bits);
        by_sketch_count(walk->sketch, walk->sketch->rows[to_bits(at[i]) >> 31][exponent], bin, 1);
    }
}

int by_sketch_look_plain(struct by_sketch *sketch, float *buffer, const void *values, int64_t elem,
                         size_t count, uint64_t sample, struct baryon_error *err)
{
    struct walk all = {
        .values = values, .elem = elem, .count = count, .buffer = buffer, .sketch = sketch};
    by_sketch_part_init(&all.part);
    walk_pieces(&all, visit_measure);
    walk_pieces(&all, visit_touch);
    if (by_sketch_prepare(sketch, by_sketch_range_top(&all.part.range), all.touched, count, err))
        return -1;
    walk_pieces(&all, visit_count);
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
