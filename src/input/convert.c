/* Values of one element type as another, never silently changed beyond rounding. */
#include "base/format.h"
#include "base/half.h"
#include "base/text.h"
#include "input/match.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CHUNK 512

enum family { FAMILY_NONE, FAMILY_FLOAT, FAMILY_INT };

struct elem_row {
    int elem;
    enum family family;
    size_t width;
    int64_t low, high; /* of integers; uint64 reaches higher, see store_ints */
};

static const struct elem_row rows[] = {
    {BY_ELEM_FLOAT, FAMILY_FLOAT, 4, 0, 0},
    {BY_ELEM_DOUBLE, FAMILY_FLOAT, 8, 0, 0},
    {BY_ELEM_FLOAT16, FAMILY_FLOAT, 2, 0, 0},
    {BY_ELEM_BFLOAT16, FAMILY_FLOAT, 2, 0, 0},
    {BY_ELEM_BOOL, FAMILY_INT, 1, 0, 1},
    {BY_ELEM_INT8, FAMILY_INT, 1, INT8_MIN, INT8_MAX},
    {BY_ELEM_INT16, FAMILY_INT, 2, INT16_MIN, INT16_MAX},
    {BY_ELEM_INT32, FAMILY_INT, 4, INT32_MIN, INT32_MAX},
    {BY_ELEM_INT64, FAMILY_INT, 8, INT64_MIN, INT64_MAX},
    {BY_ELEM_UINT8, FAMILY_INT, 1, 0, UINT8_MAX},
    {BY_ELEM_UINT16, FAMILY_INT, 2, 0, UINT16_MAX},
    {BY_ELEM_UINT32, FAMILY_INT, 4, 0, UINT32_MAX},
    {BY_ELEM_UINT64, FAMILY_INT, 8, 0, INT64_MAX},
};

static const struct elem_row *find_elem_row(int64_t elem)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].elem == elem)
            return &rows[i];
    return NULL;
}

bool by_can_convert(int64_t from, int64_t to)
{
    const struct elem_row *a = find_elem_row(from), *b = find_elem_row(to);
    return from == to || (a && b && a->family == b->family);
}

const char *by_index_text(size_t number, const int64_t *dims, size_t rank, char *buf, size_t size)
{
    size_t index[16] = {0};
    struct by_text text;
    for (size_t i = rank; i-- > 0;) {
        index[i] = dims[i] > 0 ? number % (size_t)dims[i] : 0;
        number = dims[i] > 0 ? number / (size_t)dims[i] : 0;
    }
    by_text_init(&text, buf, size);
    by_text_add(&text, "[");
    for (size_t i = 0; i < rank; i++)
        by_text_add(&text, "%s%zu", i ? "," : "", index[i]);
    by_text_add(&text, "]");
    return buf;
}

static void load_floats(int elem, const uint8_t *in, size_t count, double *out)
{
    uint16_t halves[CHUNK];
    float floats[CHUNK];
    if (elem == BY_ELEM_DOUBLE) {
        memcpy(out, in, count * sizeof *out);
        return;
    }
    if (elem == BY_ELEM_FLOAT) {
        memcpy(floats, in, count * sizeof *floats);
    } else {
        memcpy(halves, in, count * sizeof *halves);
        if (elem == BY_ELEM_FLOAT16)
            by_f16_to_f32(floats, halves, count);
        else
            by_bf16_to_f32(floats, halves, count);
    }
    for (size_t i = 0; i < count; i++)
        out[i] = (double)floats[i];
}

/*
 * A float that, rounded once more to 16 bits, gives what the double itself would:
 * cut towards zero, with the last bit set when something was lost.
 */
static float to_odd(double value)
{
    float near = (float)value;
    if (isnan(value) || (double)near == value || isinf(near))
        return near;
    uint32_t bits;
    memcpy(&bits, &near, sizeof bits);
    if (fabs((double)near) > fabs(value))
        bits--;
    bits |= 1;
    memcpy(&near, &bits, sizeof bits);
    return near;
}

static void store_floats(int elem, const double *in, size_t count, uint8_t *out)
{
    uint16_t halves[CHUNK];
    float floats[CHUNK];
    if (elem == BY_ELEM_DOUBLE) {
        memcpy(out, in, count * sizeof *in);
        return;
    }
    for (size_t i = 0; i < count; i++)
        floats[i] = elem == BY_ELEM_FLOAT ? (float)in[i] : to_odd(in[i]);
    if (elem == BY_ELEM_FLOAT) {
        memcpy(out, floats, count * sizeof *floats);
        return;
    }
    if (elem == BY_ELEM_FLOAT16)
        by_f32_to_f16(halves, floats, count);
    else
        by_f32_to_bf16(halves, floats, count);
    memcpy(out, halves, count * sizeof *halves);
}

/* What a conversion works on, for its messages. */
struct job {
    const struct elem_row *from, *to;
    const int64_t *dims;
    size_t rank;
};

static int refuse_value(const struct job *job, size_t number, const char *value,
                        struct baryon_error *err)
{
    char place[128];
    return by_fail(err, BARYON_ERR_INPUT, "value %s at %s is out of range for %s", value,
                   by_index_text(number, job->dims, job->rank, place, sizeof place),
                   by_elem_name(job->to->elem));
}

static int convert_floats(const struct job *job, const uint8_t *in, size_t first, size_t count,
                          uint8_t *out, struct baryon_error *err)
{
    double values[CHUNK], back[CHUNK];
    load_floats(job->from->elem, in, count, values);
    store_floats(job->to->elem, values, count, out);
    load_floats(job->to->elem, out, count, back);
    for (size_t i = 0; i < count; i++)
        if (isinf(back[i]) && !isinf(values[i])) {
            char value[40];
            by_format(value, sizeof value, "%.9g", values[i]);
            return refuse_value(job, first + i, value, err);
        }
    return 0;
}

