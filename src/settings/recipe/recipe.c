/* The recipe from settings. */
#include "settings/recipe/recipe.h"
#include "config/nodes.h"
#include "ir/tensor.h"
#include "preset/preset.h"
#include "settings/notices.h"
#include "settings/quark/alias.h"
#include "settings/recipe/check.h"
#include "settings/recipe/idle.h"
#include "settings/recipe/target.h"
#include "settings/recipe/yield.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

/* --- Presets --- */

/* Switches collect: those that were given come after the preset's and win. */
static bool collects(const char *option)
{
    return !strcmp(option, "pass") || !strcmp(option, "refine");
}

static int put_in_front(struct by_config *config, const struct by_option *option,
                        struct by_setting_texts *list, const char *value, struct baryon_error *err)
{
    const struct by_setting_texts given = *list;
    const enum by_option_source source = by_config_source(config, option->name);
    *list = (struct by_setting_texts){.at = NULL};
    if (by_config_set(config, option, value, NULL, source, err) < 0 ||
        by_list_reserve(&config->arena, list, given.count, sizeof *list->at, err) < 0)
        return -1;
    for (size_t i = 0; i < given.count; i++)
        list->at[list->count++] = given.at[i];
    return 0;
}

static int set_preset_value(struct by_config *config, struct by_recipe_settings *settings,
                            const struct by_preset_value *row, struct baryon_error *err)
{
    const struct by_option *option = by_config_find(config, row->option);
    if (!option)
        return by_fail(err, BARYON_ERR_INTERNAL, "unknown option '%s'", row->option);
    if (collects(row->option) && by_config_given(config, row->option))
        return put_in_front(config, option,
                            strcmp(row->option, "pass") != 0 ? &settings->refine
                                                             : &settings->passes,
                            row->value, err);
    return by_config_set(config, option, row->value, NULL, BY_SOURCE_PRESET, err);
}

static int set_rows(struct by_config *config, struct by_recipe_settings *settings,
                    const struct by_preset *preset, const struct by_preset_value *row,
                    struct baryon_error *err)
{
    for (; row && row->option; row++)
        if (set_preset_value(config, settings, row, err) < 0)
            return by_err_in(err, "preset %s", preset->name);
    return 0;
}

/* Each on top of what it is based on. */
static int set_preset_values(struct by_config *config, struct by_recipe_settings *settings,
                             const struct by_preset *preset, struct baryon_error *err)
{
    if (preset->base && set_preset_values(config, settings, preset->base, err) < 0)
        return -1;
    if (set_rows(config, settings, preset, preset->values, err) < 0)
        return -1;
    return settings->compat ? set_rows(config, settings, preset, preset->compat, err) : 0;
}

static int take_preset(struct by_config *config, struct by_recipe_settings *settings,
                       struct baryon_error *err)
{
    if (!settings->preset)
        return 0;
    const struct by_preset *preset = by_preset_find(settings->preset, err);
    if (!preset)
        return by_err_in(err, "--preset");
    settings->preset = preset->name;
    return set_preset_values(config, settings, preset, err);
}

/* --- Defaults that depend on other values --- */

static bool is_default(const struct by_config *config, const char *name)
{
    return by_config_source(config, name) == BY_SOURCE_DEFAULT;
}

/* The method of activations, or an option of it. */
static bool gives_method(const struct by_config *config, const struct by_recipe_settings *settings)
{
    const struct by_calib_option_set *set = by_method_of(settings->activation_method)->options;
    bool given = by_config_given(config, "activation-method");
    for (size_t i = 0; set && i < set->count; i++)
        given = given || by_config_given(config, set->rows[i].row.name);
    return given;
}

/* Floats and blocks have no ranges that samples would have to tell. */
static void settle_floats(const struct by_config *config, struct by_recipe_settings *settings)
{
    struct by_tensor_spec activation = {0}, weight = {0};
    by_spec_set_type(&activation, settings->activation);
    by_spec_set_type(&weight, settings->weight);
    settings->keep_float_blocks =
        settings->keep_float_weights || is_default(config, "keep-float-weights");
    if (by_spec_is_block(&weight) && is_default(config, "keep-float-weights"))
        settings->keep_float_weights = true;
    if (settings->approach != BY_APPROACH_STATIC || (!activation.format && !weight.format))
        return;
    if (is_default(config, "cle"))
        settings->cle = BY_CLE_OFF;
    if (is_default(config, "bias-correction") && settings->cle != BY_CLE_AUTO)
        settings->bias_correction = BY_BIASES_KEPT;
    if (is_default(config, "bias"))
        settings->bias = BY_BIAS_AS_WEIGHT;
}

