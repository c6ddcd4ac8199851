/* compressed-tensors' layout, which llm-compressor writes. */
#include "llm/layout/fields.h"

#include "array/elem.h"
#include "base/file.h"
#include "dtype/family.h"

#include <stdio.h>

enum format { PACKED, INTS, FLOATS, NVFP4, MXFP4, NO_FORMAT };

static const char *const format_names[] = {
    [PACKED] = "pack-quantized",      [INTS] = "int-quantized",
    [FLOATS] = "float-quantized",     [NVFP4] = "nvfp4-pack-quantized",
    [MXFP4] = "mxfp4-pack-quantized",
};

static enum format format_of(const struct by_llm_spec *spec)
{
    if (spec->over_fp8 || !by_llm_spec_is_scaled(spec))
        return NO_FORMAT;
    if (by_llm_spec_is_int(spec))
        return spec->dtype->bits == 4 || spec->dtype->bits == 8
                   ? (spec->grain == BY_LLM_TENSOR ? INTS : PACKED)
                   : NO_FORMAT;
    if (spec->dtype == &by_dtype_fp8_e4m3 && spec->scale != BY_LLM_SCALE_E8M0)
        return FLOATS;
    if (spec->dtype != &by_dtype_fp4_e2m1)
        return NO_FORMAT;
    return spec->scale == BY_LLM_SCALE_E4M3   ? NVFP4
           : spec->scale == BY_LLM_SCALE_E8M0 ? MXFP4
                                              : NO_FORMAT;
}

/* Loaders take integers beside inputs of int8 a byte each. Other writers do so in other schemes,
 * too, and say it by the name. */
static bool compressed_whole_bytes(const struct by_llm_scheme *scheme, const char *stored)
{
    return by_llm_spec_is_int(&scheme->weight) &&
           (stored ? by_has_suffix(stored, ".weight") : scheme->input.dtype == &by_dtype_int8);
}

static enum format format_of_scheme(const struct by_llm_scheme *scheme)
{
    return compressed_whole_bytes(scheme, NULL) ? INTS : format_of(&scheme->weight);
}

/* fp8 inputs beside int4 weights are those of a token. */
static bool goes_together(const struct by_llm_scheme *scheme)
{
    const struct by_llm_spec *input = &scheme->input;
    if (!input->dtype || by_llm_spec_is_int(input) == by_llm_spec_is_int(&scheme->weight))
        return true;
    return by_llm_spec_is_int(&scheme->weight) && input->dtype == &by_dtype_fp8_e4m3 &&
           input->grain == BY_LLM_CHANNEL;
}

static int compressed_accepts(const struct by_llm_scheme *scheme, struct baryon_error *err)
{
    if (format_of(&scheme->weight) != NO_FORMAT && goes_together(scheme))
        return 0;
    return by_llm_layout_refuse("compressed-tensors", scheme,
                                "integers of 4 or 8 bits, fp8_e4m3, mxfp4 or nvfp4", err);
}

static void compressed_prepare(struct by_llm_tensor *tensor, int64_t model)
{
    tensor->stored = model;
    tensor->inverse = tensor->spec->global;
}

/* --- Tensors --- */

static void add_packed(struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                       size_t rows)
{
    const unsigned bits = tensor->spec->dtype->bits;
    struct by_llm_form form = {.direction = BY_FORM_ROWS,
                               .rows = rows,
                               .columns = tensor->columns,
                               .bits = bits,
                               .word = 32,
                               .flip =
                                   (uint8_t)(tensor->spec->dtype->low < 0 ? 1u << (bits - 1) : 0)};
    by_llm_field_words(fields, "weight_packed", BY_LLM_FIELD_CODES, BY_ELEM_INT32, &form);
    by_llm_field_scales(fields, "weight_scale", tensor->stored, tensor, rows, false);
    if (tensor->spec->asymmetric) {
        form.direction = BY_FORM_STACKED;
        form.columns = tensor->groups;
        by_llm_field_words(fields, "weight_zero_point", BY_LLM_FIELD_ZEROS, BY_ELEM_INT32, &form);
    }
    struct by_llm_field *shape =
        by_llm_field_add(fields, "weight_shape", BY_LLM_FIELD_SHAPE, BY_ELEM_INT64);
    shape->rank = 1;
    shape->dims[0] = 2;
}

