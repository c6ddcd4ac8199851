/* Sizes for open dimensions. */
#include "input/ports.h"

#include "base/capacity.h"
#include "base/str.h"
#include "base/text.h"
#include "input/match.h"

#include <inttypes.h>
#include <string.h>

/* "NAME:AXIS" names a dimension of an input by its number. */
static bool names_axis(const char *key, const char *name, size_t axis)
{
    const size_t length = strlen(name);
    int64_t number;
    return strncmp(key, name, length) == 0 && key[length] == ':' &&
           by_parse_i64(key + length + 1, &number) && number >= 0 && (size_t)number == axis;
}

static bool names_dim(const char *key, const struct by_port *port, size_t axis)
{
    const char *symbol = port->symbols ? port->symbols[axis] : NULL;
    return (port->dims[axis] < 0 && symbol && symbol[0] && strcmp(key, symbol) == 0) ||
           names_axis(key, port->name, axis);
}

/* Every open dimension as one would name it, for messages. */
static void open_dims_text(const struct by_port *ports, size_t count, struct by_text *text)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < count; i++)
        for (size_t axis = 0; axis < ports[i].rank; axis++) {
            const char *symbol = ports[i].symbols ? ports[i].symbols[axis] : NULL;
            if (ports[i].dims[axis] >= 0)
                continue;
            if (text->used)
                by_text_add(text, ", ");
            if (symbol && symbol[0]) {
                by_text_add(text, "%s", by_quote(quoted, symbol));
                continue;
            }
            by_quote(quoted, ports[i].name);
            by_text_add(text, "%.*s:%zu'", (int)strlen(quoted) - 1, quoted, axis);
        }
}

static int refuse_key(const char *key, const struct by_port *ports, size_t count,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], open[256];
    struct by_text text;
    by_text_init(&text, open, sizeof open);
    open_dims_text(ports, count, &text);
    by_fail(err, BARYON_ERR_USAGE, "the inputs of the model have no symbolic dimension %s",
            by_quote(quoted, key));
    return open[0] ? by_err_hint(err, "symbolic dimensions are %s", open)
                   : by_err_hint(err, "all dimensions are fixed");
}

static int apply_size(const char *key, int64_t size, const struct by_port *given,
                      struct by_port *ports, int64_t *const *dims, size_t count,
                      struct baryon_error *err)
{
    bool found = false;
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < count; i++)
        for (size_t axis = 0; axis < ports[i].rank; axis++) {
            if (!names_dim(key, &given[i], axis))
                continue;
            found = true;
            if (given[i].dims[axis] >= 0 && given[i].dims[axis] != size)
                return by_fail(err, BARYON_ERR_USAGE,
                               "%s cannot be %" PRId64 ", the model fixes it to %" PRId64,
                               by_quote(quoted, key), size, given[i].dims[axis]);
            dims[i][axis] = size;
        }
    return found ? 0 : refuse_key(key, given, count, err);
}

static int check_kind(const struct by_port *port, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    int failed = 0;
    if (port->elem == BY_ELEM_UNDEFINED)
        failed = by_fail(err, BARYON_ERR_UNSUPPORTED, "the input is a %s, must be a tensor",
                         port->kind ? port->kind : "value of another kind");
    else if (port->elem == BY_ELEM_STRING)
        failed = by_fail(err, BARYON_ERR_UNSUPPORTED, "the input takes strings, must be numeric");
    else if (port->rank > 16)
        failed = by_fail(err, BARYON_ERR_UNSUPPORTED, "the input has rank %zu, must be at most 16",
                         port->rank);
    if (failed < 0)
        by_err_in(err, "input %s", by_quote(quoted, port->name));
    return failed;
}