/* 8 bits reach too short without scales, which Casts do not have. */
static int settle_scaled(struct by_config *config, struct by_recipe_settings *settings,
                         struct baryon_error *err)
{
    const bool pairs =
        settings->float_form == BY_FLOATS_QUARK && settings->approach == BY_APPROACH_STATIC;
    if (is_default(config, "activation-scaled"))
        settings->activation_scaled = pairs && by_type_is_fp8(settings->activation);
    if (is_default(config, "weight-scaled"))
        settings->weight_scaled = pairs && by_type_is_fp8(settings->weight);
    if ((settings->activation_scaled && by_type_is_block(settings->activation)) ||
        (settings->weight_scaled && by_type_is_block(settings->weight)))
        return by_settings_note(config, settings, err,
                                "blocks are not scaled: their shared exponent is their scale");
    return 0;
}

/* Quark's adaquant with types that have no scales solves rounding alone. */
static void settle_scales(struct by_recipe_settings *settings)
{
    struct by_tensor_spec activation = {0}, weight = {0};
    by_spec_set_type(&activation, settings->activation);
    by_spec_set_type(&weight, settings->weight);
    if (settings->quark_adaquant && (activation.format || weight.format))
        settings->rounding_scales = false;
}

static bool has_8_bit_activations(const struct by_recipe_settings *settings)
{
    struct by_tensor_spec activation = {0};
    int64_t qmin, qmax;
    by_spec_set_type(&activation, settings->activation);
    if (settings->approach != BY_APPROACH_STATIC || !by_spec_is_integer(&activation))
        return false;
    by_spec_levels(&activation, &qmin, &qmax);
    return qmax - qmin <= UINT8_MAX;
}

/* Compilers of NPUs require a pair at every tensor, and integer operators take integers alone; with
 * 16 bits a pair costs nothing. */
static bool may_exclude(const struct by_recipe_settings *settings)
{
    return has_8_bit_activations(settings) && !settings->compat &&
           settings->format == BY_FORMAT_QDQ && settings->operators != BY_OPERATORS_NPU &&
           settings->hardware == BY_HARDWARE_NONE && !settings->all_op_types;
}

#define QUARK_ALPHA 0.5 /* its default */

/* Peaks of channels cost what 8 bits have; with 16 there is room for them. */
static void settle_smoothing(const struct by_config *config, struct by_recipe_settings *settings)
{
    if (has_8_bit_activations(settings) && !settings->compat)
        return;
    if (is_default(config, "smooth"))
        settings->smooth = BY_SMOOTH_OFF;
    else if (settings->compat && settings->smooth == BY_SMOOTH_AUTO)
        settings->smooth = QUARK_ALPHA; /* Quark does not choose */
}

/* Compilers of NPUs have no float products; with 16 bits there is room for outliers. */
static void settle_splitting(const struct by_config *config, struct by_recipe_settings *settings)
{
    if (is_default(config, "split-outliers") &&
        (!has_8_bit_activations(settings) || settings->compat ||
         settings->hardware != BY_HARDWARE_NONE))
        settings->split = BY_SPLIT_OFF;
}

/* What nobody asked for. */
static bool is_free(const struct by_config *config, const char *name)
{
    return by_config_source(config, name) <= BY_SOURCE_PRESET;
}

/* Mostly the best that there is without samples that judge. Solving gains little by equalization.
 */
