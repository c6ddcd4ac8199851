/*
 * A layout for every scheme, for programs that read it by its description: weights packed along
 * inputs, the first code in the low bits; scales [out, groups]; zero points an element each.
 */
#include "llm/layout/fields.h"

#include "array/elem.h"
#include "dtype/family.h"

static int json_accepts(const struct by_llm_scheme *scheme, struct baryon_error *err)
{
    (void)scheme, (void)err;
    return 0;
}

static void json_prepare(struct by_llm_tensor *tensor, int64_t model)
{
    (void)model;
    tensor->stored = BY_ELEM_FLOAT;
}

static unsigned word_of(unsigned bits)
{
    return bits == 3 || bits == 6 ? 24 : 8;
}

static int json_list(const struct by_llm_tensor *tensor, size_t rows, struct by_llm_fields *fields,
                     struct baryon_error *err)
{
    const struct by_llm_spec *spec = tensor->spec;
    const size_t bytes = by_dtype_code_bytes(spec->dtype);
    const bool is_cast = bytes > 1;
    struct by_llm_form form = {.direction = BY_FORM_ROWS,
                               .rows = rows,
                               .columns = tensor->columns * bytes,
                               .bits = is_cast ? 8 : spec->dtype->bits,
                               .word = is_cast ? 8 : word_of(spec->dtype->bits)};
    *fields = (struct by_llm_fields){0};
    struct by_llm_field *codes =
        by_llm_field_words(fields, "weight", BY_LLM_FIELD_CODES, BY_ELEM_UINT8, &form);
    if (is_cast) {
        codes->elem = spec->dtype->elem;
        codes->dims[1] = tensor->columns;
    }
    if (by_llm_shared_bytes(tensor)) {
        form.columns = by_llm_shared_bytes(tensor);
        form.bits = form.word = 8;
        by_llm_field_words(fields, "weight_scale", BY_LLM_FIELD_SHARED, BY_ELEM_UINT8, &form);
    }
    if (by_llm_spec_is_scaled(spec) && spec->grain != BY_LLM_TENSOR)
        by_llm_field_scales(fields, "weight_scale", by_llm_scale_elem(tensor), tensor, rows, false);
    if (by_llm_needs_range(tensor))
        by_llm_field_scalar(fields,
                            spec->grain == BY_LLM_TENSOR ? "weight_scale" : "weight_scale_2",
                            BY_ELEM_FLOAT, 0);
    if (spec->asymmetric) {
        form.columns = tensor->groups;
        form.bits = form.word = 8;
        by_llm_field_words(fields, "weight_zero_point", BY_LLM_FIELD_ZEROS, BY_ELEM_UINT8, &form);
    }
    by_llm_field_input(fields, tensor,
                       tensor->input && tensor->input->global ? "input_scale_2" : "input_scale", 0);
    return by_llm_fields_size(fields, err);
}

static int json_online(const struct by_llm_online *online, struct by_llm_online_tensor *tensor,
                       struct baryon_error *err)
{
    (void)online, (void)err;
    *tensor = (struct by_llm_online_tensor){0};
    return 0;
}

static void write_online(struct by_json *json, const struct by_llm_online *online)
{
    by_json_open(json, "rotation", '{');
    by_json_int(json, "size", (int64_t)online->size);
    by_llm_config_names(json, "layers", online->layers, online->count);
    by_json_close(json, '}');
}

static void json_config(const struct by_llm_config *config, struct by_json *json)
{
    by_json_text(json, "quant_method", "baryon");
    by_json_text(json, "scheme", config->layers[0].scheme->name);
    if (config->layers[0].scheme->weight.grain == BY_LLM_GROUP)
        by_json_int(json, "group_size", (int64_t)config->layers[0].scheme->weight.group);
    if (config->static_inputs)
        by_json_text(json, "inputs", "static");
    by_json_open(json, "layers", '{');
    for (size_t i = 1; i < config->count; i++)
        for (size_t n = 0; n < config->layers[i].count; n++)
            by_json_text(json, config->layers[i].names[n], config->layers[i].scheme->name);
    by_json_close(json, '}');
    by_llm_config_names(json, "exclude", config->excluded, config->excluded_count);
    if (config->online.count)
        write_online(json, &config->online);
}

const struct by_llm_layout by_llm_layout_json = {
    .name = "json-safetensors",
    .help = "plain arrays of codes and scales for every scheme, described in config.json",
    .accepts = json_accepts,
    .prepare = json_prepare,
    .list = json_list,
    .config = json_config,
    .has_inputs = true,
    .online = json_online,
};
