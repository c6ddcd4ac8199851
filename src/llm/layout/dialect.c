/* Reads quantization_config of the layouts. */
#include "llm/layout/dialect.h"

#include "base/str.h"
#include "dtype/family.h"
#include "llm/layout/fields.h"
#include "llm/layout/match.h"

#include <string.h>

static const char *text_of(const struct by_doc_node *map, const char *key)
{
    const struct by_doc_node *node = by_doc_get(map, key);
    return node && node->kind == BY_DOC_SCALAR ? node->text : "";
}

static bool is_true(const struct by_doc_node *map, const char *key)
{
    return !strcmp(text_of(map, key), "true");
}

static int64_t int_of(const struct by_doc_node *map, const char *key, int64_t fallback)
{
    int64_t value;
    return by_parse_i64(text_of(map, key), &value) ? value : fallback;
}

static int refuse(const char *what, const char *value, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "config.json: quantization_config: %s is %s, cannot be read", what,
                   by_quote(quoted, value));
}

/* -1 and 0 are the whole row. */
static void set_group(struct by_llm_spec *spec, int64_t size)
{
    spec->grain = size > 0 ? BY_LLM_GROUP : BY_LLM_CHANNEL;
    spec->group = size > 0 ? (size_t)size : 0;
}

/* --- Quark --- */

static const struct by_dtype *quark_type(const char *name)
{
    if (!strcmp(name, "fp4"))
        return &by_dtype_fp4_e2m1;
    if (!strcmp(name, by_llm_int3.name))
        return &by_llm_int3;
    return strcmp(name, by_llm_fp8_e5m3.name) ? by_dtype_find(name) : &by_llm_fp8_e5m3;
}

static int quark_spec(const struct by_doc_node *node, struct by_llm_spec *spec,
                      struct baryon_error *err)
{
    const char *scheme = text_of(node, "qscheme"), *format = text_of(node, "scale_format");
    *spec = (struct by_llm_spec){.dtype = quark_type(text_of(node, "dtype"))};
    if (!spec->dtype)
        return refuse("dtype", text_of(node, "dtype"), err);
    if (!strcmp(scheme, "per_group"))
        set_group(spec, int_of(node, "group_size", -1));
    else if (!strcmp(scheme, "per_channel"))
        spec->grain = BY_LLM_CHANNEL;
    else if (strcmp(scheme, "per_tensor") != 0)
        return refuse("qscheme", scheme, err);
    spec->asymmetric = by_llm_spec_is_int(spec) && !strcmp(text_of(node, "symmetric"), "false");
    spec->dynamic = is_true(node, "is_dynamic");
    spec->scale = !strcmp(format, "e8m0")   ? BY_LLM_SCALE_E8M0
                  : !strcmp(format, "e5m3") ? BY_LLM_SCALE_E5M3
                                            : BY_LLM_SCALE_MODEL;
    return 0;
}

/* Two specs: a scale of scales, or fp8 before integers. */
static int quark_specs(const struct by_doc_node *node, struct by_llm_spec *spec,
                       struct baryon_error *err)
{
    struct by_llm_spec first, second;
    if (!node || node->kind != BY_DOC_LIST)
        return quark_spec(node, spec, err);
    if (node->count != 2)
        return refuse("a spec", "a list that is no pair", err);
    if (quark_spec(node->items[0], &first, err) || quark_spec(node->items[1], &second, err))
        return -1;
    *spec = first;
    if (is_true(node->items[1], "is_scale_quant")) {
        spec->global = true;
        spec->scale = second.dtype == &by_llm_fp8_e5m3 ? BY_LLM_SCALE_E5M3 : BY_LLM_SCALE_E4M3;
        return 0;
    }
    if (first.dtype != &by_dtype_fp8_e4m3 || !by_llm_spec_is_int(&second))
        return refuse("a spec", "a pair of types", err);
    *spec = second;
    spec->over_fp8 = true;
    return 0;
}

/* The first layer says what all have. */
static const struct by_dtype *quark_cache(const struct by_doc_node *node)
{
    const struct by_doc_node *layers = by_doc_get(node, "kv_cache_quant_config");
    if (!layers || layers->kind != BY_DOC_MAP || !layers->count)
        return NULL;
    return quark_type(text_of(by_doc_get(layers->pairs[0].value, "output_tensors"), "dtype"));
}