static void settle_trials(const struct by_config *config, struct by_recipe_settings *settings)
{
    const struct {
        const char *name;
        int *at, from, to;
    } choices[] = {
        {"rotate", &settings->rotate, BY_ROTATE_AUTO, BY_ROTATE_OFF},
        {"split-outliers", &settings->split, BY_SPLIT_AUTO, BY_SPLIT_OFF},
        {"cle", &settings->cle, BY_CLE_AUTO,
         settings->rounding == BY_ROUNDING_NEAREST ? BY_CLE_EXACT : BY_CLE_OFF},
        {"bias-correction", &settings->bias_correction, BY_BIASES_AUTO,
         settings->bias == 0 || settings->bias == BY_BIAS_INT32 ? BY_BIASES_CORRECTED
                                                                : BY_BIASES_KEPT},
        {"auto-exclude", &settings->auto_exclude, BY_EXCLUDE_AUTO, BY_EXCLUDE_ALWAYS},
        {"logarithm-inputs", &settings->logarithm_inputs, BY_LOGARITHMS_AUTO, BY_LOGARITHMS_FLOAT},
        {"joins", &settings->joins, BY_JOINS_AUTO, BY_JOINS_QUANTIZED},
    };
    const struct {
        const char *name;
        bool *at;
    } flags[] = {
        {"activation-headroom-auto", &settings->activation_headroom_auto},
        {"activation-method-auto", &settings->activation_method_auto},
        {"weight-method-auto", &settings->weight_method_auto},
        {"weight-rows-auto", &settings->weight_rows_auto},
        {"wide-auto", &settings->wide_auto},
    };
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++)
        if (is_free(config, choices[i].name) && *choices[i].at == choices[i].from)
            *choices[i].at = choices[i].to;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (is_free(config, flags[i].name))
            *flags[i].at = false;
    if (is_free(config, "smooth") && settings->smooth == BY_SMOOTH_AUTO)
        settings->smooth = BY_SMOOTH_OFF;
}

static int settle_recipe_defaults(struct by_config *config, struct by_recipe_settings *settings,
                                  struct baryon_error *err)
{
    struct by_tensor_spec weight = {0};
    by_spec_set_type(&weight, settings->weight);
    settle_floats(config, settings);
    settle_scales(settings);
    settle_smoothing(config, settings);
    settle_splitting(config, settings);
    if (by_spec_is_unsigned(&weight) && is_default(config, "weight-symmetric"))
        settings->weight_symmetric = false;
    if (settings->approach != BY_APPROACH_STATIC && is_default(config, "cle"))
        settings->cle = BY_CLE_OFF;
    if ((settings->approach != BY_APPROACH_STATIC || settings->compat) &&
        is_default(config, "bias-correction"))
        settings->bias_correction = BY_BIASES_KEPT;
    /* Solving finds biases itself. */
    if (settings->rounding != BY_ROUNDING_NEAREST && is_default(config, "bias-correction"))
        settings->bias_correction = BY_BIASES_KEPT;
    if (settings->compat)
        by_method_settle(BY_FOR_ACTIVATIONS, by_method_of(settings->activation_method), config,
                         &settings->activation_options);
    if (settings->compat && is_default(config, "adjust-weight-for-bias"))
        settings->adjust_weight_for_bias = false;
    if (settings->compat && is_default(config, "activation-headroom"))
        settings->activation_headroom = 1;
    if ((settings->compat || !is_default(config, "activation-headroom")) &&
        is_default(config, "activation-headroom-auto"))
        settings->activation_headroom_auto = false;
    if ((settings->compat || gives_method(config, settings)) &&
        by_config_source(config, "activation-method-auto") <= BY_SOURCE_PRESET)
        settings->activation_method_auto = false;
    if ((settings->compat || !is_default(config, "weight-method")) &&
        is_default(config, "weight-method-auto"))
        settings->weight_method_auto = false;
    if (settings->compat && is_default(config, "weight-rows-auto"))
        settings->weight_rows_auto = false;
    if (!may_exclude(settings) && is_default(config, "auto-exclude"))
        settings->auto_exclude = BY_EXCLUDE_OFF;
    if (!settings->trials)
        settle_trials(config, settings);
    if (settings->nbits_method == BY_NBITS_HQQ && is_default(config, "nbits-symmetric"))
        settings->nbits_symmetric = false;
    return settle_scaled(config, settings, err);
}

#define SETTLE_ROUNDS 16 /* a few are enough as rules are now */

/* What gives way or has no effect can change other defaults, and these what has an effect. */
static int settle_options(struct by_config *config, struct by_recipe_settings *settings,
                          struct baryon_error *err)
{
    bool changed = true;
    for (unsigned round = 0; round < SETTLE_ROUNDS && changed; round++) {
        if (settle_recipe_defaults(config, settings, err) < 0 ||
            by_recipe_yield(config, settings, &changed, err) < 0)
            return -1;
        if (!changed && by_recipe_drop_idle(config, settings, &changed, err) < 0)
            return -1;
    }
    return 0;
}

/* --- Types --- */

