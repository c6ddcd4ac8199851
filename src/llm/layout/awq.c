/* AWQ's layout: LAYER.qweight, LAYER.qzeros, LAYER.scales, packed along outputs. */
#include "llm/layout/fields.h"

#include "array/elem.h"
#include "dtype/family.h"

static int awq_accepts(const struct by_llm_scheme *scheme, struct baryon_error *err)
{
    const struct by_llm_spec *weight = &scheme->weight;
    if ((weight->dtype == &by_dtype_int4 || weight->dtype == &by_dtype_uint4) &&
        weight->grain == BY_LLM_GROUP && !scheme->input.dtype)
        return 0;
    return by_llm_layout_refuse("awq", scheme, "int4_wo_* or uint4_wo_* with groups", err);
}

static void awq_prepare(struct by_llm_tensor *tensor, int64_t model)
{
    (void)model;
    tensor->stored = BY_ELEM_FLOAT16;
}

/* Signed integers are stored as unsigned ones with zero point 8. */
static int awq_list(const struct by_llm_tensor *tensor, size_t rows, struct by_llm_fields *fields,
                    struct baryon_error *err)
{
    struct by_llm_form form = {.direction = BY_FORM_ACROSS,
                               .rows = rows,
                               .columns = tensor->columns,
                               .bits = 4,
                               .word = 32,
                               .order = by_llm_awq_order,
                               .flip = tensor->spec->dtype->low < 0 ? 8 : 0};
    *fields = (struct by_llm_fields){0};
    if (rows % 8)
        return by_fail(err, BARYON_ERR_INPUT, "%zu outputs, layout awq needs a multiple of 8",
                       rows);
    by_llm_field_words(fields, "qweight", BY_LLM_FIELD_CODES, BY_ELEM_INT32, &form);
    form.columns = tensor->groups;
    by_llm_field_words(fields, "qzeros", BY_LLM_FIELD_ZEROS, BY_ELEM_INT32, &form);
    by_llm_field_scales(fields, "scales", tensor->stored, tensor, rows, true);
    return by_llm_fields_size(fields, err);
}

static void awq_config(const struct by_llm_config *config, struct by_json *json)
{
    by_json_text(json, "quant_method", "awq");
    by_json_int(json, "bits", 4);
    by_json_int(json, "group_size", (int64_t)config->layers[0].scheme->weight.group);
    by_json_bool(json, "zero_point", true);
    by_json_text(json, "version", "gemm");
    by_llm_config_names(json, "modules_to_not_convert", config->excluded, config->excluded_count);
}

const struct by_llm_layout by_llm_layout_awq = {
    .name = "awq",
    .help = "AutoAWQ's gemm, for int4 and uint4 in groups",
    .accepts = awq_accepts,
    .prepare = awq_prepare,
    .list = awq_list,
    .config = awq_config,
    .one_scheme = true,
};