static int read_quark(struct by_llm_dialect *dialect, struct by_arena *arena,
                      const struct by_doc_node *node, struct baryon_error *err)
{
    const struct by_doc_node *all = by_doc_get(node, "global_quant_config");
    const struct by_doc_node *layers = by_doc_get(node, "layer_quant_config");
    const size_t count = layers && layers->kind == BY_DOC_MAP ? layers->count : 0;
    dialect->layout = &by_llm_layout_quark;
    dialect->rotations = by_doc_get(node, "algo_config");
    dialect->cache = quark_cache(node);
    dialect->naturally = !strcmp(text_of(by_doc_get(node, "export"), "pack_method"), "order");
    if (all && all->kind == BY_DOC_MAP &&
        quark_specs(by_doc_get(all, "weight"), &dialect->spec, err))
        return -1;
    dialect->input = by_doc_get(all, "input_tensors");
    if (!(dialect->rules = by_arena_alloc(arena, count, sizeof *dialect->rules, err)))
        return -1;
    for (size_t i = 0; i < count; i++) {
        const struct by_doc_node *weight = by_doc_get(layers->pairs[i].value, "weight");
        struct by_llm_rule *rule = &dialect->rules[dialect->rule_count];
        if (!weight || weight->kind == BY_DOC_NULL)
            continue;
        rule->pattern = layers->pairs[i].key;
        rule->input = by_doc_get(layers->pairs[i].value, "input_tensors");
        if (quark_specs(weight, &rule->spec, err))
            return -1;
        dialect->rule_count++;
    }
    return 0;
}

/* --- compressed-tensors --- */

static int compressed_spec(const struct by_doc_node *weights, struct by_llm_spec *spec,
                           struct baryon_error *err)
{
    const int64_t bits = int_of(weights, "num_bits", 0);
    const bool ints = !strcmp(text_of(weights, "type"), "int");
    const bool symmetric = strcmp(text_of(weights, "symmetric"), "false") != 0;
    const char *strategy = text_of(weights, "strategy");
    *spec = (struct by_llm_spec){.scale = BY_LLM_SCALE_MODEL, .asymmetric = ints && !symmetric};
    if (ints && bits == 4)
        spec->dtype = symmetric ? &by_dtype_int4 : &by_dtype_uint4;
    else if (ints && bits == 8)
        spec->dtype = symmetric ? &by_dtype_int8 : &by_dtype_uint8;
    else if (!ints && (bits == 4 || bits == 8))
        spec->dtype = bits == 4 ? &by_dtype_fp4_e2m1 : &by_dtype_fp8_e4m3;
    else
        return refuse("num_bits", text_of(weights, "num_bits"), err);
    if (!strcmp(strategy, "group") || !strcmp(strategy, "tensor_group"))
        set_group(spec, int_of(weights, "group_size", -1));
    else if (by_has_word("channel token", strategy))
        spec->grain = BY_LLM_CHANNEL;
    else if (strcmp(strategy, "tensor") != 0)
        return refuse("strategy", strategy, err);
    spec->global = !strcmp(strategy, "tensor_group");
    spec->dynamic = is_true(weights, "dynamic");
    if (!ints && bits == 4)
        spec->scale = spec->global ? BY_LLM_SCALE_E4M3 : BY_LLM_SCALE_E8M0;
    return 0;
}

static int compressed_group(struct by_llm_dialect *dialect, struct by_arena *arena,
                            const struct by_doc_node *group, struct baryon_error *err)
{
    const struct by_doc_node *targets = by_doc_get(group, "targets");
    const struct by_doc_node *input = by_doc_get(group, "input_activations");
    struct by_llm_spec spec;
    if (compressed_spec(by_doc_get(group, "weights"), &spec, err))
        return -1;
    const size_t count = targets && targets->kind == BY_DOC_LIST ? targets->count : 0;
    struct by_list list = {dialect->rules, dialect->rule_count, dialect->rule_count};
    if (by_list_reserve(arena, &list, count, sizeof *dialect->rules, err))
        return -1;
    dialect->rules = list.at;
    for (size_t i = 0; i < count; i++) {
        const char *name = targets->items[i]->text;
        if (name && strcmp(name, "Linear") != 0) {
            dialect->rules[dialect->rule_count++] =
                (struct by_llm_rule){.pattern = name, .spec = spec, .input = input};
            continue;
        }
        dialect->spec = spec;
        dialect->input = input;
    }
    return 0;
}

