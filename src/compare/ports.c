/* Checks that two models take the same inputs, and finds the outputs that both have. */
#include "compare/ports.h"

#include "ir/shape.h"

#include <string.h>

static const struct baryon_graph *graph_of(const struct by_compared_model *model)
{
    return model->profile.model->graph;
}

static const struct baryon_value *port_at(const struct by_compared_model *model, size_t place)
{
    const struct by_value_info *info = graph_of(model)->input.at[place];
    const struct baryon_value *value =
        info && info->name ? by_graph_value(graph_of(model), info->name) : NULL;
    return value && !value->initializer && !value->sparse ? value : NULL;
}

static bool sizes_fit(const struct by_shape *one, const struct by_shape *other)
{
    if (!one || !other)
        return true;
    if (one->rank != other->rank)
        return false;
    for (size_t i = 0; i < one->rank; i++)
        if (one->dims[i].size >= 0 && other->dims[i].size >= 0 &&
            one->dims[i].size != other->dims[i].size)
            return false;
    return true;
}

static int check_port(const struct baryon_value *port, const struct by_compared_model *to,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], shape[256], wanted[256];
    const struct baryon_value *other = by_graph_value(graph_of(to), port->name);
    by_quote(quoted, port->name);
    if (!other || !other->is_input) {
        by_fail(err, BARYON_ERR_INPUT, "input %s is missing in %s", quoted, to->name);
        return by_err_hint(err, "both models must have the same inputs");
    }
    if (sizes_fit(port->shape, other->shape))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "input %s has the shape %s, but %s in %s", quoted,
            by_shape_text(port->shape, shape, sizeof shape),
            by_shape_text(other->shape, wanted, sizeof wanted), to->name);
    return by_err_hint(err, "both models must have the same inputs");
}

static int check_ports(const struct by_compared_model *from, const struct by_compared_model *to,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < graph_of(from)->input.count; i++) {
        const struct baryon_value *port = port_at(from, i);
        if (port && check_port(port, to, err) < 0)
            return by_err_file(err, from->name);
    }
    return 0;
}

int by_compare_inputs(const struct by_compared_model *a, const struct by_compared_model *b,
                      struct baryon_error *err)
{
    return check_ports(a, b, err) < 0 || check_ports(b, a, err) < 0 ? -1 : 0;
}

static bool has_output(const struct baryon_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->output.count; i++) {
        const struct by_value_info *info = graph->output.at[i];
        if (info && info->name && !strcmp(info->name, name))
            return true;
    }
    return false;
}

int by_compare_outputs(const struct by_compared_model *a, const struct by_compared_model *b,
                       struct by_arena *arena, struct by_setting_texts *outputs,
                       const struct by_log *log, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_ptrs *list = &graph_of(a)->output;
    const char **names = by_arena_alloc(arena, list->count, sizeof *names, err);
    if (!names)
        return -1;
    *outputs = (struct by_setting_texts){.at = names};
    for (size_t i = 0; i < list->count; i++) {
        const struct by_value_info *info = list->at[i];
        if (!info || !info->name)
            continue;
        if (has_output(graph_of(b), info->name))
            names[outputs->count++] = info->name;
        else
            by_log(log, BY_LOG_NOTICE, "output %s is missing in %s and not compared",
                   by_quote(quoted, info->name), b->name);
    }
    if (outputs->count)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "no output of %s has the name of one of %s", b->name, a->name);
    return by_err_hint(err, "outputs are compared by name");
}