static void add_bytes(struct by_llm_fields *fields, const struct by_llm_tensor *tensor, size_t rows)
{
    const struct by_llm_form form = {
        .direction = BY_FORM_ROWS, .rows = rows, .columns = tensor->columns, .bits = 8, .word = 8};
    by_llm_field_words(fields, "weight", BY_LLM_FIELD_CODES,
                       by_llm_spec_is_int(tensor->spec) ? BY_ELEM_INT8 : BY_ELEM_FLOAT8E4M3FN,
                       &form);
    if (tensor->spec->grain == BY_LLM_TENSOR)
        by_llm_field_scalar(fields, "weight_scale", by_llm_scale_elem(tensor), 1);
    else
        by_llm_field_scales(fields, "weight_scale", by_llm_scale_elem(tensor), tensor, rows, false);
}

static void add_fp4(struct by_llm_fields *fields, const struct by_llm_tensor *tensor, size_t rows)
{
    const struct by_llm_form form = {
        .direction = BY_FORM_ROWS, .rows = rows, .columns = tensor->columns, .bits = 4, .word = 8};
    by_llm_field_words(fields, "weight_packed", BY_LLM_FIELD_CODES, BY_ELEM_UINT8, &form);
    by_llm_field_scales(fields, "weight_scale", by_llm_scale_elem(tensor), tensor, rows, false);
    if (tensor->spec->global)
        by_llm_field_scalar(fields, "weight_global_scale", BY_ELEM_FLOAT, 1);
}

static int compressed_list(const struct by_llm_tensor *tensor, size_t rows,
                           struct by_llm_fields *fields, struct baryon_error *err)
{
    *fields = (struct by_llm_fields){0};
    if (tensor->whole_bytes && tensor->spec->asymmetric)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "compressed-tensors: integers in bytes with zero points have no place here");
    switch (tensor->whole_bytes ? INTS : format_of(tensor->spec)) {
    case PACKED:
        add_packed(fields, tensor, rows);
        break;
    case INTS:
    case FLOATS:
        add_bytes(fields, tensor, rows);
        break;
    default:
        add_fp4(fields, tensor, rows);
        break;
    }
    by_llm_field_input(
        fields, tensor,
        tensor->input && tensor->input->global ? "input_global_scale" : "input_scale", 1);
    return by_llm_fields_size(fields, err);
}

static void add_cache(struct by_llm_fields *fields, bool of_values)
{
    struct by_llm_field *field = by_llm_field_add(fields, of_values ? "v_scale" : "k_scale",
                                                  BY_LLM_FIELD_CACHE_SCALE, BY_ELEM_FLOAT);
    field->beside = true;
    field->rank = 1;
    field->dims[0] = 1;
}

/* --- config.json --- */

static const char *strategy_of(const struct by_llm_spec *spec, bool of_input)
{
    if (spec->global)
        return "tensor_group";
    if (spec->grain == BY_LLM_GROUP)
        return "group";
    return spec->grain == BY_LLM_TENSOR ? "tensor" : of_input ? "token" : "channel";
}

static void write_args(struct by_json *json, const char *key, const struct by_llm_spec *spec,
                       bool of_input)
{
    by_json_open(json, key, '{');
    by_json_int(json, "num_bits", spec->dtype->bits);
    by_json_text(json, "type", by_llm_spec_is_int(spec) ? "int" : "float");
    by_json_text(json, "strategy", strategy_of(spec, of_input));
    if (spec->grain == BY_LLM_GROUP)
        by_json_int(json, "group_size", (int64_t)spec->group);
    else
        by_json_null(json, "group_size");
    by_json_bool(json, "symmetric", !spec->asymmetric);
    /* Scales of groups are found while the model runs, that of all is in the file. */
    if (of_input && spec->global)
        by_json_text(json, "dynamic", "local");
    else
        by_json_bool(json, "dynamic", spec->dynamic);
    by_json_null(json, "actorder");
    by_json_null(json, "block_structure");
    if (of_input)
        by_json_null(json, "observer");
    else
        by_json_text(json, "observer", "minmax");
    by_json_open(json, "observer_kwargs", '{');
    by_json_close(json, '}');
    if (spec->scale == BY_LLM_SCALE_E4M3)
        by_json_text(json, "scale_dtype", "torch.float8_e4m3fn");
    else if (spec->scale == BY_LLM_SCALE_E8M0)
        by_json_text(json, "scale_dtype", "torch.uint8");
    by_json_close(json, '}');
}

