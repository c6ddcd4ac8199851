/* The layout that vLLM calls fp8: LAYER.weight and a scale of the tensor. */
#include "llm/layout/fields.h"

#include "array/elem.h"
#include "dtype/family.h"

static int fp8_accepts(const struct by_llm_scheme *scheme, struct baryon_error *err)
{
    const struct by_llm_spec *weight = &scheme->weight;
    if (weight->dtype == &by_dtype_fp8_e4m3 && weight->grain == BY_LLM_TENSOR)
        return 0;
    return by_llm_layout_refuse("fp8", scheme, "fp8", err);
}

static void fp8_prepare(struct by_llm_tensor *tensor, int64_t model)
{
    (void)model;
    tensor->stored = BY_ELEM_FLOAT;
}

static int fp8_list(const struct by_llm_tensor *tensor, size_t rows, struct by_llm_fields *fields,
                    struct baryon_error *err)
{
    const struct by_llm_form form = {
        .direction = BY_FORM_ROWS, .rows = rows, .columns = tensor->columns, .bits = 8, .word = 8};
    *fields = (struct by_llm_fields){0};
    by_llm_field_words(fields, "weight", BY_LLM_FIELD_CODES, BY_ELEM_FLOAT8E4M3FN, &form);
    by_llm_field_scalar(fields, "weight_scale", tensor->stored, 0);
    by_llm_field_input(fields, tensor, "input_scale", 0);
    return by_llm_fields_size(fields, err);
}

static void add_cache(struct by_llm_fields *fields, bool of_values)
{
    by_llm_field_add(fields, of_values ? "v_scale" : "k_scale", BY_LLM_FIELD_CACHE_SCALE,
                     BY_ELEM_FLOAT)
        ->beside = true;
}

static void fp8_config(const struct by_llm_config *config, struct by_json *json)
{
    by_json_text(json, "quant_method", "fp8");
    by_json_text(json, "activation_scheme", config->static_inputs ? "static" : "dynamic");
    if (config->cache)
        by_json_text(json, "kv_cache_scheme", "static");
    by_llm_config_names(json, "ignored_layers", config->excluded, config->excluded_count);
}

const struct by_llm_layout by_llm_layout_fp8 = {
    .name = "fp8",
    .help = "vLLM's fp8, a float32 scale for each tensor",
    .accepts = fp8_accepts,
    .prepare = fp8_prepare,
    .list = fp8_list,
    .config = fp8_config,
    .has_inputs = true,
    .add_cache = add_cache,
    .one_scheme = true,
};
