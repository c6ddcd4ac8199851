/* Checks that the arrays of a run fit the inputs and outputs of the model. */
#include "base/str.h"
#include "base/text.h"
#include "engine/session_internal.h"

#include <inttypes.h>
#include <string.h>

#define SHOWN_MAX 240

static void add_symbol(struct by_text *text, const char *symbol)
{
    char quoted[BY_QUOTE_MAX];
    by_quote(quoted, symbol);
    if (symbol[0])
        by_text_add(text, "%.*s", (int)strlen(quoted) - 2, quoted + 1);
    else
        by_text_add(text, "?");
}

/* "float32 [N,3,?]" */
static const char *shape_text(int64_t elem, bool any_rank, size_t rank, const int64_t *dims,
                              const char *const *symbols, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "%s [%s", by_elem_name(elem), any_rank ? "..." : "");
    for (size_t i = 0; i < rank; i++) {
        if (i)
            by_text_add(&text, ",");
        if (dims[i] >= 0 || !symbols)
            by_text_add(&text, "%" PRId64, dims[i]);
        else
            add_symbol(&text, symbols[i]);
    }
    by_text_add(&text, "]");
    return buf;
}

static const char *port_text(const struct by_port *port, char *buf, size_t size)
{
    return shape_text(port->elem, port->any_rank, port->rank, port->dims, port->symbols, buf, size);
}

static const char *array_text(const struct by_array *array, char *buf, size_t size)
{
    return shape_text(array->elem, false, array->rank, array->dims, NULL, buf, size);
}

static const char *names_text(const struct by_ports *ports, char *buf, size_t size)
{
    struct by_text text;
    char quoted[BY_QUOTE_MAX];
    by_text_init(&text, buf, size);
    for (size_t i = 0; i < ports->count; i++) {
        by_quote(quoted, ports->at[i].name);
        if (text.used + strlen(quoted) + sizeof ", , ..." > size) {
            by_text_add(&text, ", ...");
            break;
        }
        by_text_add(&text, "%s%s", i ? ", " : "", quoted);
    }
    return buf;
}

/* Hints at the nearest name, or at all there are. */
static int hint_names(const struct by_ports *ports, const char *name, const char *what,
                      struct baryon_error *err)
{
    char list[SHOWN_MAX - 40], quoted[BY_QUOTE_MAX];
    const char *nearest = NULL;
    unsigned best = UINT32_MAX;
    for (size_t i = 0; i < ports->count; i++) {
        const char *found = by_nearest(name, (const char *const[]){ports->at[i].name}, 1);
        unsigned distance = found ? by_edit_distance(name, found) : UINT32_MAX;
        if (distance < best) {
            best = distance;
            nearest = found;
        }
    }
    if (nearest)
        return by_err_hint(err, "did you mean %.200s?", by_quote(quoted, nearest));
    if (!ports->count)
        return by_err_hint(err, "it has no %ss", what);
    return by_err_hint(err, "its %ss are %s", what, names_text(ports, list, sizeof list));
}

static const struct by_port *find_input(const struct by_session *session, const char *name)
{
    const struct by_port *port = by_map_get(&session->inputs.by_name, name);
    return port ? port : by_map_get(&session->optional_inputs.by_name, name);
}

static bool shape_fits(const struct by_port *port, const struct by_array *array)
{
    if (port->any_rank)
        return true;
    if (port->rank != array->rank)
        return false;
    for (size_t i = 0; i < port->rank; i++)
        if (port->dims[i] >= 0 && port->dims[i] != array->dims[i])
            return false;
    return true;
}

/* The array is what it says: its size is that of its shape. */
static int check_array(const struct by_array *array, struct baryon_error *err)
{
    size_t count, size;
    if (array->rank > BY_RANK_MAX)
        return by_fail(err, BARYON_ERR_USAGE, "rank %zu, must be at most %d", array->rank,
                       BY_RANK_MAX);
    if (by_dims_count(array->dims, array->rank, &count, err))
        return -1;
    if (array->elem == BY_ELEM_STRING)
        size = count * sizeof(char *);
    else if (by_elem_bytes(array->elem, count, &size, err))
        return -1;
    char shape[SHOWN_MAX];
    if (size != array->size)
        return by_fail(err, BARYON_ERR_USAGE, "%zu bytes are given, %s has %zu", array->size,
                       array_text(array, shape, sizeof shape), size);
    if (size && !array->data)
        return by_fail(err, BARYON_ERR_USAGE, "no data is given");
    return 0;
}

static int check_input(const struct by_port *port, const struct by_array *array,
                       struct baryon_error *err)
{
    char have[SHOWN_MAX], want[SHOWN_MAX];
    if (strcmp(port->kind, "tensor") != 0)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "the model input is a %s, must be a tensor",
                       port->kind);
    if (check_array(array, err))
        return -1;
    array_text(array, have, sizeof have);
    port_text(port, want, sizeof want);
    if (port->elem != array->elem)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the data is %s, the model input is %s: the types differ", have, want);
    if (!shape_fits(port, array))
        return by_fail(err, BARYON_ERR_INPUT, "the data is %s, the model input is %s%s", have, want,
                       port->rank == array->rank ? "" : ": the ranks differ");
    return 0;
}

static int refuse_missing(const struct by_session *session, const struct by_port *port,
                          struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], list[SHOWN_MAX];
    if (strcmp(port->kind, "tensor") != 0)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "model input %.200s is a %s, must be a tensor",
                       by_quote(quoted, port->name), port->kind);
    by_fail(err, BARYON_ERR_INPUT, "model input %.200s is missing", by_quote(quoted, port->name));
    return by_err_hint(err, "its inputs are %s",
                       names_text(&session->inputs, list, sizeof list - 20));
}

static int check_given(const struct by_session *session, const struct by_array *array,
                       struct by_map *given, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_port *port = find_input(session, array->name);
    if (!port) {
        by_fail(err, BARYON_ERR_INPUT, "the model has no input %.200s",
                by_quote(quoted, array->name));
        return hint_names(&session->inputs, array->name, "input", err);
    }
    if (by_map_get(given, array->name))
        return by_fail(err, BARYON_ERR_USAGE, "input %.200s is given twice",
                       by_quote(quoted, array->name));
    if (check_input(port, array, err))
        return by_err_in(err, "input %s", by_quote(quoted, array->name));
    return by_map_put(given, port->name, (void *)(uintptr_t)port, err);
}

int by_run_check_inputs(const struct by_session *session, const struct by_array *inputs,
                        size_t count, struct baryon_error *err)
{
    struct by_map given;
    by_map_init(&given);
    int result = 0;
    for (size_t i = 0; i < count && !result; i++)
        result = check_given(session, &inputs[i], &given, err);
    for (size_t i = 0; i < session->inputs.count && !result; i++)
        if (!by_map_get(&given, session->inputs.at[i].name))
            result = refuse_missing(session, &session->inputs.at[i], err);
    by_map_release(&given);
    return result;
}

const struct by_port *by_run_find_output(const struct by_session *session, const char *name,
                                         struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_port *port = by_map_get(&session->outputs.by_name, name);
    if (!port) {
        by_fail(err, BARYON_ERR_USAGE, "the model has no output %.200s", by_quote(quoted, name));
        hint_names(&session->outputs, name, "output", err);
        return NULL;
    }
    if (strcmp(port->kind, "tensor") == 0)
        return port;
    by_fail(err, BARYON_ERR_UNSUPPORTED, "model output %.200s is a %s, must be a tensor",
            by_quote(quoted, name), port->kind);
    by_err_hint(err, "select other outputs by name");
    return NULL;
}
