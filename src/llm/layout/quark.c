/* Quark's own layout: LAYER.weight, LAYER.weight_scale, LAYER.weight_zero_point. */
#include "llm/layout/fields.h"

#include "array/elem.h"
#include "base/file.h"
#include "dtype/family.h"

static const uint8_t backwards[4] = {3, 2, 1, 0};
/* Layers whose outputs are kept. */
static const char *const cache_patterns[] = {"*k_proj", "*v_proj"};
static const char *const cache_fused[] = {"*qkv_proj"};

static const char *const *cache_names(const struct by_llm_config *config, size_t *count)
{
    *count = !config->cache ? 0 : config->cache_fused ? 1 : 2;
    return config->cache_fused ? cache_fused : cache_patterns;
}

static int quark_accepts(const struct by_llm_scheme *scheme, struct baryon_error *err)
{
    if (by_llm_spec_is_scaled(&scheme->weight))
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "layout quark has no place for scheme %s", scheme->name);
    return by_err_hint(err, "--layout json-safetensors has one");
}

static void quark_prepare(struct by_llm_tensor *tensor, int64_t model)
{
    tensor->stored = model;
}

/* --- Tensors --- */

static bool is_turned(const struct by_llm_tensor *tensor)
{
    return by_llm_spec_is_int(tensor->spec) && tensor->spec->grain == BY_LLM_GROUP;
}

static struct by_llm_form codes_form(const struct by_llm_tensor *tensor, size_t rows,
                                     size_t columns)
{
    const unsigned bits = tensor->spec->dtype->bits;
    struct by_llm_form form = {.direction = is_turned(tensor) ? BY_FORM_ACROSS : BY_FORM_ROWS,
                               .rows = rows,
                               .columns = columns,
                               .bits = bits,
                               .word = bits == 3 || bits == 6 ? 24 : 8};
    if (!by_llm_spec_is_int(tensor->spec) || bits == 8 || bits == 3)
        return form;
    form.word = bits == 4 ? 32 : 8;
    form.order = bits == 4 ? by_llm_awq_order : backwards;
    return form;
}

static int64_t codes_elem(const struct by_llm_spec *spec)
{
    if (!by_llm_spec_is_int(spec))
        return spec->dtype->bits == 8 ? spec->dtype->elem : BY_ELEM_UINT8;
    return spec->dtype->bits == 4          ? BY_ELEM_INT32
           : spec->dtype == &by_dtype_int8 ? BY_ELEM_INT8
                                           : BY_ELEM_UINT8;
}

/* A scale for each row has one dimension. */
static void flatten(struct by_llm_field *field, const struct by_llm_tensor *tensor, size_t rows)
{
    if (tensor->spec->grain != BY_LLM_CHANNEL)
        return;
    field->rank = 1;
    field->dims[0] =
        field->kind == BY_LLM_FIELD_ZEROS ? by_llm_form_words(&field->form, rows) : rows;
}

static void add_zeros(struct by_llm_fields *fields, const struct by_llm_tensor *tensor, size_t rows)
{
    struct by_llm_form form = codes_form(tensor, rows, tensor->groups);
    const char *suffix = tensor->spec->over_fp8 ? "weight_zero_point_2" : "weight_zero_point";
    form.direction = BY_FORM_ACROSS;
    flatten(by_llm_field_words(fields, suffix, BY_LLM_FIELD_ZEROS, codes_elem(tensor->spec), &form),
            tensor, rows);
}

static void add_int_scales(struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                           size_t rows)
{
    const char *suffix = tensor->spec->over_fp8 ? "weight_scale_2" : "weight_scale";
    if (tensor->spec->grain == BY_LLM_TENSOR) {
        by_llm_field_scalar(fields, suffix, by_llm_scale_elem(tensor), 0);
        by_llm_field_add(fields, "weight_zero_point", BY_LLM_FIELD_ZEROS, codes_elem(tensor->spec));
        return;
    }
    if (tensor->spec->over_fp8)
        by_llm_field_scalar(fields, "weight_scale", BY_ELEM_FLOAT, 0);
    flatten(by_llm_field_scales(fields, suffix, by_llm_scale_elem(tensor), tensor, rows,
                                is_turned(tensor)),
            tensor, rows);
    add_zeros(fields, tensor, rows);
}

