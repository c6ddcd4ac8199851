/* Samples of the baseline as the quantized model takes them: by name, other number types converted.
 */
#include "evaluate/evaluate.h"

#include "input/match.h"

#include <string.h>

static const struct by_port *find_port(const struct by_port *ports, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(ports[i].name, name))
            return &ports[i];
    return NULL;
}

static int check_input_port(const struct by_port *from, const struct by_port *to,
                            const struct by_log *log, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_quote(quoted, to->name);
    if (!from) {
        by_fail(err, BARYON_ERR_INPUT, "input %s is missing in the baseline", quoted);
        return by_err_hint(err, "both models must have the same inputs");
    }
    if (from->elem == to->elem)
        return 0;
    if (!from->elem || !to->elem || !by_can_convert(from->elem, to->elem))
        return by_fail(err, BARYON_ERR_INPUT, "input %s is %s, but %s in the baseline", quoted,
                       to->elem ? by_elem_name(to->elem) : to->kind,
                       from->elem ? by_elem_name(from->elem) : from->kind);
    by_log(log, BY_LOG_NOTICE,
           "input %s: samples are %s for the baseline and converted to %s for the quantized model",
           quoted, by_elem_name(from->elem), by_elem_name(to->elem));
    return 0;
}

int by_fitted_open(struct by_fitted *fitted, const struct by_session *baseline,
                   const struct by_session *result, struct by_arena *arena,
                   const struct by_log *log, struct baryon_error *err)
{
    size_t count;
    const struct by_port *theirs = by_session_inputs(baseline, &count);
    fitted->ports = by_session_inputs(result, &fitted->count);
    fitted->from = by_arena_alloc(arena, fitted->count, sizeof *fitted->from, err);
    fitted->arrays = by_arena_alloc(arena, fitted->count, sizeof *fitted->arrays, err);
    if (!fitted->from || !fitted->arrays)
        return -1;
    for (size_t i = 0; i < fitted->count; i++) {
        const struct by_port *from = find_port(theirs, count, fitted->ports[i].name);
        if (check_input_port(from, &fitted->ports[i], log, err) < 0)
            return by_err_in(err, "quantized model");
        fitted->from[i] = (size_t)(from - theirs);
    }
    return 0;
}

static int convert_input_array(const struct by_array *from, int64_t elem, struct by_array *to,
                               struct by_arena *arena, struct baryon_error *err)
{
    size_t count, size;
    *to = *from;
    if (from->elem == elem)
        return 0;
    if (by_dims_count(from->dims, from->rank, &count, err) < 0 ||
        by_elem_bytes(elem, count, &size, err) < 0)
        return -1;
    void *values = by_arena_alloc(arena, size, 1, err);
    if (!values ||
        by_convert(from->elem, from->data, elem, values, count, from->dims, from->rank, err) < 0)
        return -1;
    to->elem = elem;
    to->data = values;
    to->size = size;
    return 0;
}

int by_fitted_take(struct by_fitted *fitted, const struct by_array *arrays, struct by_arena *arena,
                   struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < fitted->count; i++) {
        const struct by_port *port = &fitted->ports[i];
        if (convert_input_array(&arrays[fitted->from[i]], port->elem, &fitted->arrays[i], arena,
                                err) < 0)
            return by_err_in(err, "input %s of the quantized model", by_quote(quoted, port->name));
    }
    return 0;
}