static int read_compressed(struct by_llm_dialect *dialect, struct by_arena *arena,
                           const struct by_doc_node *node, struct baryon_error *err)
{
    const struct by_doc_node *groups = by_doc_get(node, "config_groups");
    const struct by_doc_node *cache = by_doc_get(node, "kv_cache_scheme");
    dialect->layout = &by_llm_layout_compressed;
    dialect->rotations = by_doc_get(node, "transform_config");
    if (cache && cache->kind == BY_DOC_MAP && !is_true(cache, "dynamic"))
        dialect->cache =
            strcmp(text_of(cache, "type"), "int") != 0 ? &by_dtype_fp8_e4m3 : &by_dtype_int8;
    if (!groups || groups->kind != BY_DOC_MAP)
        return refuse("config_groups", "no map", err);
    for (size_t i = 0; i < groups->count; i++)
        if (compressed_group(dialect, arena, groups->pairs[i].value, err))
            return -1;
    return 0;
}

/* --- The others --- */

/* Stored as unsigned, with zero points. */
static int read_unsigned(struct by_llm_dialect *dialect, const struct by_doc_node *node,
                         const struct by_llm_layout *layout, struct baryon_error *err)
{
    const int64_t bits = int_of(node, "bits", int_of(node, "w_bit", 0));
    struct by_llm_spec *spec = &dialect->spec;
    dialect->layout = layout;
    *spec = (struct by_llm_spec){.scale = BY_LLM_SCALE_MODEL, .asymmetric = true};
    spec->dtype = bits == 4   ? &by_dtype_uint4
                  : bits == 8 ? &by_dtype_uint8
                  : bits == 2 ? &by_dtype_uint2
                              : NULL;
    if (!spec->dtype)
        return refuse("bits", text_of(node, "bits"), err);
    set_group(spec, int_of(node, "group_size", int_of(node, "q_group_size", -1)));
    dialect->zeros_as_stored = !strcmp(text_of(node, "checkpoint_format"), "gptq_v2");
    return 0;
}

static int read_fp8(struct by_llm_dialect *dialect, const struct by_doc_node *node)
{
    const struct by_doc_node *block = by_doc_get(node, "weight_block_size");
    dialect->layout = &by_llm_layout_fp8;
    dialect->spec = (struct by_llm_spec){.dtype = &by_dtype_fp8_e4m3, .scale = BY_LLM_SCALE_MODEL};
    dialect->input = by_doc_get(node, "activation_scheme");
    if (!strcmp(text_of(node, "kv_cache_scheme"), "static"))
        dialect->cache = &by_dtype_fp8_e4m3;
    if (!block || block->kind != BY_DOC_LIST || block->count != 2)
        return 0;
    dialect->layout = NULL;
    for (size_t i = 0; i < 2; i++) {
        int64_t size = 0;
        if (block->items[i]->text && by_parse_i64(block->items[i]->text, &size) && size > 0)
            dialect->block[i] = (uint64_t)size;
    }
    return 0;
}

static const struct by_llm_scheme *scheme_spec(const char *name, int64_t group,
                                               struct by_llm_spec *spec, struct baryon_error *err)
{
    const struct by_llm_scheme *scheme = by_llm_scheme_find(name, err);
    if (!scheme)
        return NULL;
    *spec = scheme->weight;
    if (group > 0 && spec->grain == BY_LLM_GROUP && !spec->dtype->block.size)
        spec->group = (size_t)group;
    return scheme;
}

static int read_own(struct by_llm_dialect *dialect, struct by_arena *arena,
                    const struct by_doc_node *node, struct baryon_error *err)
{
    const struct by_doc_node *layers = by_doc_get(node, "layers");
    const size_t count = layers && layers->kind == BY_DOC_MAP ? layers->count : 0;
    dialect->layout = &by_llm_layout_json;
    dialect->rotations = by_doc_get(node, "rotation");
    dialect->static_inputs = !strcmp(text_of(node, "inputs"), "static");
    dialect->scheme =
        scheme_spec(text_of(node, "scheme"), int_of(node, "group_size", 0), &dialect->spec, err);
    if (!dialect->scheme ||
        !(dialect->rules = by_arena_alloc(arena, count, sizeof *dialect->rules, err)))
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct by_llm_rule *rule = &dialect->rules[dialect->rule_count++];
        const char *name = layers->pairs[i].value->text;
        rule->pattern = layers->pairs[i].key;
        if (!(rule->scheme = scheme_spec(name ? name : "", 0, &rule->spec, err)))
            return -1;
    }
    return 0;
}