static void add_float_scales(struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                             size_t rows)
{
    if (tensor->spec->grain == BY_LLM_TENSOR) {
        by_llm_field_scalar(fields, "weight_scale", by_llm_scale_elem(tensor), 0);
        return;
    }
    flatten(
        by_llm_field_scales(fields, "weight_scale", by_llm_scale_elem(tensor), tensor, rows, false),
        tensor, rows);
    if (tensor->spec->global)
        by_llm_field_scalar(fields, "weight_scale_2", BY_ELEM_FLOAT, 0);
}

static int quark_list(const struct by_llm_tensor *tensor, size_t rows, struct by_llm_fields *fields,
                      struct baryon_error *err)
{
    const struct by_llm_form form = codes_form(tensor, rows, tensor->columns);
    *fields = (struct by_llm_fields){0};
    by_llm_field_words(fields, "weight", BY_LLM_FIELD_CODES, codes_elem(tensor->spec), &form);
    if (by_llm_spec_is_int(tensor->spec))
        add_int_scales(fields, tensor, rows);
    else
        add_float_scales(fields, tensor, rows);
    if (tensor->input && tensor->input->global)
        by_llm_field_input(fields, tensor, "input_scale_2", 0);
    else
        by_llm_field_input(fields, tensor, "input_scale", 0);
    if (tensor->input && by_llm_spec_is_int(tensor->input))
        by_llm_field_add(fields, "input_zero_point", BY_LLM_FIELD_ZEROS, BY_ELEM_INT8);
    return by_llm_fields_size(fields, err);
}

/* Of k_proj and v_proj; loaders take the same one for both. */
static void add_cache(struct by_llm_fields *fields, bool of_values)
{
    (void)of_values;
    by_llm_field_add(fields, "output_scale", BY_LLM_FIELD_CACHE_SCALE, BY_ELEM_FLOAT);
}

/* --- config.json --- */

static const char *type_name(const struct by_dtype *dtype)
{
    return dtype == &by_dtype_fp4_e2m1 ? "fp4" : dtype->name;
}

static const char *observer_of(const struct by_llm_spec *spec)
{
    if (spec->grain == BY_LLM_TENSOR)
        return "PerTensorMinMaxObserver";
    if (spec->grain == BY_LLM_CHANNEL)
        return "PerChannelMinMaxObserver";
    return by_llm_spec_is_int(spec) ? "PerGroupMinMaxObserver" : "PerBlockMXObserver";
}

static const char *scale_type(const struct by_llm_spec *spec)
{
    if (spec->scale == BY_LLM_SCALE_E5M3 && !spec->global)
        return "float8_e5m3";
    /* Quark's word for a scale of the model's type, though that of a tensor is float32. */
    if (by_llm_spec_is_int(spec) && spec->grain == BY_LLM_TENSOR)
        return "float";
    return spec->scale == BY_LLM_SCALE_MODEL || spec->scale == BY_LLM_SCALE_E8M0 ? "float"
                                                                                 : "float32";
}

static const char *scale_format(const struct by_llm_spec *spec)
{
    switch (spec->scale) {
    case BY_LLM_SCALE_E8M0:
        return "e8m0";
    case BY_LLM_SCALE_E5M3:
        return spec->global ? "float32" : "e5m3";
    case BY_LLM_SCALE_E4M3:
        return "float32";
    default:
        return NULL;
    }
}

static void text_or_null(struct by_json *json, const char *key, const char *value)
{
    if (value)
        by_json_text(json, key, value);
    else
        by_json_null(json, key);
}

static void write_granularity(struct by_json *json, const struct by_llm_spec *spec, bool of_input)
{
    static const char *const names[] = {[BY_LLM_TENSOR] = "per_tensor",
                                        [BY_LLM_CHANNEL] = "per_channel",
                                        [BY_LLM_GROUP] = "per_group"};
    by_json_text(json, "qscheme", names[spec->grain]);
    if (spec->grain == BY_LLM_TENSOR)
        by_json_null(json, "ch_axis");
    else
        by_json_int(json, "ch_axis", spec->grain == BY_LLM_GROUP ? -1 : of_input);
    if (spec->grain == BY_LLM_GROUP)
        by_json_int(json, "group_size", (int64_t)spec->group);
    else
        by_json_null(json, "group_size");
    by_json_null(json, "block_size");
}

