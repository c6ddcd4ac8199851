/*
 * Inputs and outputs get the sizes that the user names, "NAME:[1,3,224,224];...". A symbol that
 * gets a size so gets it in all inputs; what the model declares about other values follows.
 */
#include "base/str.h"
#include "pass/edit.h"
#include "pass/passes.h"

#include <stdio.h>
#include <string.h>

struct wish {
    struct baryon_value *value;
    int64_t dims[BY_RANK_MAX];
    size_t rank;
};

struct symbol {
    int64_t size;
};

/* --- Reading the text --- */

static int unknown_name(const struct baryon_graph *graph, const char *name,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *names[256];
    size_t count = 0;
    const struct by_ptrs *lists[] = {&graph->input, &graph->output};
    for (size_t k = 0; k < 2; k++) {
        for (size_t i = 0; i < lists[k]->count && count < 256; i++) {
            const struct by_value_info *info = lists[k]->at[i];
            if (info && info->name)
                names[count++] = info->name;
        }
    }
    by_fail(err, BARYON_ERR_USAGE, "fix-shapes: the model has no input or output %s",
            by_quote(quoted, name));
    const char *near = by_nearest(name, names, count);
    return near ? by_err_hint(err, "did you mean %s?", by_quote(quoted, near)) : -1;
}

static int read_dims(char *text, struct wish *wish, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    char *rest = text, *word;
    wish->rank = 0;
    while (*text && (word = strsep(&rest, ","))) {
        word += strspn(word, " ");
        word[strcspn(word, " ")] = '\0';
        if (wish->rank == BY_RANK_MAX || !by_parse_i64(word, &wish->dims[wish->rank]) ||
            wish->dims[wish->rank] < 0)
            return by_fail(err, BARYON_ERR_USAGE,
                           "fix-shapes: %s is not a size, a shape must be NAME:[1,3,224,224]",
                           by_quote(quoted, word));
        wish->rank++;
    }
    return 0;
}

static int read_wish(struct by_pass_context *context, char *item, struct wish *wish,
                     struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    char *open = strstr(item, ":["), *close = open ? strchr(open, ']') : NULL;
    if (!close || close[1 + strspn(close + 1, " ")])
        return by_fail(err, BARYON_ERR_USAGE,
                       "fix-shapes: %s is not a shape, must be NAME:[1,3,224,224]",
                       by_quote(quoted, item));
    *open = *close = '\0';
    const struct baryon_graph *graph = context->model->graph;
    wish->value = by_graph_value(graph, item);
    if (!wish->value || (!wish->value->is_input && !by_value_is_output(wish->value)))
        return unknown_name(graph, item, err);
    return read_dims(open + 2, wish, err);
}

/* --- Writing sizes --- */

static struct by_shape_msg *declared(const struct by_value_info *info)
{
    return info && info->type && info->type->tensor ? info->type->tensor->shape : NULL;
}

static void write_size(struct by_dim *dim, int64_t size)
{
    dim->value = size;
    dim->msg.has |= BY_HAS_DIM_VALUE;
    dim->param = NULL;
}

static int learn(struct by_pass_context *context, struct by_map *symbols, const char *name,
                 int64_t size, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct symbol *symbol = by_map_get(symbols, name);
    if (symbol)
        return symbol->size == size
                   ? 0
                   : by_fail(err, BARYON_ERR_USAGE,
                             "fix-shapes: dimension %s is %lld and %lld, must be one size",
                             by_quote(quoted, name), (long long)symbol->size, (long long)size);
    if (!(symbol = BY_ARENA_NEW(&context->model->arena, struct symbol, err)))
        return -1;
    symbol->size = size;
    return by_map_put(symbols, name, symbol, err);
}

/* A shape for a value that had none. */
static int declare(struct by_pass_context *context, const struct wish *wish,
                   struct baryon_error *err)
{
    const struct by_shape *shape;
    struct baryon_model *model = context->model;
    struct by_value_info *info = wish->value->info;
    if (by_shape_from_dims(&model->arena, wish->dims, wish->rank, &shape, err))
        return -1;
    struct by_type *type = by_type_tensor(model, wish->value->elem, shape, err);
    if (!type || !info)
        return type ? by_fail(err, BARYON_ERR_INPUT, "fix-shapes: a tensor has no type") : -1;
    info->type = type;
    context->changes++;
    return 0;
}

