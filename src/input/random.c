/* Random samples: every value is a pure function of seed, sample, input and place. */
#include "base/half.h"
#include "base/rng.h"
#include "input/match.h"
#include "input/ports.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define CHUNK 256

struct int_row {
    int elem;
    bool full; /* the whole range of the type by default: pixels, not tokens */
    int64_t low, high;
};

static const struct int_row ints[] = {
    {BY_ELEM_UINT8, true, 0, UINT8_MAX},
    {BY_ELEM_INT8, true, INT8_MIN, INT8_MAX},
    {BY_ELEM_BOOL, true, 0, 1},
    {BY_ELEM_UINT16, false, 0, UINT16_MAX},
    {BY_ELEM_INT16, false, INT16_MIN, INT16_MAX},
    {BY_ELEM_UINT32, false, 0, UINT32_MAX},
    {BY_ELEM_INT32, false, INT32_MIN, INT32_MAX},
    {BY_ELEM_INT64, false, INT64_MIN, INT64_MAX},
    {BY_ELEM_UINT64, false, 0, INT64_MAX},
};

static const struct int_row *int_row_of(int64_t elem)
{
    for (size_t i = 0; i < sizeof ints / sizeof *ints; i++)
        if (ints[i].elem == elem)
            return &ints[i];
    return NULL;
}

/* NULL: no range of its own is given for the input. */
static const struct by_value_range *value_range(const struct by_port *port,
                                                const struct by_input_options *options)
{
    for (size_t i = 0; i < options->range_count; i++)
        if (!strcmp(options->ranges[i].input, port->name))
            return &options->ranges[i];
    return NULL;
}

/* Whole numbers of a range of an input. */
static void whole_range(const struct by_value_range *range, int64_t *low, int64_t *high)
{
    *low = (int64_t)fmin(fmax(ceil(range->low), -9.2e18), 9.2e18);
    *high = (int64_t)fmin(fmax(floor(range->high), (double)*low), 9.2e18);
}

/* The range of one input; a range that the type cannot hold is refused. */
static int choose_range(const struct by_port *port, const struct by_input_options *options,
                        int64_t *low, int64_t *high, struct baryon_error *err)
{
    const struct int_row *row = int_row_of(port->elem);
    char quoted[BY_QUOTE_MAX];
    const bool given = options->int_range_set && port->elem != BY_ELEM_BOOL;
    *low = given ? options->int_low : row->full ? row->low : 0;
    *high = given ? options->int_high : row->full ? row->high : 1;
    if (value_range(port, options))
        whole_range(value_range(port, options), low, high);
    if (*low >= row->low && *high <= row->high)
        return 0;
    by_fail(err, BARYON_ERR_USAGE,
            "range of integers %" PRId64 ":%" PRId64 " does not fit %s (%" PRId64 ":%" PRId64 ")",
            *low, *high, by_elem_name(port->elem), row->low, row->high);
    return by_err_in(err, "input %s", by_quote(quoted, port->name));
}

/* One stream of numbers an input and sample. */
static uint64_t stream_of(size_t sample, size_t input)
{
    return (uint64_t)sample << 16 ^ (uint64_t)input;
}

static int fill_ints(const struct by_port *port, const struct by_input_options *options,
                     uint64_t stream, size_t count, uint8_t *out, struct baryon_error *err)
{
    int64_t low, high, values[CHUNK];
    size_t width = 0;
    bool any = false;
    if (choose_range(port, options, &low, &high, err) < 0 ||
        by_elem_bytes(port->elem, 1, &width, err) < 0)
        return -1;
    for (size_t done = 0; done < count;) {
        const size_t part = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < part; i++) {
            values[i] = by_rng_range(options->seed, stream, done + i, low, high);
            any |= values[i] != 0;
        }
        if (!any && done + part == count)
            values[part - 1] = high ? high : low;
        if (by_convert(BY_ELEM_INT64, (const uint8_t *)values, port->elem, out + done * width, part,
                       NULL, 0, err) < 0)
            return -1;
        done += part;
    }
    return 0;
}

/* Standard normal, or spread evenly over the range that is given. */
static double random_float(const struct by_value_range *range, uint64_t seed, uint64_t stream,
                           size_t place)
{
    return range ? range->low + by_rng_unit(seed, stream, place) * (range->high - range->low)
                 : by_rng_normal(seed, stream, place);
}

static int fill_floats(const struct by_port *port, const struct by_input_options *options,
                       uint64_t stream, size_t count, uint8_t *out, struct baryon_error *err)
{
    const struct by_value_range *range = value_range(port, options);
    double values[CHUNK];
    size_t width = 0;
    if (by_elem_bytes(port->elem, 1, &width, err) < 0)
        return -1;
    for (size_t done = 0; done < count;) {
        const size_t part = count - done < CHUNK ? count - done : CHUNK;
        for (size_t i = 0; i < part; i++)
            values[i] = random_float(range, options->seed, stream, done + i);
        if (by_convert(BY_ELEM_DOUBLE, (const uint8_t *)values, port->elem, out + done * width,
                       part, NULL, 0, err) < 0)
            return -1;
        done += part;
    }
    return 0;
}

static int fill_port(struct by_arena *arena, const struct by_port *port,
                     const struct by_input_options *options, uint64_t stream,
                     struct by_array *array, struct baryon_error *err)
{
    size_t count, bytes;
    char quoted[BY_QUOTE_MAX];
    if (by_dims_count(port->dims, port->rank, &count, err) < 0 ||
        by_elem_bytes(port->elem, count, &bytes, err) < 0)
        return -1;
    const bool is_int = int_row_of(port->elem) != NULL;
    if (!is_int && !by_can_convert(BY_ELEM_DOUBLE, port->elem)) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "random values are not available for type %s",
                by_elem_name(port->elem));
        return by_err_in(err, "input %s", by_quote(quoted, port->name));
    }
    uint8_t *out = by_arena_alloc(arena, bytes, 1, err);
    if (!out)
        return -1;
    *array = (struct by_array){
        .name = port->name, .elem = port->elem, .rank = port->rank, .data = out, .size = bytes};
    if (port->rank)
        memcpy(array->dims, port->dims, port->rank * sizeof *port->dims);
    return is_int ? fill_ints(port, options, stream, count, out, err)
                  : fill_floats(port, options, stream, count, out, err);
}

int by_random_fill(struct by_arena *arena, const struct by_port *ports, size_t count,
                   const struct by_input_options *options, size_t index, struct by_array *arrays,
                   struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (fill_port(arena, &ports[i], options, stream_of(index, i), &arrays[i], err) < 0)
            return -1;
    return 0;
}

static bool needs_range(const struct by_port *port)
{
    const struct int_row *row = int_row_of(port->elem);
    return row && !row->full;
}

void by_random_notice(const struct by_port *ports, size_t count,
                      const struct by_input_options *options)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < count; i++)
        if (needs_range(&ports[i]) && !options->int_range_set && !value_range(&ports[i], options))
            by_log(
                options->log, BY_LOG_NOTICE,
                "input %s: random integers are 0 or 1; set another range with --int-range LOW:HIGH",
                by_quote(quoted, ports[i].name));
}
