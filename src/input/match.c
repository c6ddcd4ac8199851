/* Arrays to inputs: names, ranks, dimensions. */
#include "input/match.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_symbol(struct by_text *text, const char *symbol)
{
    char quoted[BY_QUOTE_MAX];
    if (!symbol || !symbol[0]) {
        by_text_add(text, "?");
        return;
    }
    by_quote(quoted, symbol);
    size_t length = strlen(quoted);
    by_text_add(text, "%.*s", (int)(length > 2 ? length - 2 : 0), quoted + 1);
}

const char *by_port_text(const struct by_port *port, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "%s [%s", by_elem_name(port->elem), port->any_rank ? "..." : "");
    for (size_t i = 0; i < port->rank; i++) {
        if (i)
            by_text_add(&text, ",");
        if (port->dims[i] >= 0)
            by_text_add(&text, "%" PRId64, port->dims[i]);
        else
            add_symbol(&text, port->symbols ? port->symbols[i] : NULL);
    }
    by_text_add(&text, "]");
    return buf;
}

static const char *stored_text(const struct by_stored *stored, char *buf, size_t size)
{
    struct by_port port = {.elem = stored->elem, .rank = stored->rank, .dims = stored->dims};
    return by_port_text(&port, buf, size);
}

/* Dimensions of the array from `skip_array` on against the port's from `skip_port` on. */
static bool fits(const struct by_port *port, size_t skip_port, const struct by_stored *stored,
                 size_t skip_array)
{
    if (port->rank - skip_port != stored->rank - skip_array)
        return false;
    for (size_t i = 0; i < port->rank - skip_port; i++) {
        const int64_t wanted = port->dims[skip_port + i];
        if (wanted >= 0 && wanted != stored->dims[skip_array + i])
            return false;
    }
    return true;
}

/* How the array's rows, its places along dimension 0, serve a batch of that many. */
static bool match_shape(const struct by_port *port, size_t batch, const struct by_stored *stored,
                        struct by_match *match)
{
    const bool batched = port->rank > 0 && batch && port->dims[0] == (int64_t)batch;
    *match = (struct by_match){.stored = stored, .rows = batched ? batch : 0};
    if (port->any_rank || fits(port, 0, stored, 0))
        return true;
    if (batched && stored->rank == port->rank && stored->dims[0] > 0 && fits(port, 1, stored, 1)) {
        match->rows = (size_t)stored->dims[0];
        match->framed = true;
        return true;
    }
    const bool room = port->rank > 0 && (batched || port->dims[0] < 0 || port->dims[0] == 1);
    match->add_batch = room && fits(port, 1, stored, 0);
    match->framed = match->add_batch && batched && batch > 1;
    match->rows = match->add_batch && batched ? 1 : 0;
    return match->add_batch;
}

static int in_port(const struct by_port *port, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_err_in(err, "input %s", by_quote(quoted, port->name));
}

/* Rows of packed types can be put side by side only where each fills whole bytes. */
static int check_packing(const struct by_port *port, const struct by_match *match,
                         struct baryon_error *err)
{
    const struct by_stored *stored = match->stored;
    const size_t skip = match->add_batch ? 0 : 1;
    size_t values, one, eight;
    if (!match->framed || port->dims[0] == 1)
        return 0;
    if (by_dims_count(stored->dims + skip, stored->rank - skip, &values, err) < 0 ||
        by_elem_bytes(stored->elem, values, &one, err) < 0)
        return -1;
    if (by_mul_overflow(values, 8, &values))
        return by_err_nomem(err, SIZE_MAX);
    if (by_elem_bytes(stored->elem, values, &eight, err) < 0)
        return -1;
    if (eight / 8 == one)
        return 0;
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "rows of packed %s values must fill whole bytes to form batches",
                   by_elem_name(stored->elem));
}

int by_match_array(const struct by_port *port, size_t batch, const struct by_stored *stored,
                   struct by_match *match, struct baryon_error *err)
{
    char want[BY_SHAPE_TEXT_MAX], have[BY_SHAPE_TEXT_MAX];
    by_port_text(port, want, sizeof want);
    stored_text(stored, have, sizeof have);
    if (!by_can_convert(stored->elem, port->elem)) {
        by_fail(err, BARYON_ERR_INPUT, "the file has %s, the model input is %s", have, want);
        if (port->elem == BY_ELEM_FLOAT && stored->elem == BY_ELEM_UINT8)
            by_err_hint(err, "prepare pictures as floats first, or give image files");
        else
            by_err_hint(
                err, "floats convert only to floats, integers and bool only to integers and bool");
        return in_port(port, err);
    }
    if (!match_shape(port, batch, stored, match)) {
        by_fail(err, BARYON_ERR_INPUT, "the file has %s, the model input is %s%s", have, want,
                stored->rank == port->rank ? "" : ": the ranks differ");
        return in_port(port, err);
    }
    return check_packing(port, match, err) < 0 ? in_port(port, err) : 0;
}

