/* Payloads of tensors, and the types that they have. */
#include "ir/tensor.h"

#include "onnx/check_rule.h"
#include "onnx/schema.h"

#include <stdio.h>
#include <string.h>

/* --- payload --- */

/* The bits after the last of the 6-bit elements. */
static int check_padding(const struct baryon_tensor *tensor, struct baryon_error *err)
{
    const struct by_span raw = tensor->raw_data;
    const struct by_elem_info *info = by_elem_info(tensor->data_type);
    size_t count;
    if (info->bits != 6 || !raw.size || by_tensor_count(tensor, &count, NULL))
        return 0;
    unsigned used = (unsigned)(count % 4 * 6 % 8);
    if (!used || !(raw.data[raw.size - 1] >> used))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "bits after the last element are set, must be 0");
    return by_err_in(err, "raw_data");
}

static int check_location(const struct baryon_tensor *tensor, struct baryon_error *err)
{
    if (tensor->data_location == 0 || tensor->data_location == 1)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "data location %lld, must be 0 (default) or 1 (external)",
            (long long)tensor->data_location);
    return by_err_in(err, "data_location");
}

static int check_tensor(struct by_check *check, const struct baryon_tensor *tensor,
                        struct baryon_error *err)
{
    if (check_location(tensor, err) || by_tensor_check(tensor, err) || check_padding(tensor, err)) {
        by_err_tensor(err, tensor);
        return by_report(check, BY_FINDING_ERROR, &tensor->msg, err);
    }
    if (!tensor->external_data.count || by_tensor_is_external(tensor))
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "it names external data, but its data location is 0 (default)");
    by_err_tensor(err, tensor);
    by_err_in(err, "external_data");
    return by_report(check, BY_FINDING_WARNING, &tensor->msg, err);
}

const struct by_model_rule by_rule_tensor = {.worst = BY_FINDING_ERROR, .tensor = check_tensor};

/* --- versions that have the type --- */

/* Types that were told already, one bit each. */
struct types_told {
    uint64_t ir, opset;
};

static int check_version(struct by_check *check, int64_t elem, const struct by_msg *msg,
                         struct baryon_error *err)
{
    struct types_told *told = check->state;
    const struct by_elem_info *info = by_elem_info(elem);
    const struct by_opset *opset = by_map_get(check->scope.imports, "");
    if (!info)
        return 0;
    const uint64_t bit = UINT64_C(1) << elem;
    if (info->ir_version > BY_ONNX_IR_MIN && check->model->ir_version < info->ir_version &&
        !(told->ir & bit)) {
        told->ir |= bit;
        by_fail(err, BARYON_ERR_INPUT, "type %s in IR version %lld, requires version %u",
                info->name, (long long)check->model->ir_version, info->ir_version);
        if (by_report(check, BY_FINDING_WARNING, msg, err))
            return -1;
    }
    if (opset && info->opset > 1 && opset->version < info->opset && !(told->opset & bit)) {
        told->opset |= bit;
        by_fail(err, BARYON_ERR_INPUT, "type %s in opset %lld, requires opset %u", info->name,
                (long long)opset->version, info->opset);
        return by_report(check, BY_FINDING_WARNING, msg, err);
    }
    return 0;
}

static int check_tensor_version(struct by_check *check, const struct baryon_tensor *tensor,
                                struct baryon_error *err)
{
    return check_version(check, tensor->data_type, &tensor->msg, err);
}

static int check_info_version(struct by_check *check, const struct by_value_info *info,
                              enum by_info_role role, struct baryon_error *err)
{
    (void)role;
    if (!info->type || !info->type->tensor)
        return 0;
    return check_version(check, info->type->tensor->elem_type, &info->msg, err);
}

const struct by_model_rule by_rule_type_version = {
    .worst = BY_FINDING_WARNING,
    .state_size = sizeof(struct types_told),
    .info = check_info_version,
    .tensor = check_tensor_version,
};

/* --- 16-bit weights --- */

struct half_count {
    struct by_mark mark;   /* of tensors with 16-bit floats */
    size_t halves, floats; /* elements */
    int64_t elem;          /* of the first */
};

static int count_half(struct by_check *check, const struct baryon_tensor *tensor,
                      struct baryon_error *err)
{
    struct half_count *half = check->state;
    size_t count;
    (void)err;
    if (by_tensor_count(tensor, &count, NULL))
        return 0;
    if (tensor->data_type == BY_ELEM_FLOAT || tensor->data_type == BY_ELEM_DOUBLE)
        half->floats += count;
    if (tensor->data_type != BY_ELEM_FLOAT16 && tensor->data_type != BY_ELEM_BFLOAT16)
        return 0;
    if (!half->mark.count)
        half->elem = tensor->data_type;
    half->halves += count;
    by_mark(check, &half->mark, &tensor->msg, NULL);
    return 0;
}

static int report_half(struct by_check *check, struct baryon_error *err)
{
    const struct half_count *half = check->state;
    if (half->halves <= half->floats)
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED, "a %s model: %zu of its %zu float parameters are",
            by_elem_name(half->elem), half->halves, half->halves + half->floats);
    return by_report_mark(check, BY_FINDING_NOTICE, &half->mark, err);
}

const struct by_model_rule by_rule_half = {
    .worst = BY_FINDING_NOTICE,
    .state_size = sizeof(struct half_count),
    .tensor = count_half,
    .finish = report_half,
};

/* --- before IR version 4 --- */

static int collect_inputs(const struct baryon_graph *graph, struct by_map *inputs,
                          struct baryon_error *err)
{
    for (size_t i = 0; i < graph->input.count; i++) {
        struct by_value_info *info = graph->input.at[i];
        if (info && info->name && by_map_put(inputs, info->name, info, err))
            return -1;
    }
    return 0;
}

static int find_initializers(struct by_check *check, const struct baryon_graph *graph,
                             const struct by_map *inputs, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < graph->initializer.count; i++) {
        const struct baryon_tensor *tensor = graph->initializer.at[i];
        if (!tensor || !tensor->name || by_map_get(inputs, tensor->name))
            continue;
        by_fail(err, BARYON_ERR_INPUT, "%s is not a graph input, must be one in IR version %lld",
                by_quote(quoted, tensor->name), (long long)check->model->ir_version);
        by_err_hint(err, "IR version 4 and later do not require it");
        by_err_in(err, "initializer[%zu]", i);
        if (by_report(check, BY_FINDING_ERROR, &tensor->msg, err))
            return -1;
    }
    return 0;
}

static int check_initializers(struct by_check *check, const struct baryon_graph *graph,
                              struct baryon_error *err)
{
    struct by_map inputs;
    if (check->model->ir_version >= 4 || check->scope.training)
        return 0;
    by_map_init(&inputs);
    int result = collect_inputs(graph, &inputs, err);
    if (!result)
        result = find_initializers(check, graph, &inputs, err);
    by_map_release(&inputs);
    return result;
}

const struct by_model_rule by_rule_initializer_input = {
    .worst = BY_FINDING_ERROR,
    .graph = check_initializers,
};