static struct by_block_spec block_of(const struct by_recipe_settings *settings)
{
    return (struct by_block_spec){
        .size = settings->block_size,
        .axis = settings->block_axis,
        .one_axis = settings->block_axis_everywhere,
        .from_bf16 = settings->block_from_bf16,
        .ties = (enum by_ties)settings->block_ties,
    };
}

static int make_activation(const struct by_recipe_settings *settings, struct by_recipe *recipe,
                           struct baryon_error *err)
{
    struct by_tensor_spec *spec = &recipe->activation;
    *spec = (struct by_tensor_spec){
        .block = block_of(settings),
        .symmetric = settings->activation_symmetric,
        .reduce_range = settings->activation_reduce_range,
        .scale = (enum by_scale_type)settings->activation_scale,
        .method = by_method_of(settings->activation_method),
        .calib.headroom = settings->activation_headroom,
    };
    by_spec_set_type(spec, settings->activation);
    spec->scaled = settings->activation_scaled;
    if (recipe->approach == BY_APPROACH_DYNAMIC) { /* what DynamicQuantizeLinear does */
        by_spec_set_type(spec, BY_ELEM_UINT8);
        spec->symmetric = false;
    } else if (recipe->approach != BY_APPROACH_STATIC) {
        by_spec_set_type(spec, 0);
    }
    return by_method_own(BY_FOR_ACTIVATIONS, spec->method, &settings->activation_options,
                         recipe->arena, &spec->calib.own, err);
}

static int make_weight(const struct by_recipe_settings *settings, struct by_recipe *recipe,
                       struct baryon_error *err)
{
    struct by_tensor_spec *spec = &recipe->weight;
    *spec = (struct by_tensor_spec){
        .block = block_of(settings),
        .symmetric = settings->weight_symmetric,
        .reduce_range = settings->weight_reduce_range,
        .scale = (enum by_scale_type)settings->weight_scale,
        .granularity = (enum by_granularity)settings->weight_granularity,
        .method = by_method_of(settings->weight_method),
        .calib.headroom = 1,
    };
    by_spec_set_type(spec, settings->weight);
    spec->scaled = settings->weight_scaled;
    if (spec->granularity == BY_PER_GROUP)
        spec->group = settings->group_size;
    return by_method_own(BY_FOR_WEIGHTS, spec->method, &settings->weight_options, recipe->arena,
                         &spec->calib.own, err);
}

/* A bias of its own is one of weights, but has no groups. */
static int make_bias(const struct by_recipe_settings *settings, struct by_recipe *recipe,
                     struct baryon_error *err)
{
    struct by_tensor_spec *spec = &recipe->bias;
    *spec = recipe->weight;
    recipe->bias_kind = BY_BIAS_OWN;
    if (spec->granularity == BY_PER_GROUP)
        spec->granularity = BY_PER_CHANNEL;
    spec->group = 0;
    if (settings->bias_scale != BY_AS_WEIGHT)
        spec->scale = (enum by_scale_type)settings->bias_scale;
    if (settings->bias_method != BY_AS_WEIGHT)
        spec->method = by_method_of(settings->bias_method);
    if (by_method_own(BY_FOR_WEIGHTS, spec->method, &settings->weight_options, recipe->arena,
                      &spec->calib.own, err) < 0)
        return -1;
    if (settings->bias == 0 || recipe->approach != BY_APPROACH_STATIC) {
        *spec = (struct by_tensor_spec){.elem = 0};
        recipe->bias_kind = BY_BIAS_FLOAT;
    } else if (settings->bias == BY_BIAS_INT32) {
        *spec = (struct by_tensor_spec){.elem = BY_ELEM_INT32, .symmetric = true};
        recipe->bias_kind = BY_BIAS_PRODUCT;
    } else if (settings->bias != BY_BIAS_AS_WEIGHT) {
        by_spec_set_type(spec, settings->bias);
        spec->symmetric = !by_spec_is_unsigned(spec);
    }
    return 0;
}

/* --- Patterns --- */

static int add_pattern(struct by_recipe *recipe, struct by_patterns *patterns, const char *text,
                       const char *origin, struct baryon_error *err)
{
    if (by_list_reserve(recipe->arena, patterns, 1, sizeof *patterns->at, err) < 0)
        return -1;
    patterns->at[patterns->count++] = (struct by_pattern){text, origin};
    return 0;
}

static int add_patterns(struct by_recipe *recipe, struct by_patterns *patterns,
                        const struct by_setting_texts *texts, const char *origin,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < texts->count; i++)
        if (add_pattern(recipe, patterns, texts->at[i], origin, err) < 0)
            return -1;
    return 0;
}