int by_llm_dialect_read(struct by_llm_dialect *dialect, struct by_arena *arena,
                        const struct by_doc_node *config, struct baryon_error *err)
{
    const struct by_doc_node *node = by_doc_get(config, "quantization_config");
    *dialect = (struct by_llm_dialect){0};
    if (!node || node->kind != BY_DOC_MAP)
        return 0;
    const char *method = text_of(node, "quant_method");
    dialect->method = method;
    if (!strcmp(method, "quark"))
        return read_quark(dialect, arena, node, err);
    if (!strcmp(method, "compressed-tensors"))
        return read_compressed(dialect, arena, node, err);
    if (!strcmp(method, "awq"))
        return read_unsigned(dialect, node, &by_llm_layout_awq, err);
    if (!strcmp(method, "gptq"))
        return read_unsigned(dialect, node, &by_llm_layout_gptq, err);
    if (!strcmp(method, "fp8"))
        return read_fp8(dialect, node);
    if (!strcmp(method, "mxfp4")) /* stacks of experts, which their shapes tell */
        return 0;
    if (!strcmp(method, "baryon"))
        return read_own(dialect, arena, node, err);
    return refuse("quant_method", method, err);
}

static const struct by_llm_rule *rule_of(const struct by_llm_dialect *dialect, const char *layer)
{
    for (size_t i = 0; i < dialect->rule_count; i++)
        if (by_llm_match(dialect->rules[i].pattern, layer, NULL) == 1)
            return &dialect->rules[i];
    return NULL;
}

const struct by_llm_spec *by_llm_dialect_spec(const struct by_llm_dialect *dialect,
                                              const char *layer)
{
    const struct by_llm_rule *rule = rule_of(dialect, layer);
    if (rule)
        return &rule->spec;
    return dialect->spec.dtype ? &dialect->spec : NULL;
}

/* --- Inputs --- */

/* Blocks of fp8 go with inputs that have a scale for as many columns. */
static int fp8_input(const struct by_llm_dialect *dialect, const struct by_doc_node *scheme,
                     struct by_llm_spec *spec, struct baryon_error *err)
{
    const char *name = scheme && scheme->kind == BY_DOC_SCALAR ? scheme->text : "dynamic";
    if (!by_has_word("static dynamic", name))
        return refuse("activation_scheme", name, err);
    *spec = (struct by_llm_spec){.dtype = &by_dtype_fp8_e4m3,
                                 .scale = BY_LLM_SCALE_F32,
                                 .dynamic = !strcmp(name, "dynamic")};
    if (dialect->block[1])
        set_group(spec, (int64_t)dialect->block[1]);
    return 0;
}

int by_llm_dialect_input(const struct by_llm_dialect *dialect, const char *layer,
                         struct by_llm_spec *spec, struct baryon_error *err)
{
    const struct by_llm_rule *rule = rule_of(dialect, layer);
    const struct by_doc_node *node = rule ? rule->input : dialect->input;
    const struct by_llm_scheme *scheme = rule ? rule->scheme : dialect->scheme;
    *spec = scheme ? by_llm_input_spec(scheme, dialect->static_inputs) : (struct by_llm_spec){0};
    if (scheme && spec->grain == BY_LLM_GROUP && spec->group == scheme->weight.group)
        spec->group = (rule ? &rule->spec : &dialect->spec)->group; /* --group-size */
    if (dialect->method && !strcmp(dialect->method, "fp8"))
        return fp8_input(dialect, node, spec, err);
    if (!node || (node->kind != BY_DOC_MAP && node->kind != BY_DOC_LIST))
        return 0;
    return dialect->layout == &by_llm_layout_quark ? quark_specs(node, spec, err)
                                                   : compressed_spec(node, spec, err);
}