/* The names that a file has, for messages: "'a', 'b', ..." */
static void names_text(const struct by_stored *arrays, size_t count, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    for (size_t i = 0; i < count; i++) {
        char quoted[BY_QUOTE_MAX];
        by_quote(quoted, arrays[i].name);
        if (text.used + strlen(quoted) + 8 > size) {
            by_text_add(&text, ", ...");
            return;
        }
        by_text_add(&text, "%s%s", i ? ", " : "", quoted);
    }
}

static const struct by_stored *find_array(const struct by_port *port,
                                          const struct by_stored *arrays, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (arrays[i].name && strcmp(arrays[i].name, port->name) == 0)
            return &arrays[i];
    return NULL;
}

static int refuse_missing(const struct by_port *port, size_t port_count,
                          const struct by_stored *arrays, size_t count, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], names[300];
    by_quote(quoted, port->name);
    if (count == 1 && !arrays[0].name) {
        by_fail(err, BARYON_ERR_INPUT, "the file contains one array, the model has %zu inputs",
                port_count);
        return by_err_hint(
            err,
            "give a .npz with the names of the inputs, or a folder with one subfolder per input");
    }
    names_text(arrays, count, names, sizeof names);
    return by_fail(err, BARYON_ERR_INPUT, "no array for the model input %s; the file has %s",
                   quoted, names[0] ? names : "none");
}

int by_match_all(const struct by_port *ports, size_t port_count, size_t batch,
                 const struct by_stored *arrays, size_t count, struct by_match *matches,
                 bool *renamed, struct baryon_error *err)
{
    *renamed = false;
    for (size_t i = 0; i < port_count; i++) {
        const struct by_stored *found = find_array(&ports[i], arrays, count);
        if (!found && port_count == 1 && count == 1) {
            found = arrays;
            *renamed = found->name != NULL;
        }
        if (!found)
            return refuse_missing(&ports[i], port_count, arrays, count, err);
        if (by_match_array(&ports[i], batch, found, &matches[i], err) < 0)
            return -1;
    }
    return 0;
}

static void set_dims(const struct by_match *match, const struct by_match_rows *rows,
                     struct by_array *array)
{
    const struct by_stored *stored = match->stored;
    const size_t shift = match->add_batch ? 1 : 0;
    array->rank = stored->rank + shift;
    if (stored->rank)
        memcpy(array->dims + shift, stored->dims, stored->rank * sizeof *stored->dims);
    if (match->add_batch)
        array->dims[0] = 1;
    if (rows)
        array->dims[0] = (int64_t)rows->count;
}

int by_match_take(const struct by_match *match, const struct by_port *port,
                  const struct by_match_rows *rows, bool allow_nonfinite, struct by_arena *arena,
                  struct by_array *array, struct baryon_error *err)
{
    const struct by_stored *stored = match->stored;
    const uint8_t *in = stored->bytes;
    size_t count, bytes;
    if (!match->rows)
        rows = NULL;
    *array = (struct by_array){.name = port->name, .elem = port->elem};
    set_dims(match, rows, array);
    if (by_dims_count(array->dims, array->rank, &count, err) < 0 ||
        by_elem_bytes(port->elem, count, &bytes, err) < 0)
        return -1;
    if (rows)
        in += rows->first * (stored->size / match->rows);
    void *out = by_arena_alloc(arena, bytes, 1, err);
    if (!out)
        return -1;
    array->data = out;
    array->size = bytes;
    /* bool goes through the conversion, so that every byte becomes 0 or 1. */
    if (stored->elem == port->elem && port->elem != BY_ELEM_BOOL)
        memcpy(out, in, bytes);
    else if (by_convert(stored->elem, in, port->elem, out, count, array->dims, array->rank, err) <
             0)
        return -1;
    if (allow_nonfinite)
        return 0;
    return by_check_finite(port->elem, out, count, array->dims, array->rank, err);
}
