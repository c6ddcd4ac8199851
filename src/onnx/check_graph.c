/* What is looked at in the linked graphs, or summed up over all nodes. */
#include "ir/infer.h"
#include "ir/tensor.h"
#include "onnx/check_rule.h"

#include <stdio.h>
#include <string.h>

/* --- order --- */

static int check_order(struct by_check *check, const struct baryon_graph *graph,
                       struct baryon_error *err)
{
    const struct baryon_node *late;
    char label[BY_QUOTE_MAX + 80];
    if (check->options->any_order || by_graph_is_sorted(graph, &late))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s is before a node that produces its input, must be after it",
            by_node_label(late, label, sizeof label));
    by_err_hint(err, "sort the nodes with 'baryon copy --sort'");
    by_err_in(err, "node[%zu]", late->index);
    return by_report(check, BY_FINDING_ERROR, &late->msg, err);
}

const struct by_model_rule by_rule_order = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
    .graph = check_order,
};

/* --- outputs of nested graphs --- */

static int check_outer(struct by_check *check, const struct baryon_graph *graph,
                       struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < graph->output.count && graph->owner; i++) {
        const struct baryon_value *value = by_graph_out(graph, i);
        const struct by_value_info *info = graph->output.at[i];
        if (!value || value->graph == graph)
            continue;
        by_fail(err, BARYON_ERR_INPUT,
                "output %s of a nested graph is a tensor of an outer graph, must be its own",
                by_quote(quoted, value->name));
        by_err_hint(err, "insert an Identity");
        by_err_in(err, "output[%zu]", i);
        if (by_report(check, BY_FINDING_ERROR, &info->msg, err))
            return -1;
    }
    return 0;
}

const struct by_model_rule by_rule_outer_output = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
    .graph = check_outer,
};

/* --- annotations --- */

static int check_annotation(struct by_check *check, const struct baryon_graph *graph,
                            const struct by_annotation *annotation, size_t index,
                            struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], key[BY_QUOTE_MAX], name[512];
    const char *tensor = annotation->tensor_name ? annotation->tensor_name : "";
    if (!by_graph_value(graph, tensor)) {
        by_fail(err, BARYON_ERR_INPUT, "an annotation for %s, which does not exist",
                by_quote(quoted, tensor));
        by_err_in(err, "quantization_annotation[%zu]", index);
        return by_report(check, BY_FINDING_WARNING, &annotation->msg, err);
    }
    for (size_t i = 0; i < annotation->names.count; i++) {
        const struct by_pair *pair = annotation->names.at[i];
        if (!pair)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(pair->value.size < 500 ? pair->value.size : 500),
                 (const char *)pair->value.data);
        if (pair->value.size >= 500 || by_graph_value(graph, name))
            continue;
        by_fail(err, BARYON_ERR_INPUT, "%s names %s, which does not exist",
                pair->key ? by_quote(key, pair->key) : "a key", by_quote(quoted, name));
        by_err_in(err, "quantization_annotation[%zu].quant_parameter_tensor_names[%zu]", index, i);
        if (by_report(check, BY_FINDING_WARNING, &pair->msg, err))
            return -1;
    }
    return 0;
}

static int check_annotations(struct by_check *check, const struct baryon_graph *graph,
                             struct baryon_error *err)
{
    for (size_t i = 0; i < graph->annotation.count; i++)
        if (graph->annotation.at[i] &&
            check_annotation(check, graph, graph->annotation.at[i], i, err))
            return -1;
    return 0;
}

const struct by_model_rule by_rule_annotation = {
    .worst = BY_FINDING_WARNING,
    .linked = true,
    .graph = check_annotations,
};

/* --- types of values that are not there --- */

struct info_counts {
    struct by_mark unknown, twice;
    const char *first_unknown, *first_twice;
};

/* Two dimensions that are numbers, and not the same one. */
static bool dims_differ(const struct by_dim *a, const struct by_dim *b)
{
    return a && b && !a->param && !b->param && by_dim_is_number(a) && by_dim_is_number(b) &&
           a->value >= 0 && b->value >= 0 && a->value != b->value;
}

/* "float32 instead of int64", "rank 3 instead of 2"; false where the two types agree. */
static bool types_differ(const struct by_tensor_type *a, const struct by_tensor_type *b, char *buf,
                         size_t size)
{
    if (by_elem_info(a->elem_type) && by_elem_info(b->elem_type) && a->elem_type != b->elem_type) {
        snprintf(buf, size, "the element type %s, not %s", by_elem_name(a->elem_type),
                 by_elem_name(b->elem_type));
        return true;
    }
    if (!a->shape || !b->shape)
        return false;
    if (a->shape->dims.count != b->shape->dims.count) {
        snprintf(buf, size, "the rank %zu, not %zu", a->shape->dims.count, b->shape->dims.count);
        return true;
    }
    for (size_t i = 0; i < a->shape->dims.count; i++) {
        const struct by_dim *one = a->shape->dims.at[i], *other = b->shape->dims.at[i];
        if (dims_differ(one, other)) {
            snprintf(buf, size, "dimension %zu of size %lld, not %lld", i, (long long)one->value,
                     (long long)other->value);
            return true;
        }
    }
    return false;
}