/* "FILE:12" for the pattern in that line. */
static int add_line(struct by_recipe *recipe, const char *path, size_t number, const char *line,
                    size_t length, struct baryon_error *err)
{
    char origin[512];
    while (length &&
           (line[length - 1] == ' ' || line[length - 1] == '\r' || line[length - 1] == '\t'))
        length--;
    while (length && (*line == ' ' || *line == '\t')) {
        line++;
        length--;
    }
    if (!length || *line == '#')
        return 0;
    snprintf(origin, sizeof origin, "%s:%zu", path, number);
    const char *text = by_arena_text(recipe->arena, line, length, err);
    const char *kept = text ? by_arena_text(recipe->arena, origin, strlen(origin), err) : NULL;
    return kept ? add_pattern(recipe, &recipe->exclude, text, kept, err) : -1;
}

#define LIST_BYTES_MAX (16u << 20)

static int add_lines(struct by_recipe *recipe, const char *path, struct baryon_error *err)
{
    char *bytes;
    size_t size, number = 0;
    const size_t before = recipe->exclude.count;
    if (by_read_file(path, LIST_BYTES_MAX, &bytes, &size, err) < 0)
        return by_err_in(err, "--exclude-from");
    int status = 0;
    if (memchr(bytes, '\0', size) || !by_utf8_valid(bytes, size))
        status = by_fail(err, BARYON_ERR_INPUT, "the list of names must be UTF-8 text");
    for (const char *at = bytes; status == 0 && *at;) {
        const size_t length = strcspn(at, "\n");
        status = add_line(recipe, path, ++number, at, length, err);
        at += length + (at[length] == '\n');
    }
    by_free(bytes);
    if (status == 0 && recipe->exclude.count == before)
        status = by_fail(err, BARYON_ERR_INPUT, "the list contains no name");
    return status < 0 ? by_err_file(err, path) : 0;
}

