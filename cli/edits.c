/* Edits a model for `baryon copy`: fixes dimensions and renames inputs and outputs. */
#include "cli/edits.h"

#include "base/str.h"
#include "cli/inspect.h"
#include "cli/names.h"
#include "cli/opt.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool has_symbol(const struct by_dim *dim, const char *symbol)
{
    return !by_dim_is_number(dim) && dim->param && !strcmp(dim->param, symbol);
}

static void fix(struct by_dim *dim, int64_t size)
{
    dim->value = size;
    dim->param = NULL;
}

struct fixing {
    const char *symbol;
    int64_t size;
    size_t count;
};

static void fix_infos(struct fixing *fixing, const struct by_ptrs *infos)
{
    for (size_t i = 0; i < infos->count; i++) {
        const struct by_value_info *info = infos->at[i];
        const struct by_shape_msg *shape = info ? by_type_shape(info->type) : NULL;
        for (size_t k = 0; shape && k < shape->dims.count; k++)
            if (has_symbol(shape->dims.at[k], fixing->symbol)) {
                fix(shape->dims.at[k], fixing->size);
                fixing->count++;
            }
    }
}

static int fix_graph(void *context, struct baryon_graph *graph, unsigned depth,
                     struct baryon_error *err)
{
    (void)depth, (void)err;
    fix_infos(context, &graph->input);
    fix_infos(context, &graph->output);
    fix_infos(context, &graph->value_info);
    return 0;
}

/* "INPUT:AXIS" to the dimension; NULL when the text is not that. */
static struct by_dim *dim_of(const struct baryon_model *model, const char *text)
{
    const char *colon = strrchr(text, ':');
    int64_t axis;
    if (!colon || !by_parse_i64(colon + 1, &axis) || axis < 0)
        return NULL;
    for (size_t i = 0; i < model->graph->input.count; i++) {
        const struct by_value_info *info = model->graph->input.at[i];
        const struct by_shape_msg *shape = info ? by_type_shape(info->type) : NULL;
        if (!shape || !info->name || strlen(info->name) != (size_t)(colon - text) ||
            strncmp(info->name, text, (size_t)(colon - text)) != 0)
            continue;
        return (uint64_t)axis < shape->dims.count ? shape->dims.at[axis] : NULL;
    }
    return NULL;
}

/* Appends the symbols of the model's inputs, each once. */
static void list_symbols(const struct baryon_model *model, struct by_str *str)
{
    for (size_t i = 0; i < model->graph->input.count; i++) {
        const struct by_value_info *info = model->graph->input.at[i];
        const struct by_shape_msg *shape = info ? by_type_shape(info->type) : NULL;
        for (size_t k = 0; shape && k < shape->dims.count; k++) {
            const struct by_dim *dim = shape->dims.at[k];
            char name[600], quoted[BY_QUOTE_MAX];
            if (by_dim_is_number(dim))
                continue;
            if (dim->param && *dim->param)
                snprintf(name, sizeof name, "%s", by_quote(quoted, dim->param));
            else
                snprintf(name, sizeof name, "%s:%zu", info->name ? info->name : "", k);
            if (str->size && strstr(by_str_text(str), name))
                continue;
            by_str_printf(str, "%s%s", str->size ? ", " : "", name);
        }
    }
}

static int no_such_dim(const struct baryon_model *model, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct by_str symbols;
    by_fail(err, BARYON_ERR_USAGE, "the model has no symbolic dimension %s",
            by_quote(quoted, name));
    by_str_init(&symbols);
    list_symbols(model, &symbols);
    if (symbols.size)
        by_err_hint(err, "its symbolic dimensions are %s", by_str_text(&symbols));
    else
        by_err_hint(err, "all dimensions of its inputs are fixed");
    by_str_release(&symbols);
    return -1;
}

static int edit_shape(struct baryon_model *model, const struct by_setting_pair *shape,
                      struct baryon_error *err)
{
    struct fixing fixing = {.symbol = shape->name, .size = shape->size};
    struct by_dim *dim = dim_of(model, shape->name);
    if (dim && by_dim_is_number(dim)) {
        if (dim->value == shape->size)
            return 0;
        return by_fail(err, BARYON_ERR_USAGE, "dimension %s is fixed to %" PRId64 " in the model",
                       shape->name, dim->value);
    }
    if (dim && !(dim->param && *dim->param)) {
        fix(dim, shape->size);
        return 0;
    }
    if (dim)
        fixing.symbol = dim->param;
    if (by_model_each_graph(model, fix_graph, &fixing, err) < 0)
        return -1;
    return fixing.count ? 0 : no_such_dim(model, shape->name, err);
}

int by_edit_shapes(struct baryon_model *model, const struct by_setting_pairs *shapes,
                   struct baryon_error *err)
{
    for (size_t i = 0; i < shapes->count; i++)
        if (edit_shape(model, &shapes->at[i], err) < 0)
            return by_err_option(err, "shape");
    return 0;
}

static int no_such_value(const struct baryon_graph *graph, const char *name,
                         struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "the main graph has no tensor %s", by_quote(quoted, name));
    const char *near = by_graph_nearest(graph, name, false);
    return near ? by_err_hint(err, "did you mean %s?", by_quote(quoted, near)) : -1;
}

int by_edit_names(struct baryon_model *model, const struct by_setting_pairs *names,
                  struct baryon_error *err)
{
    for (size_t i = 0; i < names->count; i++) {
        struct baryon_value *value = by_graph_value(model->graph, names->at[i].name);
        const char *name = by_model_name(model, names->at[i].value, err);
        int status = !name   ? -1
                     : value ? by_value_rename(value, name, err)
                             : no_such_value(model->graph, names->at[i].name, err);
        if (status < 0)
            return by_err_option(err, "rename");
    }
    return 0;
}