int by_ports_resolve(struct by_arena *arena, const struct by_port *ports, size_t count,
                     const struct by_input_options *options, struct by_port **resolved,
                     struct baryon_error *err)
{
    struct by_port *copies = by_arena_alloc(arena, count, sizeof *copies, err);
    int64_t **dims = by_arena_alloc(arena, count, sizeof *dims, err);
    if (!copies || !dims)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (check_kind(&ports[i], err) < 0)
            return -1;
        copies[i] = ports[i];
        dims[i] = by_arena_alloc(arena, ports[i].rank, sizeof **dims, err);
        if (!dims[i])
            return -1;
        if (ports[i].rank)
            memcpy(dims[i], ports[i].dims, ports[i].rank * sizeof **dims);
        copies[i].dims = dims[i];
    }
    for (size_t i = 0; i < options->shape_count; i++)
        if (apply_size(options->shape_symbols[i], options->shape_sizes[i], ports, copies, dims,
                       count, err) < 0)
            return -1;
    if (options->random)
        by_random_sizes(copies, count, dims, options->log);
    *resolved = copies;
    return 0;
}

static int refuse_any_rank(const struct by_port *port, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "its shape is unknown, random samples require a shape");
    by_err_hint(err, "give samples with --data");
    return by_err_in(err, "input %s", by_quote(quoted, port->name));
}

static int check_value_range(const struct by_value_range *range, const struct by_port *ports,
                             size_t count, struct baryon_error *err)
{
    const char *names[64] = {0};
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < count; i++)
        if (!strcmp(ports[i].name, range->input))
            return range->low <= range->high
                       ? 0
                       : by_fail(err, BARYON_ERR_USAGE,
                                 "range of values %g:%g of input %s, the first must not be larger",
                                 range->low, range->high, by_quote(quoted, range->input));
    for (size_t i = 0; i < count && i < 64; i++)
        names[i] = ports[i].name;
    by_fail(err, BARYON_ERR_USAGE, "range of values: the model has no input %s",
            by_quote(quoted, range->input));
    const char *near = by_nearest(range->input, names, count < 64 ? count : 64);
    return near ? by_err_hint(err, "did you mean '%s'?", near) : -1;
}

/* A size that a model declares may be anything. */
static int check_memory(const struct by_port *ports, size_t count,
                        const struct by_input_options *options, struct baryon_error *err)
{
    char wanted[BY_SIZE_TEXT], most[BY_SIZE_TEXT], quoted[BY_QUOTE_MAX];
    size_t elements, bytes;
    uint64_t all = 0;
    const uint64_t there = by_memory_there();
    const bool allowed = options->random_max && options->random_max < there;
    for (size_t i = 0; i < count; i++) {
        if (by_dims_count(ports[i].dims, ports[i].rank, &elements, err) < 0 ||
            by_elem_bytes(ports[i].elem, elements, &bytes, err) < 0)
            return by_err_in(err, "input %s", by_quote(quoted, ports[i].name));
        all += bytes;
    }
    if (all <= (allowed ? options->random_max : there))
        return 0;
    by_size_text(all, wanted);
    if (!allowed)
        return by_fail(err, BARYON_ERR_NOMEM, "a random sample requires %s, free memory is %s",
                       wanted, by_size_text(there, most));
    by_fail(err, BARYON_ERR_NOMEM, "a random sample requires %s, --max-memory allows %s", wanted,
            by_size_text(options->random_max, most));
    return by_err_hint(err, "set smaller sizes with --shape, or raise --max-memory");
}

int by_random_check(const struct by_port *ports, size_t count,
                    const struct by_input_options *options, struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (ports[i].any_rank)
            return refuse_any_rank(&ports[i], err);
    if (options->int_range_set && options->int_low > options->int_high)
        return by_fail(err, BARYON_ERR_USAGE,
                       "range of integers %" PRId64 ":%" PRId64
                       ", the first must not be greater than the second",
                       options->int_low, options->int_high);
    for (size_t i = 0; i < options->range_count; i++)
        if (check_value_range(&options->ranges[i], ports, count, err) < 0)
            return -1;
    return check_memory(ports, count, options, err);
}
