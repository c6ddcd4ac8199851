/* Declared types and names of graphs. */
#include "ir/tensor.h"

#include "onnx/check_rule.h"

#include <string.h>

/* --- names of graphs, and that something comes out of the model --- */

/* ONNX asks for one; nothing that runs models does. */
static int check_graph_name(struct by_check *check, const struct baryon_graph *graph,
                            struct baryon_error *err)
{
    if (graph->name && *graph->name)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "the graph has no name, ONNX requires one");
    by_err_in(err, "name");
    return by_report(check, BY_FINDING_WARNING, &graph->msg, err);
}

const struct by_model_rule by_rule_graph_name = {.worst = BY_FINDING_WARNING,
                                                 .graph = check_graph_name};

static int check_outputs(struct by_check *check, struct baryon_error *err)
{
    if (check->model->graph->output.count)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "the model has no outputs, must have at least one");
    by_err_in(err, "graph.output");
    return by_report(check, BY_FINDING_ERROR, &check->model->graph->msg, err);
}

const struct by_model_rule by_rule_outputs = {.worst = BY_FINDING_ERROR, .start = check_outputs};

/* --- types --- */

static int check_elem(int64_t elem, const char *field, struct baryon_error *err)
{
    if (by_elem_info(elem))
        return 0;
    if (elem == BY_ELEM_UNDEFINED)
        by_fail(err, BARYON_ERR_INPUT, "no element type, must be given");
    else
        by_fail(err, BARYON_ERR_UNSUPPORTED, "element type %lld, must be 1 to %d", (long long)elem,
                BY_ELEM_COUNT - 1);
    return by_err_in(err, "%s", field);
}

static int check_type(const struct by_type *type, struct baryon_error *err);

static int check_map(const struct by_map_type *map, struct baryon_error *err)
{
    const struct by_elem_info *info = by_elem_info(map->key_type);
    if (!info || (info->class != BY_CLASS_INT && map->key_type != BY_ELEM_STRING)) {
        by_fail(err, BARYON_ERR_INPUT, "keys of type %s, must be integers or strings",
                by_elem_name(map->key_type));
        return by_err_in(err, "key_type");
    }
    if (!map->value_type)
        return by_fail(err, BARYON_ERR_INPUT, "a map without a value type, must be given");
    return check_type(map->value_type, err) ? by_err_in(err, "value_type") : 0;
}

static int check_inner(const struct by_type *inner, struct baryon_error *err)
{
    if (!inner)
        return by_fail(err, BARYON_ERR_INPUT, "no type of its elements, must be given");
    return check_type(inner, err) ? by_err_in(err, "elem_type") : 0;
}

static int check_tensor_type(const struct by_tensor_type *type, struct baryon_error *err)
{
    return check_elem(type->elem_type, "elem_type", err);
}

/* Recursion is bounded: the decoder limits how deep messages nest. */
static int check_type(const struct by_type *type, struct baryon_error *err)
{
    if (type->tensor)
        return check_tensor_type(type->tensor, err) ? by_err_in(err, "tensor_type") : 0;
    if (type->sparse_tensor)
        return check_tensor_type(type->sparse_tensor, err) ? by_err_in(err, "sparse_tensor_type")
                                                           : 0;
    if (type->sequence)
        return check_inner(type->sequence->elem_type, err) ? by_err_in(err, "sequence_type") : 0;
    if (type->optional)
        return check_inner(type->optional->elem_type, err) ? by_err_in(err, "optional_type") : 0;
    if (type->map)
        return check_map(type->map, err) ? by_err_in(err, "map_type") : 0;
    if (type->opaque)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT, "an empty type, must be given");
}

static size_t count_kinds(const struct by_type *type)
{
    return (size_t) !!type->tensor + !!type->sparse_tensor + !!type->sequence + !!type->optional +
           !!type->map + !!type->opaque;
}

static int missing(struct by_check *check, const struct by_value_info *info, const char *what,
                   enum by_severity severity, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT,
            "%s has no %s, must be declared for inputs and outputs of a model",
            by_quote(quoted, info->name ? info->name : ""), what);
    return by_report(check, severity, &info->msg, err);
}

static const struct by_tensor_type *tensor_type(const struct by_type *type)
{
    return type->tensor ? type->tensor : type->sparse_tensor;
}

/* -1 is what many write for an open dimension. */
static int check_dims(struct by_check *check, const struct by_value_info *info,
                      struct baryon_error *err)
{
    const struct by_tensor_type *type = tensor_type(info->type);
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; type && type->shape && i < type->shape->dims.count; i++) {
        const struct by_dim *dim = type->shape->dims.at[i];
        if (!dim || dim->value >= -1)
            continue;
        by_fail(err, BARYON_ERR_INPUT, "%s: dimension %lld, must be 0 or more",
                by_quote(quoted, info->name ? info->name : ""), (long long)dim->value);
        by_err_in(err, "type.%s.shape.dim[%zu]",
                  info->type->tensor ? "tensor_type" : "sparse_tensor_type", i);
        if (by_report(check, BY_FINDING_WARNING, &info->msg, err))
            return -1;
    }
    return 0;
}

/* What an output lacks is found when the model runs; many exporters leave it out. */
static int check_port(struct by_check *check, const struct by_value_info *info,
                      enum by_info_role role, struct baryon_error *err)
{
    if (!info->type || !count_kinds(info->type))
        return missing(check, info, "type",
                       role == BY_INFO_INPUT ? BY_FINDING_ERROR : BY_FINDING_WARNING, err);
    if (tensor_type(info->type) && !tensor_type(info->type)->shape)
        return missing(check, info, "shape", BY_FINDING_WARNING, err);
    return 0;
}

static bool is_unknown_elem(const struct by_type *type)
{
    return tensor_type(type) && !tensor_type(type)->elem_type;
}

/* In the outermost graph inputs and outputs are what a runtime goes by; elsewhere types are
 * a help, and one without an element type only says that it is not known. */
static int check_info(struct by_check *check, const struct by_value_info *info,
                      enum by_info_role role, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *name = by_quote(quoted, info->name ? info->name : "");
    const bool port = role != BY_INFO_VALUE && !check->scope.function && !check->scope.training &&
                      !check->scope.depth;
    if (port && check_port(check, info, role, err))
        return -1;
    if (!info->type || !count_kinds(info->type) || (!port && is_unknown_elem(info->type)))
        return 0;
    if (count_kinds(info->type) > 1)
        by_fail(err, BARYON_ERR_INPUT, "%s has several types, must have one", name);
    else if (!check_type(info->type, err))
        return check_dims(check, info, err);
    by_err_in(err, "type");
    return by_report(check, port ? BY_FINDING_ERROR : BY_FINDING_WARNING, &info->msg, err);
}

const struct by_model_rule by_rule_value_type = {.worst = BY_FINDING_ERROR, .info = check_info};
