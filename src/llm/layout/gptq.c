/* GPTQ's layout: LAYER.qweight, qzeros, scales, g_idx; integers packed along inputs. */
#include "llm/layout/fields.h"

#include "array/elem.h"
#include "dtype/family.h"

static int gptq_accepts(const struct by_llm_scheme *scheme, struct baryon_error *err)
{
    const struct by_llm_spec *weight = &scheme->weight;
    if (by_llm_spec_is_int(weight) && weight->grain != BY_LLM_TENSOR && !weight->over_fp8 &&
        weight->dtype->bits != 3 && !scheme->input.dtype)
        return 0;
    return by_llm_layout_refuse("gptq", scheme, "integers of 2, 4 or 8 bits without inputs", err);
}

/* Zero points are stored less one: readers differ in what a stored -1 means. */
static void gptq_prepare(struct by_llm_tensor *tensor, int64_t model)
{
    (void)model;
    tensor->stored = BY_ELEM_FLOAT16;
    tensor->least_zero = 1;
}

static int gptq_list(const struct by_llm_tensor *tensor, size_t rows, struct by_llm_fields *fields,
                     struct baryon_error *err)
{
    const unsigned bits = tensor->spec->dtype->bits, per = 32 / bits;
    struct by_llm_form form = {.direction = BY_FORM_DOWN,
                               .rows = rows,
                               .columns = tensor->columns,
                               .bits = bits,
                               .word = 32,
                               .flip =
                                   (uint8_t)(tensor->spec->dtype->low < 0 ? 1u << (bits - 1) : 0)};
    *fields = (struct by_llm_fields){0};
    if (rows % per || tensor->columns % per)
        return by_fail(err, BARYON_ERR_INPUT,
                       "%zu outputs and %zu inputs, layout gptq needs multiples of %u", rows,
                       tensor->columns, per);
    by_llm_field_words(fields, "qweight", BY_LLM_FIELD_CODES, BY_ELEM_INT32, &form);
    form.direction = BY_FORM_ACROSS;
    form.columns = tensor->groups;
    struct by_llm_field *zeros =
        by_llm_field_words(fields, "qzeros", BY_LLM_FIELD_ZEROS, BY_ELEM_INT32, &form);
    zeros->less = 1;
    by_llm_field_scales(fields, "scales", tensor->stored, tensor, rows, true);
    struct by_llm_field *index =
        by_llm_field_add(fields, "g_idx", BY_LLM_FIELD_GROUP_INDEX, BY_ELEM_INT32);
    index->rank = 1;
    index->dims[0] = tensor->columns;
    return by_llm_fields_size(fields, err);
}

static void gptq_config(const struct by_llm_config *config, struct by_json *json)
{
    const struct by_llm_spec *weight = &config->layers[0].scheme->weight;
    by_json_text(json, "quant_method", "gptq");
    by_json_int(json, "bits", weight->dtype->bits);
    by_json_int(json, "group_size", weight->grain == BY_LLM_GROUP ? (int64_t)weight->group : -1);
    by_json_bool(json, "sym", !weight->asymmetric);
    by_json_bool(json, "desc_act", false);
    by_json_text(json, "checkpoint_format", "gptq");
    by_json_open(json, "dynamic", '{');
    for (size_t i = 0; i < config->excluded_count; i++) {
        struct by_str pattern;
        by_str_init(&pattern);
        by_str_puts(&pattern, "-:^");
        for (const char *at = config->excluded[i]; *at; at++)
            by_str_printf(&pattern, *at == '.' ? "\\%c" : "%c", *at);
        by_str_puts(&pattern, "$");
        by_json_open(json, by_str_text(&pattern), '{');
        by_json_close(json, '}');
        by_str_release(&pattern);
    }
    by_json_close(json, '}');
    by_llm_config_names(json, "modules_to_not_convert", config->excluded, config->excluded_count);
}

const struct by_llm_layout by_llm_layout_gptq = {
    .name = "gptq",
    .help = "AutoGPTQ's, for integers of 2, 4 and 8 bits",
    .accepts = gptq_accepts,
    .prepare = gptq_prepare,
    .list = gptq_list,
    .config = gptq_config,
    .one_scheme = true,
};