static void write_spec(struct by_json *json, const char *key, const struct by_llm_spec *spec,
                       bool of_input, bool of_scale)
{
    by_json_open(json, key, '{');
    by_json_text(json, "dtype", type_name(spec->dtype));
    by_json_bool(json, "is_dynamic", spec->dynamic);
    write_granularity(json, spec, of_input);
    if (spec->grain == BY_LLM_GROUP && !by_llm_spec_is_int(spec))
        by_json_null(json, "symmetric");
    else
        by_json_bool(json, "symmetric", !spec->asymmetric);
    by_json_text(json, "round_method", "half_even");
    by_json_text(json, "scale_type", scale_type(spec));
    by_json_text(json, "zero_point_type", "int32");
    text_or_null(json, "scale_format", scale_format(spec));
    text_or_null(json, "scale_calculation_mode", spec->scale == BY_LLM_SCALE_E8M0 ? "even" : NULL);
    by_json_null(json, "mx_element_dtype");
    by_json_text(json, "observer_cls", observer_of(spec));
    by_json_bool(json, "is_scale_quant", of_scale);
    by_json_bool(json, "enable_buffer_reuse", false);
    by_json_int(json, "max_input_numel", 4194304);
    by_json_close(json, '}');
}

/* Scales in two levels are two specs. */
static void write_specs(struct by_json *json, const char *key, const struct by_llm_spec *spec,
                        bool of_input)
{
    const struct by_llm_spec fp8 = {.dtype = &by_dtype_fp8_e4m3, .scale = BY_LLM_SCALE_F32};
    const struct by_llm_spec e5m3 = {.dtype = &by_llm_fp8_e5m3, .scale = BY_LLM_SCALE_F32};
    if (!spec->global && !spec->over_fp8) {
        write_spec(json, key, spec, of_input, false);
        return;
    }
    struct by_llm_spec groups = *spec;
    groups.dynamic = of_input;
    by_json_open(json, key, '[');
    if (spec->over_fp8)
        write_spec(json, NULL, &fp8, false, false);
    write_spec(json, NULL, &groups, of_input, false);
    if (spec->global)
        write_spec(json, NULL, spec->scale == BY_LLM_SCALE_E4M3 ? &fp8 : &e5m3, false, true);
    by_json_close(json, ']');
}

/* Of keys and values: a scale of the tensor. Quark's file has no type of that scale. */
static void write_cache_spec(struct by_json *json, const struct by_dtype *cache)
{
    const struct by_llm_spec spec = {.dtype = cache, .scale = BY_LLM_SCALE_MODEL};
    write_spec(json, "output_tensors", &spec, false, false);
}

static void write_layer(struct by_json *json, const char *key, const struct by_llm_scheme *scheme,
                        const struct by_llm_config *config, const struct by_dtype *cache)
{
    const struct by_llm_spec input = by_llm_input_spec(scheme, config->static_inputs);
    by_json_open(json, key, '{');
    write_specs(json, "weight", &scheme->weight, false);
    if (input.dtype)
        write_specs(json, "input_tensors", &input, true);
    else
        by_json_null(json, "input_tensors");
    if (cache)
        write_cache_spec(json, cache);
    else
        by_json_null(json, "output_tensors");
    by_json_null(json, "bias");
    by_json_null(json, "target_device");
    by_json_close(json, '}');
}

static void write_exclude(struct by_json *json, const struct by_llm_config *config)
{
    by_json_open(json, "exclude", '[');
    for (size_t i = 0; i < config->excluded_count; i++)
        by_json_text(json, NULL, config->excluded[i]);
    for (size_t i = 0; i < config->pattern_count; i++)
        by_json_text(json, NULL, config->patterns[i]);
    by_json_close(json, ']');
}