static int fix(struct by_pass_context *context, const struct wish *wish, struct by_map *symbols,
               struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    struct by_shape_msg *shape = declared(wish->value->info);
    if (!shape)
        return declare(context, wish, err);
    if (shape->dims.count != wish->rank)
        return by_fail(err, BARYON_ERR_USAGE,
                       "fix-shapes: %s has %zu dimensions, %zu sizes are given",
                       by_quote(quoted, wish->value->name), shape->dims.count, wish->rank);
    for (size_t i = 0; i < wish->rank; i++) {
        struct by_dim *dim = shape->dims.at[i];
        if (by_dim_is_number(dim) && dim->value == wish->dims[i])
            continue;
        if (!by_dim_is_number(dim) && dim->param && *dim->param &&
            learn(context, symbols, dim->param, wish->dims[i], err))
            return -1;
        write_size(dim, wish->dims[i]);
        context->changes++;
    }
    return 0;
}

static void fix_symbols(struct by_pass_context *context, const struct by_map *symbols)
{
    const struct by_ptrs *inputs = &context->model->graph->input;
    for (size_t k = 0; k < inputs->count; k++) {
        struct by_shape_msg *shape = declared(inputs->at[k]);
        for (size_t i = 0; shape && i < shape->dims.count; i++) {
            struct by_dim *dim = shape->dims.at[i];
            const struct symbol *symbol =
                !by_dim_is_number(dim) && dim->param ? by_map_get(symbols, dim->param) : NULL;
            if (!symbol)
                continue;
            write_size(dim, symbol->size);
            context->changes++;
        }
    }
}

/* --- What follows --- */

/* The rules know better by now than what is declared. */
static void follow(const struct baryon_value *value)
{
    const struct by_shape_msg *shape = value ? declared(value->info) : NULL;
    if (!shape || value->is_input || !value->shape || value->shape->rank != shape->dims.count)
        return;
    for (size_t i = 0; i < value->shape->rank; i++) {
        struct by_dim *dim = shape->dims.at[i];
        const int64_t size = value->shape->dims[i].size;
        if (size >= 0 && !(by_dim_is_number(dim) && dim->value == size))
            write_size(dim, size);
    }
}

static int check_kept(const struct wish *wish, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_shape *shape = wish->value->shape;
    for (size_t i = 0; shape && shape->rank == wish->rank && i < wish->rank; i++)
        if (shape->dims[i].size >= 0 && shape->dims[i].size != wish->dims[i])
            return by_fail(err, BARYON_ERR_USAGE,
                           "fix-shapes: dimension %zu of %s is %lld by shape inference, not %lld",
                           i, by_quote(quoted, wish->value->name), (long long)shape->dims[i].size,
                           (long long)wish->dims[i]);
    return 0;
}

static int apply_wishes(struct by_pass_context *context, const struct wish *wishes, size_t count,
                        struct baryon_error *err)
{
    struct by_map symbols;
    int failed = 0;
    by_map_init(&symbols);
    for (size_t i = 0; i < count && !failed; i++)
        failed = fix(context, &wishes[i], &symbols, err);
    if (!failed)
        fix_symbols(context, &symbols);
    by_map_release(&symbols);
    if (failed || by_model_infer(context->model, NULL, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (check_kept(&wishes[i], err))
            return -1;
    const struct by_ptrs *values = &context->model->graph->all_values;
    for (size_t i = 0; i < values->count; i++)
        follow(values->at[i]);
    return 0;
}

static int run_fix_shapes(struct by_pass_context *context, struct baryon_error *err)
{
    if (!context->fix_shapes || !*context->fix_shapes)
        return 0;
    char *copy = by_strdup(context->fix_shapes, err);
    size_t count = 0, most = 1;
    for (const char *at = copy; at && *at; at++)
        most += *at == ';';
    struct wish *wishes = copy ? by_alloc(most, sizeof *wishes, err) : NULL;
    int failed = wishes ? 0 : -1;
    char *rest = copy, *item;
    while (!failed && (item = strsep(&rest, ";")))
        if (item[strspn(item, " ")])
            failed = read_wish(context, item + strspn(item, " "), &wishes[count++], err);
    if (!failed)
        failed = apply_wishes(context, wishes, count, err);
    by_free(wishes);
    by_free(copy);
    return failed;
}

const struct by_pass by_pass_fix_shapes = {
    .name = "fix-shapes",
    .alias = "FixShapes",
    .help = "Set the shapes of inputs and outputs to the given sizes",
    .exact = true,
    .shapes = true,
    .run = run_fix_shapes,
};