static int make_patterns(const struct by_recipe_settings *settings, struct by_recipe *recipe,
                         struct baryon_error *err)
{
    const struct {
        struct by_patterns *patterns;
        const struct by_setting_texts *texts;
        const char *origin;
    } lists[] = {
        {&recipe->op_types, &settings->op_types, "--op-types"},
        {&recipe->extra_op_types, &settings->extra_op_types, "--extra-op-types"},
        {&recipe->nodes, &settings->nodes, "--nodes"},
        {&recipe->exclude, &settings->exclude, "--exclude"},
        {&recipe->exclude_op_types, &settings->exclude_op_type, "--exclude-op-type"},
        {&recipe->input_nodes, &settings->input_nodes, "--input-nodes"},
        {&recipe->output_nodes, &settings->output_nodes, "--output-nodes"},
        {&recipe->no_output_op_types, &settings->no_output_op_types, "--no-output-op-types"},
        {&recipe->no_output_nodes, &settings->no_output_nodes, "--no-output-nodes"},
        {&recipe->fuse_between, &settings->fuse_between, "--fuse-between"},
        {&recipe->passthrough, &settings->passthrough, "--passthrough"},
        {&recipe->passes, &settings->passes, "--pass"},
        {&recipe->refine, &settings->refine, "--refine"},
        {&recipe->rounding_op_types, &settings->rounding_op_types, "--rounding-op-types"},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (add_patterns(recipe, lists[i].patterns, lists[i].texts, lists[i].origin, err) < 0)
            return -1;
    /* More operators besides a list that replaces the usual one are more of that list. */
    if (recipe->op_types.count && add_patterns(recipe, &recipe->op_types, &settings->extra_op_types,
                                               "--extra-op-types", err) < 0)
        return -1;
    for (size_t i = 0; i < settings->exclude_from.count; i++)
        if (add_lines(recipe, settings->exclude_from.at[i], err) < 0)
            return -1;
    return 0;
}

/* --- Spans and rules --- */

static int make_spans(const struct by_recipe_settings *settings, struct by_recipe *recipe,
                      struct baryon_error *err)
{
    const struct by_setting_pairs *given = &settings->exclude_between;
    const size_t count = settings->file_spans.count + given->count;
    if (by_list_reserve(recipe->arena, &recipe->exclude_spans, count,
                        sizeof *recipe->exclude_spans.at, err) < 0)
        return -1;
    for (size_t i = 0; i < settings->file_spans.count; i++)
        recipe->exclude_spans.at[recipe->exclude_spans.count++] = settings->file_spans.at[i];
    for (size_t i = 0; i < given->count; i++) {
        struct by_span_rule span = {.origin = "--exclude-between"};
        if (by_names_split(recipe->arena, given->at[i].name, &span.starts, &span.start_count, err) <
                0 ||
            by_names_split(recipe->arena, given->at[i].value, &span.ends, &span.end_count, err) < 0)
            return by_err_in(err, "--exclude-between");
        recipe->exclude_spans.at[recipe->exclude_spans.count++] = span;
    }
    return 0;
}

/* Operators first, then nodes, then tensors; of each kind files first, then the command line. */
static int make_rules_of(const struct by_recipe_settings *settings, enum by_rule_kind kind,
                         const struct by_setting_pairs *given, const char *origin,
                         struct by_recipe *recipe, struct baryon_error *err)
{
    struct by_rule_list list = {recipe->rules.at, recipe->rules.count, recipe->rules.cap};
    const struct by_rule_list *file = &settings->file_rules;
    int status = by_list_reserve(recipe->arena, &list, file->count, sizeof *list.at, err);
    for (size_t i = 0; status == 0 && i < file->count; i++)
        if (file->at[i].kind == kind)
            list.at[list.count++] = file->at[i];
    for (size_t i = 0; status == 0 && i < given->count; i++)
        status = by_rule_parse(recipe->arena, kind, given->at[i].name, given->at[i].value, origin,
                               &list, err);
    recipe->rules.at = list.at;
    recipe->rules.count = list.count;
    recipe->rules.cap = list.cap;
    return status;
}

static int make_rules(const struct by_recipe_settings *settings, struct by_recipe *recipe,
                      struct baryon_error *err)
{
    if (make_rules_of(settings, BY_RULE_OP_TYPE, &settings->op_type_rules, "--op-type", recipe,
                      err) < 0 ||
        make_rules_of(settings, BY_RULE_NODE, &settings->node_rules, "--node", recipe, err) < 0)
        return -1;
    return make_rules_of(settings, BY_RULE_TENSOR, &settings->tensor_rules, "--tensor", recipe,
                         err);
}

/* --- The rest --- */

static const char *const mixed_names[] = {
    [BY_MIXED_INT8] = "int8", [BY_MIXED_BFP16] = "bfp16", [BY_MIXED_MXINT8] = "mxint8"};

static void make_flags(const struct by_recipe_settings *settings, struct by_recipe *recipe)
{
    recipe->bias_int16 = settings->bias_int16;
    recipe->adjust_weight_for_bias = settings->adjust_weight_for_bias;
    recipe->operators = (enum by_operators)settings->operators;
    recipe->all_op_types = settings->all_op_types;
    recipe->dedicated_pairs = settings->dedicated_pairs;
    recipe->dedicated_dq = settings->dedicated_dq;
    recipe->dual_pairs = settings->dual_pairs;
    recipe->keep_float_weights = settings->keep_float_weights;
    recipe->keep_float_blocks = settings->keep_float_blocks;
    recipe->fold_relu = settings->fold_relu;
    recipe->align_elementwise = settings->align_elementwise;
    recipe->keep_unquantized_chains = settings->keep_unquantized_chains;
    recipe->matmul_constant_only = settings->matmul_constant_only;
    recipe->fuse_relu = settings->fuse_relu;
    recipe->fuse_clip = settings->fuse_clip;
    recipe->fuse_leaky_relu = settings->fuse_leaky_relu;
    recipe->fuse_prelu = settings->fuse_prelu;
    recipe->fuse_gelu = settings->fuse_gelu;
    recipe->fuse_instance_norm = settings->fuse_instance_norm;
    recipe->fuse_mul_add = settings->fuse_mul_add;
    recipe->fuse_blocks = settings->fuse_blocks;
    recipe->floats = (enum by_float_form)settings->float_form;
    recipe->block_form = (enum by_block_form)settings->block_form;
    recipe->float_clip = settings->float_clip;
    recipe->domain = (enum by_q_domain)settings->domain;
    recipe->optimize = settings->optimize;
    recipe->passes_from = settings->passes_from;
    recipe->opset = settings->opset;
    recipe->all_value_info = settings->all_value_info;
    recipe->half_floats = (enum by_half_floats)settings->half_floats;
    recipe->rotate = (enum by_rotate_mode)settings->rotate;
    recipe->smooth = settings->smooth;
    recipe->split = (enum by_split_mode)settings->split;
    recipe->cle = (enum by_cle_mode)settings->cle;
    recipe->cle_threshold = settings->cle_threshold;
    recipe->cle_range = settings->cle_range;
    recipe->cle_steps = settings->cle_steps;
    recipe->cle_stem = settings->cle_stem;
    recipe->bias_correction = (enum by_bias_correction)settings->bias_correction;
    recipe->rounding = (enum by_rounding)settings->rounding;
    recipe->rounding_damping = settings->rounding_damping;
    recipe->rounding_mix = settings->rounding_mix;
    recipe->rounding_starts = (unsigned)settings->rounding_starts;
    recipe->rounding_iterations = (unsigned)settings->rounding_iterations;
    recipe->rounding_on_float = settings->rounding_inputs;
    recipe->rounding_biases = settings->rounding_biases;
    recipe->rounding_free = settings->rounding_free;
    recipe->rounding_scales = settings->rounding_scales;
    recipe->rounding_samples = settings->rounding_samples;
    recipe->hardware = (enum by_hardware)settings->hardware;
    recipe->simulate_dpu = settings->simulate_dpu;
    recipe->refine_rounds = settings->refine_rounds;
    recipe->compat = settings->compat;
    recipe->headroom_auto = settings->activation_headroom_auto;
    recipe->activation_method_auto =
        settings->activation_method_auto && settings->approach == BY_APPROACH_STATIC;
    if (settings->weight_method_auto && settings->approach == BY_APPROACH_STATIC)
        recipe->other_weight_method = by_calibrator_find("minmse");
    recipe->weight_rows_auto =
        settings->weight_rows_auto && settings->approach == BY_APPROACH_STATIC;
    recipe->wide_auto = settings->wide_auto && !(settings->wide_below > 0);
    recipe->wide_below = settings->wide_below;
    recipe->mixed.narrow = mixed_names[settings->mixed];
    recipe->mixed.goal = settings->mixed_goal;
    recipe->mixed.share = settings->mixed_share;
    recipe->logarithms = (enum by_logarithms)settings->logarithm_inputs;
    recipe->joins = (enum by_joins)settings->joins;
    recipe->auto_exclude = (enum by_auto_exclude)settings->auto_exclude;
    recipe->spares_pairs = recipe->auto_exclude != BY_EXCLUDE_OFF;
    recipe->nbits.bits = settings->nbits;
    recipe->nbits.group = settings->nbits_group;
    recipe->nbits.accuracy_level = settings->nbits_accuracy_level;
    recipe->nbits.symmetric = settings->nbits_symmetric;
    recipe->nbits.method = (enum by_nbits_method)settings->nbits_method;
}

int by_recipe_make(struct by_config *config, struct by_recipe **made, struct baryon_error *err)
{
    struct by_recipe_settings *settings = by_recipe_settings_of(config);
    if (!settings)
        return by_fail(err, BARYON_ERR_INTERNAL, "the options of quantization are not bound");
    if (by_recipe_take_extra(config, settings, err) < 0 || take_preset(config, settings, err) < 0 ||
        by_recipe_take_target(config, settings, err) < 0 ||
        by_alias_settle_blocks(config, settings, err) < 0 ||
        by_alias_settle_gptq(config, settings, err) < 0)
        return -1;
    if (settle_options(config, settings, err) < 0)
        return -1;
    struct by_recipe *recipe = BY_ARENA_NEW(&config->arena, struct by_recipe, err);
    if (!recipe)
        return -1;
    recipe->preset = settings->preset;
    recipe->arena = &config->arena;
    recipe->approach = (enum by_approach)settings->approach;
    recipe->format = (enum by_format)settings->format;
    if (make_activation(settings, recipe, err) < 0 || make_weight(settings, recipe, err) < 0 ||
        make_bias(settings, recipe, err) < 0)
        return -1;
    make_flags(settings, recipe);
    *made = recipe;
    if (by_recipe_check(config, settings, recipe, err) < 0 ||
        make_patterns(settings, recipe, err) < 0 || make_spans(settings, recipe, err) < 0 ||
        make_rules(settings, recipe, err) < 0)
        return -1;
    if (by_recipe_check_rules(recipe, err) < 0)
        return -1;
    return by_recipe_note_target(config, settings, err);
}