/* What a graph says of an input or output of its own must not be contradicted by value_info. */
static int check_second_type(struct by_check *check, const struct baryon_value *value,
                             const struct by_value_info *info, size_t place,
                             struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], what[120];
    if ((!value->is_input && !value->output_count) || !value->info || value->info == info ||
        !value->info->type || !info->type || !value->info->type->tensor || !info->type->tensor ||
        !types_differ(info->type->tensor, value->info->type->tensor, what, sizeof what))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%s: value_info declares %s as the graph's %s does",
            by_quote(quoted, value->name), what, value->is_input ? "input" : "output");
    by_err_in(err, "value_info[%zu]", place);
    return by_report(check, BY_FINDING_ERROR, &info->msg, err);
}

static int count_infos(struct by_check *check, const struct baryon_graph *graph,
                       struct baryon_error *err)
{
    struct info_counts *counts = check->state;
    char more[40];
    for (size_t i = 0; i < graph->value_info.count; i++) {
        const struct by_value_info *info = graph->value_info.at[i];
        if (!info)
            continue;
        const char *name = info->name ? info->name : "";
        const struct baryon_value *value = by_map_get(&graph->values, name);
        snprintf(more, sizeof more, "value_info[%zu]", i);
        if (!value) {
            if (!counts->unknown.count)
                counts->first_unknown = name;
            by_mark(check, &counts->unknown, &info->msg, more);
        } else if (value->info_slot != BY_NO_SLOT && value->info_slot != i) {
            if (!counts->twice.count)
                counts->first_twice = name;
            by_mark(check, &counts->twice, &info->msg, more);
        }
        if (value && check_second_type(check, value, info, i, err))
            return -1;
    }
    return 0;
}

static int report_infos(struct by_check *check, struct baryon_error *err)
{
    const struct info_counts *counts = check->state;
    char quoted[BY_QUOTE_MAX];
    if (counts->unknown.count) {
        by_fail(err, BARYON_ERR_INPUT, "types of %zu tensor%s that do not exist, the first is %s",
                counts->unknown.count, counts->unknown.count == 1 ? "" : "s",
                by_quote(quoted, counts->first_unknown));
        if (by_report_mark(check, BY_FINDING_NOTICE, &counts->unknown, err))
            return -1;
    }
    if (!counts->twice.count)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%zu tensor%s with two types, the first is %s",
            counts->twice.count, counts->twice.count == 1 ? "" : "s",
            by_quote(quoted, counts->first_twice));
    return by_report_mark(check, BY_FINDING_NOTICE, &counts->twice, err);
}

const struct by_model_rule by_rule_value_info = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
    .state_size = sizeof(struct info_counts),
    .graph = count_infos,
    .finish = report_infos,
};

/* --- unused initializers --- */

struct unused_count {
    struct by_mark mark;
    const char *first;
    uint64_t bytes;
};

/* Of numbers; strings count as nothing. */
static uint64_t payload_size(const struct baryon_tensor *tensor)
{
    size_t count, bytes;
    if (by_tensor_count(tensor, &count, NULL) ||
        by_elem_bytes(tensor->data_type, count, &bytes, NULL))
        return 0;
    return bytes;
}

static int count_unused(struct by_check *check, const struct baryon_graph *graph,
                        struct baryon_error *err)
{
    struct unused_count *unused = check->state;
    char more[40];
    (void)err;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (!value || !value->initializer || value->use_count || value->pinned || value->mentions)
            continue;
        if (!unused->mark.count)
            unused->first = value->name;
        snprintf(more, sizeof more, "initializer[%zu]", value->init_slot);
        by_mark(check, &unused->mark, &value->initializer->msg, more);
        unused->bytes += payload_size(value->initializer);
    }
    return 0;
}

static int report_unused(struct by_check *check, struct baryon_error *err)
{
    const struct unused_count *unused = check->state;
    char quoted[BY_QUOTE_MAX];
    if (!unused->mark.count)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%zu unused initializer%s of %llu bytes, the first is %s",
            unused->mark.count, unused->mark.count == 1 ? "" : "s",
            (unsigned long long)unused->bytes, by_quote(quoted, unused->first));
    return by_report_mark(check, BY_FINDING_NOTICE, &unused->mark, err);
}

const struct by_model_rule by_rule_unused = {
    .worst = BY_FINDING_NOTICE,
    .linked = true,
    .state_size = sizeof(struct unused_count),
    .graph = count_unused,
    .finish = report_unused,
};

/* --- types that follow from one another --- */

/* Asked only of models that are sound so far: everything else is said better elsewhere. */
static int infer_types(struct by_check *check, struct baryon_error *err)
{
    struct by_infer_result result;
    if (check->first->code != BARYON_OK)
        return 0;
    if (by_model_infer(check->model, &result, err))
        return err->code == BARYON_ERR_NOMEM
                   ? -1
                   : by_report(check, BY_FINDING_ERROR, &check->model->msg, err);
    if (!result.conflicts)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%zu declared shape%s different from the computed shape",
            result.conflicts, result.conflicts == 1 ? " is" : "s are");
    by_err_in(err, "graph");
    return by_report(check, BY_FINDING_NOTICE, &check->model->graph->msg, err);
}

const struct by_model_rule by_rule_inference = {
    .worst = BY_FINDING_ERROR,
    .linked = true,
    .finish = infer_types,
};