#define LOAD(type)                                                                                 \
    do {                                                                                           \
        type value;                                                                                \
        memcpy(&value, in + i * sizeof value, sizeof value);                                       \
        out[i] = (int64_t)value;                                                                   \
    } while (0)

/* uint64 values over the range of int64 come out negative. */
static void load_ints(int elem, const uint8_t *in, size_t count, int64_t *out)
{
    for (size_t i = 0; i < count; i++)
        switch (elem) {
        case BY_ELEM_BOOL:
            out[i] = in[i] != 0;
            break;
        case BY_ELEM_UINT8:
            out[i] = in[i];
            break;
        case BY_ELEM_INT8:
            LOAD(int8_t);
            break;
        case BY_ELEM_UINT16:
            LOAD(uint16_t);
            break;
        case BY_ELEM_INT16:
            LOAD(int16_t);
            break;
        case BY_ELEM_UINT32:
            LOAD(uint32_t);
            break;
        case BY_ELEM_INT32:
            LOAD(int32_t);
            break;
        default:
            LOAD(int64_t);
            break;
        }
}

static void store_ints(size_t width, const int64_t *in, size_t count, uint8_t *out)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t bits = (uint64_t)in[i];
        const uint8_t one = (uint8_t)bits;
        const uint16_t two = (uint16_t)bits;
        const uint32_t four = (uint32_t)bits;
        const void *from = width == 1   ? (const void *)&one
                           : width == 2 ? (const void *)&two
                           : width == 4 ? (const void *)&four
                                        : (const void *)&bits;
        memcpy(out + i * width, from, width);
    }
}

static int convert_ints(const struct job *job, const uint8_t *in, size_t first, size_t count,
                        uint8_t *out, struct baryon_error *err)
{
    int64_t values[CHUNK];
    const bool wide = job->from->elem == BY_ELEM_UINT64;
    load_ints(job->from->elem, in, count, values);
    for (size_t i = 0; i < count; i++)
        if (values[i] < job->to->low || values[i] > job->to->high || (wide && values[i] < 0)) {
            char value[40];
            if (wide)
                snprintf(value, sizeof value, "%" PRIu64, (uint64_t)values[i]);
            else
                snprintf(value, sizeof value, "%" PRId64, values[i]);
            return refuse_value(job, first + i, value, err);
        }
    store_ints(job->to->width, values, count, out);
    return 0;
}

int by_convert(int64_t from, const uint8_t *in, int64_t to, void *out, size_t count,
               const int64_t *dims, size_t rank, struct baryon_error *err)
{
    const struct job job = {find_elem_row(from), find_elem_row(to), dims, rank};
    uint8_t *to_bytes = out;
    if (!job.from || !job.to || job.from->family != job.to->family)
        return by_fail(err, BARYON_ERR_INTERNAL, "%s cannot be converted to %s", by_elem_name(from),
                       by_elem_name(to));
    for (size_t done = 0; done < count;) {
        const size_t part = count - done < CHUNK ? count - done : CHUNK;
        const uint8_t *at = in + done * job.from->width;
        uint8_t *to_at = to_bytes + done * job.to->width;
        int failed = job.from->family == FAMILY_FLOAT
                         ? convert_floats(&job, at, done, part, to_at, err)
                         : convert_ints(&job, at, done, part, to_at, err);
        if (failed < 0)
            return -1;
        done += part;
    }
    return 0;
}

/* Exponent bits of the float types: all set means NaN or infinity. */
static bool any_nonfinite(size_t width, uint64_t mask, const uint8_t *values, size_t count)
{
    unsigned found = 0;
    if (width == 4) {
        for (size_t i = 0; i < count; i++) {
            uint32_t bits;
            memcpy(&bits, values + i * 4, 4);
            found |= (bits & (uint32_t)mask) == (uint32_t)mask;
        }
    } else if (width == 2) {
        for (size_t i = 0; i < count; i++) {
            uint16_t bits;
            memcpy(&bits, values + i * 2, 2);
            found |= (bits & mask) == mask;
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            uint64_t bits;
            memcpy(&bits, values + i * 8, 8);
            found |= (bits & mask) == mask;
        }
    }
    return found != 0;
}

int by_check_finite(int64_t elem, const void *values, size_t count, const int64_t *dims,
                    size_t rank, struct baryon_error *err)
{
    const struct elem_row *row = find_elem_row(elem);
    if (!row || row->family != FAMILY_FLOAT)
        return 0;
    const uint64_t mask = elem == BY_ELEM_DOUBLE    ? 0x7ff0000000000000u
                          : elem == BY_ELEM_FLOAT16 ? 0x7c00u
                          : elem == BY_ELEM_FLOAT   ? 0x7f800000u
                                                    : 0x7f80u;
    for (size_t done = 0; done < count; done += CHUNK) {
        const size_t part = count - done < CHUNK ? count - done : CHUNK;
        const uint8_t *at = (const uint8_t *)values + done * row->width;
        if (!any_nonfinite(row->width, mask, at, part))
            continue;
        size_t i = 0;
        while (!any_nonfinite(row->width, mask, at + i * row->width, 1))
            i++;
        double value;
        char place[128];
        load_floats((int)elem, at + i * row->width, 1, &value);
        by_fail(err, BARYON_ERR_INPUT, "value %s at %s, must be finite",
                isnan(value) ? "NaN"
                : value > 0  ? "infinity"
                             : "-infinity",
                by_index_text(done + i, dims, rank, place, sizeof place));
        return -1;
    }
    return 0;
}