static void write_export(struct by_json *json, const struct by_llm_config *config)
{
    by_json_open(json, "export", '{');
    by_json_open(json, "kv_cache_group", '[');
    size_t count;
    const char *const *names = cache_names(config, &count);
    for (size_t i = 0; i < count; i++)
        by_json_text(json, NULL, names[i]);
    by_json_close(json, ']');
    by_json_double(json, "min_kv_scale", 0);
    by_json_text(json, "pack_method", "reorder");
    by_json_text(json, "weight_format", "real_quantized");
    by_json_null(json, "weight_merge_groups");
    by_json_close(json, '}');
}

/* Layers of keys and values as all others, but for what they give. */
static void write_cache(struct by_json *json, const struct by_llm_config *config)
{
    size_t count;
    const char *const *names = cache_names(config, &count);
    for (size_t i = 0; i < count; i++)
        write_layer(json, names[i], config->layers[0].scheme, config, config->cache);
}

static bool is_cached(const struct by_llm_config *config, const char *layer)
{
    return config->cache && (by_has_suffix(layer, "k_proj") || by_has_suffix(layer, "v_proj") ||
                             by_has_suffix(layer, "qkv_proj"));
}

static void empty_map(struct by_json *json, const char *key)
{
    by_json_open(json, key, '{');
    by_json_close(json, '}');
}

/* --- Rotations while the model runs --- */

/* Of whole inputs Quark's loader takes its own matrix, which is ours for powers of two alone. */
static int quark_online(const struct by_llm_online *online, struct by_llm_online_tensor *tensor,
                        struct baryon_error *err)
{
    *tensor = (struct by_llm_online_tensor){"input_rotation", BY_ELEM_INT8, false};
    if (online->size < online->columns || !(online->size & (online->size - 1)))
        return 0;
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "layout quark: of whole inputs Quark takes a Hadamard matrix of its own, which "
                   "is not the one here for %zu columns, no power of two",
                   online->columns);
}

static void write_online(struct by_json *json, const struct by_llm_online *online)
{
    static const char *const off[] = {"r1", "r2", "r3", "random_r1", "random_r2", "trainable"};
    by_json_open(json, "algo_config", '[');
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", "rotation");
    empty_map(json, "scaling_layers");
    for (size_t i = 0; i < sizeof off / sizeof *off; i++)
        by_json_bool(json, off[i], false);
    by_json_bool(json, "r4", true);
    if (online->size < online->columns)
        by_json_int(json, "rotation_size", (int64_t)online->size);
    else
        by_json_null(json, "rotation_size");
    by_json_open(json, "online_config", '{');
    by_json_bool(json, "shared_parallel", false);
    by_llm_config_names(json, "online_rotation_layers", online->layers, online->count);
    by_json_bool(json, "use_input_prescale", false);
    by_json_close(json, '}');
    by_json_close(json, '}');
    by_json_close(json, ']');
}

static void quark_config(const struct by_llm_config *config, struct by_json *json)
{
    by_json_text(json, "quant_method", "quark");
    by_json_text(json, "version", "0.13");
    by_json_text(json, "quant_mode", "eager_mode");
    write_exclude(json, config);
    if (config->online.count)
        write_online(json, &config->online);
    else
        by_json_null(json, "algo_config");
    write_layer(json, "global_quant_config", config->layers[0].scheme, config, NULL);
    by_json_open(json, "layer_quant_config", '{');
    for (size_t i = 1; i < config->count; i++)
        for (size_t n = 0; n < config->layers[i].count; n++)
            write_layer(json, config->layers[i].names[n], config->layers[i].scheme, config,
                        is_cached(config, config->layers[i].names[n]) ? config->cache : NULL);
    write_cache(json, config);
    by_json_close(json, '}');
    empty_map(json, "layer_type_quant_config");
    by_json_open(json, "kv_cache_quant_config", '{');
    write_cache(json, config);
    by_json_close(json, '}');
    by_json_bool(json, "kv_cache_post_rope", false);
    by_json_null(json, "softmax_quant_spec");
    write_export(json, config);
}

const struct by_llm_layout by_llm_layout_quark = {
    .name = "quark",
    .help = "Quark's own, which vLLM and Quark load",
    .accepts = quark_accepts,
    .prepare = quark_prepare,
    .list = quark_list,
    .config = quark_config,
    .has_inputs = true,
    .add_cache = add_cache,
    .online = quark_online,
    .cache_is_projected = true,
};