static void write_group(struct by_json *json, size_t index, const struct by_llm_layers *layers,
                        bool static_inputs)
{
    static const char *const all[] = {"Linear"};
    const struct by_llm_spec input = by_llm_input_spec(layers->scheme, static_inputs);
    char name[32];
    snprintf(name, sizeof name, "group_%zu", index);
    by_json_open(json, name, '{');
    if (index)
        by_llm_config_names(json, "targets", layers->names, layers->count);
    else
        by_llm_config_names(json, "targets", all, 1);
    write_args(json, "weights", &layers->scheme->weight, false);
    if (input.dtype)
        write_args(json, "input_activations", &input, true);
    else
        by_json_null(json, "input_activations");
    by_json_null(json, "output_activations");
    by_json_text(json, "format", format_names[format_of_scheme(layers->scheme)]);
    by_json_close(json, '}');
}

/* --- Rotations while the model runs --- */

#define ODD_MOST 63 /* loaders have matrices up to order 256, of any multiple of 4 */

static bool is_power_of_two(size_t size)
{
    return size && !(size & (size - 1));
}

/* Of a power of two loaders make the matrix themselves, others they read. */
static int compressed_online(const struct by_llm_online *online,
                             struct by_llm_online_tensor *tensor, struct baryon_error *err)
{
    size_t odd = online->size;
    for (; odd && odd % 2 == 0; odd /= 2)
        ;
    *tensor = (struct by_llm_online_tensor){0};
    if (odd > ODD_MOST)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "compressed-tensors makes no Hadamard matrix of order %zu, the odd factor "
                       "of which must be at most %d",
                       online->size, ODD_MOST);
    if (!is_power_of_two(online->size))
        *tensor = (struct by_llm_online_tensor){"R4_input.weight", BY_ELEM_FLOAT, true};
    return 0;
}

static void write_apply(struct by_json *json, const struct by_llm_online *online,
                        const char *location, bool inverse)
{
    by_json_open(json, NULL, '{');
    by_llm_config_names(json, "targets", online->layers, online->count);
    by_json_text(json, "location", location);
    by_json_bool(json, "inverse", inverse);
    by_llm_config_names(json, "ignore", NULL, 0);
    by_json_close(json, '}');
}

static void write_transforms(struct by_json *json, const struct by_llm_online *online)
{
    by_json_open(json, "transform_config", '{');
    by_json_open(json, "config_groups", '{');
    by_json_open(json, "R4", '{');
    by_json_text(json, "type", is_power_of_two(online->size) ? "hadamard" : "random-hadamard");
    by_json_open(json, "apply", '[');
    write_apply(json, online, "input", false);
    write_apply(json, online, "weight_input", true);
    by_json_close(json, ']');
    by_json_bool(json, "randomize", false);
    by_json_bool(json, "requires_grad", false);
    if (online->size < online->columns)
        by_json_int(json, "head_dim", (int64_t)online->size);
    else
        by_json_null(json, "head_dim");
    by_json_text(json, "precision", "torch.float32");
    by_json_close(json, '}');
    by_json_close(json, '}');
    by_json_close(json, '}');
}

static void compressed_config(const struct by_llm_config *config, struct by_json *json)
{
    const enum format first = format_of_scheme(config->layers[0].scheme);
    const struct by_llm_spec cache = {.dtype = config->cache, .scale = BY_LLM_SCALE_MODEL};
    bool mixed = false;
    for (size_t i = 1; i < config->count; i++)
        mixed = mixed || format_of_scheme(config->layers[i].scheme) != first;
    by_json_text(json, "quant_method", "compressed-tensors");
    by_json_text(json, "format", mixed ? "mixed-precision" : format_names[first]);
    by_json_open(json, "config_groups", '{');
    for (size_t i = 0; i < config->count; i++)
        write_group(json, i, &config->layers[i], config->static_inputs);
    by_json_close(json, '}');
    by_llm_config_names(json, "ignore", config->excluded, config->excluded_count);
    if (config->cache)
        write_args(json, "kv_cache_scheme", &cache, false);
    else
        by_json_null(json, "kv_cache_scheme");
    by_json_null(json, "global_compression_ratio");
    by_json_text(json, "quantization_status", "compressed");
    if (config->online.count)
        write_transforms(json, &config->online);
}

const struct by_llm_layout by_llm_layout_compressed = {
    .name = "compressed-tensors",
    .help = "llm-compressor's, for integers of 4 and 8 bits, fp8, mxfp4 and nvfp4",
    .accepts = compressed_accepts,
    .prepare = compressed_prepare,
    .whole_bytes = compressed_whole_bytes,
    .list = compressed_list,
    .config = compressed_config,
    .has_inputs = true,
    .add_cache = add_cache,
    .online = compressed_online,
};
