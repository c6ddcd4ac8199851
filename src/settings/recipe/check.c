/* Refuses combinations of quantization options that contradict each other. */
#include "settings/recipe/check.h"

#include "ir/tensor.h"
#include "pass/pass.h"
#include "quant/refine.h"

#include <stdio.h>
#include <string.h>

/* --- Options that have a meaning only beside others --- */

typedef bool condition(const struct by_recipe_settings *settings);

static bool is_static(const struct by_recipe_settings *s)
{
    return s->approach == BY_APPROACH_STATIC;
}

static bool is_nbits(const struct by_recipe_settings *s)
{
    return s->approach == BY_APPROACH_NBITS;
}

static bool is_not_nbits(const struct by_recipe_settings *s)
{
    return !is_nbits(s);
}

static bool is_not_dynamic(const struct by_recipe_settings *s)
{
    return s->approach != BY_APPROACH_DYNAMIC;
}

static bool has_pairs(const struct by_recipe_settings *s)
{
    return is_static(s) && s->format == BY_FORMAT_QDQ;
}

static bool writes_pairs(const struct by_recipe_settings *s)
{
    return has_pairs(s) || s->approach == BY_APPROACH_WEIGHTS;
}

static bool has_hardware(const struct by_recipe_settings *s)
{
    return has_pairs(s) && s->hardware != BY_HARDWARE_NONE;
}

static bool is_integer(int type)
{
    struct by_tensor_spec spec = {0};
    by_spec_set_type(&spec, type);
    return by_spec_is_integer(&spec);
}

static bool is_block(int type)
{
    struct by_tensor_spec spec = {0};
    by_spec_set_type(&spec, type);
    return by_spec_is_block(&spec);
}

static bool has_integer_activations(const struct by_recipe_settings *s)
{
    return is_static(s) && is_integer(s->activation);
}

static bool has_integer_weights(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) && is_integer(s->weight);
}

static bool has_integers(const struct by_recipe_settings *s)
{
    return has_integer_activations(s) && has_integer_weights(s);
}

/* Integers anywhere in the levels, and scales: floats and blocks have neither. */
static bool has_integer_rounding(const struct by_recipe_settings *s)
{
    return is_nbits(s) || has_integer_weights(s);
}

/* Rules may ask for any type. */
static bool has_rules(const struct by_recipe_settings *s)
{
    return s->file_rules.count || s->op_type_rules.count || s->node_rules.count ||
           s->tensor_rules.count;
}

static bool is_float_type(int type)
{
    return !is_integer(type) && !is_block(type);
}

static bool has_floats(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) && ((is_static(s) && is_float_type(s->activation)) ||
                               is_float_type(s->weight) || has_rules(s));
}

static bool has_float_activations(const struct by_recipe_settings *s)
{
    return is_static(s) && (is_float_type(s->activation) || has_rules(s));
}

static bool has_block_activations(const struct by_recipe_settings *s)
{
    return has_pairs(s) && (is_block(s->activation) || has_rules(s));
}

static bool fuses(const struct by_recipe_settings *s)
{
    return s->fuse_blocks || !is_block(s->activation) || has_rules(s);
}

static bool is_no_compiler(const struct by_recipe_settings *s)
{
    return s->float_form != BY_FLOATS_COMPILER;
}

static bool has_blocks(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) &&
           ((is_static(s) && is_block(s->activation)) || is_block(s->weight) || has_rules(s));
}

static bool stores_blocks(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) && !s->keep_float_blocks && (is_block(s->weight) || has_rules(s));
}

static bool has_scales(const struct by_recipe_settings *s)
{
    return writes_pairs(s) &&
           (has_integer_activations(s) || has_integer_weights(s) || has_rules(s));
}

static bool has_scaled_activations(const struct by_recipe_settings *s)
{
    return is_static(s) && s->activation_scaled && is_float_type(s->activation);
}

/* Chosen by a calibration method. */
static bool has_ranges(const struct by_recipe_settings *s)
{
    return has_integer_activations(s) || has_scaled_activations(s);
}

/* What blocks share is their scale: there it changes nothing. */
static bool may_scale_activations(const struct by_recipe_settings *s)
{
    return is_static(s) && !is_integer(s->activation) && s->float_form != BY_FLOATS_COMPILER;
}

static bool may_scale_weights(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) && !is_integer(s->weight) && s->float_form != BY_FLOATS_COMPILER;
}

static bool uses_method(const struct by_recipe_settings *s, const char *name)
{
    size_t count;
    return has_ranges(s) && !strcmp(by_calibrators(&count)[s->activation_method]->name, name);
}

static bool uses_percentile(const struct by_recipe_settings *s)
{
    return uses_method(s, "percentile") || uses_method(s, "minmse-pow2-percentile");
}

static bool uses_percentiles(const struct by_recipe_settings *s)
{
    return uses_percentile(s) || uses_method(s, "layerwise-percentile");
}

static bool uses_plain_percentile(const struct by_recipe_settings *s)
{
    return uses_method(s, "percentile");
}

static bool uses_layerwise(const struct by_recipe_settings *s)
{
    return uses_method(s, "layerwise-percentile");
}

static bool uses_entropy(const struct by_recipe_settings *s)
{
    return uses_method(s, "entropy");
}

static bool uses_extremes(const struct by_recipe_settings *s)
{
    return uses_method(s, "minmax") || uses_method(s, "nonoverflow");
}

static bool uses_weight_percentile(const struct by_recipe_settings *s)
{
    size_t count;
    return has_integer_weights(s) &&
           !strcmp(by_calibrators(&count)[s->weight_method]->name, "percentile");
}

static bool has_groups(const struct by_recipe_settings *s)
{
    return has_integer_weights(s) && s->weight_granularity == BY_PER_GROUP;
}

static bool has_product_bias(const struct by_recipe_settings *s)
{
    return has_integers(s) && s->bias == BY_BIAS_INT32;
}

static bool has_own_bias(const struct by_recipe_settings *s)
{
    return is_static(s) && s->bias != BY_BIAS_INT32 && s->bias != 0 &&
           (s->bias != BY_BIAS_AS_WEIGHT || has_integer_weights(s));
}

static bool is_asymmetric(const struct by_recipe_settings *s)
{
    return has_pairs(s) && has_integer_activations(s) && !s->activation_symmetric;
}

static bool equalizes(const struct by_recipe_settings *s)
{
    return s->cle != BY_CLE_OFF;
}

static bool solves(const struct by_recipe_settings *s)
{
    return s->rounding != BY_ROUNDING_NEAREST;
}

static bool descends(const struct by_recipe_settings *s)
{
    return s->rounding == BY_ROUNDING_DESCENT || s->rounding == BY_ROUNDING_GPTQ;
}

static bool starts_often(const struct by_recipe_settings *s)
{
    return s->rounding == BY_ROUNDING_DESCENT;
}

static bool relaxes(const struct by_recipe_settings *s)
{
    return s->rounding == BY_ROUNDING_RELAXATION;
}

static const struct meaning {
    const char *options; /* names between blanks, "prefix*" for all that begin with it */
    condition *holds;
    const char *lacks;
} meanings[] = {
    {" percentile ", uses_percentile, "--activation-method percentile or minmse-pow2-percentile"},
    {" percentile-symmetric ", uses_percentiles,
     "--activation-method percentile, layerwise-percentile or minmse-pow2-percentile"},
    {" percentile-guard ", uses_plain_percentile, "--activation-method percentile"},
    {" percentile-candidates layerwise-metric ", uses_layerwise,
     "--activation-method layerwise-percentile"},
    {" entropy-bins entropy-levels ", uses_entropy, "--activation-method entropy"},
    {" moving-average ", uses_extremes, "--activation-method minmax or nonoverflow"},
    {" activation activation-symmetric activation-reduce-range activation-scale "
     "activation-method activation-headroom format bias bias-correction rounding-scales ",
     is_static, "--approach static"},
    {" activation-symmetric activation-reduce-range activation-scale activation-headroom ",
     has_integer_activations, "--activation of integers"},
    {" activation-method ", has_ranges, "--activation of integers, or --activation-scaled"},
    {" activation-scaled ", may_scale_activations,
     "--activation bf16, fp16 or fp8 and --float-form quark or cast"},
    {" weight-scaled ", may_scale_weights,
     "--weight bf16, fp16 or fp8 and --float-form quark or cast"},
    {" rounding-scales ", has_integers, "--activation and --weight of integers"},
    {" rounding ", is_not_dynamic, "--approach static, weights or nbits"},
    {" float-form ", has_floats, "--activation or --weight bf16, fp16 or fp8"},
    {" float-clip ", has_float_activations, "--activation bf16, fp16 or fp8"},
    {" block-size block-axis block-axis-everywhere block-ties block-from-bf16 ", has_blocks,
     "--activation or --weight of blocks"},
    {" block-form ", stores_blocks, "--keep-float-weights=false and --weight of blocks"},
    {" keep-float-weights ", is_no_compiler, "--float-form quark or cast"},
    {" fuse-relu fuse-clip fuse-leaky-relu fuse-prelu fuse-gelu fuse-instance-norm fuse-mul-add "
     "fuse-between ",
     fuses, "--fuse-blocks, as activations are blocks"},
    {" fuse-blocks ", has_block_activations, "--format qdq and --activation of blocks"},
    {" bias-scale bias-method ", has_own_bias, "a --bias with a scale of its own"},
    {" bias-int16 adjust-weight-for-bias ", has_product_bias, "--bias int32"},
    {" weight weight-symmetric weight-reduce-range weight-scale weight-granularity weight-method ",
     is_not_nbits, "--approach static, weights or dynamic"},
    {" weight-symmetric weight-reduce-range weight-scale weight-granularity weight-method ",
     has_integer_weights, "--weight of integers"},
    {" group-size ", has_groups, "--weight-granularity group"},
    {" weight-percentile ", uses_weight_percentile, "--weight-method percentile"},
    {" domain keep-float-weights ", writes_pairs, "--format qdq and --approach static or weights"},
    {" domain ", has_scales, "--activation or --weight of integers"},
    {" dedicated-pairs dedicated-dq align-elementwise keep-unquantized-chains no-output-op-types "
     "no-output-nodes fuse-relu fuse-clip fuse-leaky-relu fuse-prelu fuse-gelu fuse-instance-norm "
     "fuse-mul-add fuse-between passthrough hardware ",
     has_pairs, "--format qdq and --approach static"},
    {" fold-relu ", is_asymmetric, "--activation-symmetric=false"},
    {" simulate-dpu refine refine-rounds ", has_hardware, "--hardware xint8 or extended"},
    {" cle-threshold cle-steps cle-stem ", equalizes, "--cle auto, exact, replace or keep"},
    {" rounding-damping rounding-mix rounding-inputs rounding-biases rounding-scales "
     "rounding-samples "
     "rounding-op-types ",
     solves, "--rounding descent, gptq or relaxation"},
    {" rounding-free ", descends, "--rounding descent or gptq"},
    {" rounding-free ", has_integer_rounding, "--weight of integers"},
    {" rounding-starts ", starts_often, "--rounding descent"},
    {" rounding-iterations ", relaxes, "--rounding relaxation"},
    {" nbits nbits-group nbits-symmetric nbits-accuracy-level nbits-method ", is_nbits,
     "--approach nbits"},
    {" operators all-op-types matmul-constant-only op-type tensor ", is_not_nbits,
     "--approach static, weights or dynamic"},
};

const char *by_recipe_lacks(const struct by_recipe_settings *settings, const char *option)
{
    char word[80];
    snprintf(word, sizeof word, " %s ", option);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strstr(meanings[i].options, word) && !meanings[i].holds(settings))
            return meanings[i].lacks;
    return NULL;
}

/* Flags that say no ask for nothing, nor do defaults that a file states: files that 'baryon
 * presets' wrote have them, and one value of those may be changed without removing others. */
static bool asks_for_nothing(const struct by_config *config, const struct by_option *option)
{
    struct by_str text;
    by_str_init(&text);
    by_config_show(config, option->name, &text);
    const bool off = option->type == BY_OPT_FLAG && !strcmp(by_str_text(&text), "false");
    const bool stated = by_config_source(config, option->name) == BY_SOURCE_FILE &&
                        option->fallback && !strcmp(by_str_text(&text), option->fallback);
    by_str_release(&text);
    return off || stated;
}

static int check_meanings(const struct by_config *config, const struct by_recipe_settings *settings,
                          struct baryon_error *err)
{
    const struct by_option_group *const *group = by_recipe_groups();
    for (; *group; group++)
        for (size_t i = 0; i < (*group)->count; i++) {
            const struct by_option *option = &(*group)->rows[i];
            const char *lacks = by_config_given(config, option->name)
                                    ? by_recipe_lacks(settings, option->name)
                                    : NULL;
            if (lacks && !asks_for_nothing(config, option))
                return by_fail(err, BARYON_ERR_USAGE, "--%s has a meaning only with %s",
                               option->name, lacks);
        }
    return 0;
}

/* --- Values that contradict each other --- */

struct check {
    const struct by_config *config;
    const struct by_recipe_settings *settings;
    const struct by_recipe *recipe;
    struct baryon_error *err;
};

static int refuse_settings(const struct check *check, const char *message, const char *hint)
{
    by_fail(check->err, BARYON_ERR_USAGE, "%s", message);
    return hint ? by_err_hint(check->err, "%s", hint) : -1;
}

static bool is_8_bit(int64_t elem)
{
    return elem == BY_ELEM_INT8 || elem == BY_ELEM_UINT8;
}

/* What the compilers of these NPUs take. */
static int check_xint8(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    if (recipe->hardware != BY_HARDWARE_XINT8 || recipe->approach != BY_APPROACH_STATIC)
        return 0;
    if (!is_8_bit(recipe->activation.elem))
        return refuse_settings(check, "--hardware xint8 and --activation of other than 8 bits",
                               NULL);
    if (recipe->weight.elem != BY_ELEM_INT8)
        return refuse_settings(check, "--hardware xint8 and --weight other than int8", NULL);
    if (recipe->activation.scale != BY_SCALE_POW2)
        return refuse_settings(check, "--hardware xint8 and --activation-scale other than pow2",
                               NULL);
    if (recipe->weight.scale != BY_SCALE_POW2)
        return refuse_settings(check, "--hardware xint8 and --weight-scale other than pow2", NULL);
    if (!recipe->activation.symmetric)
        return refuse_settings(check, "--hardware xint8 and --activation-symmetric=false", NULL);
    if (!recipe->weight.symmetric)
        return refuse_settings(check, "--hardware xint8 and --weight-symmetric=false", NULL);
    if (recipe->weight.granularity != BY_PER_TENSOR)
        return refuse_settings(check, "--hardware xint8 and --weight-granularity other than tensor",
                               NULL);
    if (recipe->activation.reduce_range)
        return refuse_settings(check, "--hardware xint8 and --activation-reduce-range", NULL);
    if (recipe->weight.reduce_range)
        return refuse_settings(check, "--hardware xint8 and --weight-reduce-range", NULL);
    return 0;
}

static int check_symmetry(const struct check *check)
{
    const struct by_tensor_spec *weight = &check->recipe->weight;
    if (check->recipe->approach != BY_APPROACH_NBITS && by_spec_is_unsigned(weight) &&
        weight->symmetric)
        return refuse_settings(
            check, "--weight-symmetric and --weight of an unsigned type",
            "its levels are not symmetric around a zero point; take a signed type");
    return 0;
}

static int check_method(const struct check *check, const struct by_tensor_spec *spec,
                        const char *option, const char *scale)
{
    struct by_calib_target target;
    char message[256];
    by_spec_target(spec, &target);
    if ((!by_spec_is_integer(spec) && !by_spec_is_scaled(spec)) || !spec->method ||
        !spec->method->suits || spec->method->suits(&target))
        return 0;
    if (!strncmp(spec->method->name, "distribution", strlen("distribution"))) {
        snprintf(message, sizeof message, "%s %s and a type other than fp8", option,
                 spec->method->name);
        return refuse_settings(check, message, "it matches the spread of floats of 8 bits");
    }
    if (target.power_of_two) { /* so it is votes around one zero point */
        snprintf(message, sizeof message, "%s %s and --activation-symmetric=false", option,
                 spec->method->name);
        return refuse_settings(check, message, "minmse-pow2 takes zero points anywhere");
    }
    snprintf(message, sizeof message, "%s %s and %s other than pow2", option, spec->method->name,
             scale);
    return refuse_settings(check, message, NULL);
}

static int check_methods(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    if (recipe->approach == BY_APPROACH_NBITS)
        return 0;
    if (recipe->approach == BY_APPROACH_STATIC &&
        check_method(check, &recipe->activation, "--activation-method", "--activation-scale") < 0)
        return -1;
    if (check_method(check, &recipe->weight, "--weight-method", "--weight-scale") < 0)
        return -1;
    return check_method(check, &recipe->bias, "--bias-method", "--bias-scale");
}

static int check_dynamic(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    if (recipe->approach != BY_APPROACH_DYNAMIC)
        return 0;
    if (!is_8_bit(recipe->weight.elem))
        return refuse_settings(check, "--approach dynamic and --weight of other than 8 bits", NULL);
    if (recipe->weight.scale != BY_SCALE_FLOAT32)
        return refuse_settings(check, "--approach dynamic and --weight-scale other than float32",
                               NULL);
    if (recipe->weight.granularity == BY_PER_GROUP)
        return refuse_settings(check, "--approach dynamic and --weight-granularity group", NULL);
    return 0;
}

static int check_qoperator(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    if (recipe->format != BY_FORMAT_QOPERATOR)
        return 0;
    if (!is_8_bit(recipe->activation.elem))
        return refuse_settings(check, "--format qoperator and --activation of other than 8 bits",
                               NULL);
    if (!is_8_bit(recipe->weight.elem))
        return refuse_settings(check, "--format qoperator and --weight of other than 8 bits", NULL);
    if (recipe->weight.granularity == BY_PER_GROUP)
        return refuse_settings(check, "--format qoperator and --weight-granularity group", NULL);
    if (recipe->bias_kind != BY_BIAS_PRODUCT)
        return refuse_settings(check, "--format qoperator and --bias other than int32", NULL);
    return 0;
}

/* Or what is stored as 8 bits where the opset has nothing smaller. */
static bool is_8_bit_or_none(const struct by_tensor_spec *spec)
{
    return !by_spec_is_integer(spec) || is_8_bit(spec->elem) || spec->elem == BY_ELEM_INT32 ||
           spec->bits;
}

/* What a converted model's operators take; its own opset is known only later. */
static int check_opset(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    const bool ours = recipe->domain != BY_Q_MICROSOFT;
    if (!recipe->opset || recipe->approach == BY_APPROACH_NBITS)
        return 0;
    if (recipe->opset < 13 && recipe->weight.granularity == BY_PER_CHANNEL && ours)
        return refuse_settings(check, "--weight-granularity channel and --opset below 13", NULL);
    if (recipe->opset < 21 && recipe->weight.granularity == BY_PER_GROUP)
        return refuse_settings(check, "--weight-granularity group and --opset below 21", NULL);
    if (recipe->opset < 21 && by_spec_is_block(&recipe->weight) && !recipe->keep_float_blocks)
        return refuse_settings(
            check, "--keep-float-weights=false, --weight of blocks and --opset below 21",
            "DequantizeLinear has blocks from 21 on");
    if (recipe->opset < 24 && recipe->block_form == BY_BLOCKS_ONNX)
        return refuse_settings(check, "--block-form onnx and --opset below 24",
                               "DequantizeLinear has scales of float8e8m0 from 24 on");
    if (recipe->opset < 21 && recipe->bias_int16)
        return refuse_settings(check, "--bias-int16 and --opset below 21", NULL);
    if (recipe->opset < 21 && recipe->domain == BY_Q_ONNX &&
        !(is_8_bit_or_none(&recipe->activation) && is_8_bit_or_none(&recipe->weight)))
        return refuse_settings(check, "--domain onnx, types of 4 or 16 bits and --opset below 21",
                               NULL);
    return 0;
}

static int check_nbits(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    const int64_t group = recipe->nbits.group, bits = recipe->nbits.bits;
    if (recipe->approach != BY_APPROACH_NBITS)
        return 0;
    if (group & (group - 1))
        return refuse_settings(check, "--nbits-group is not a power of two", NULL);
    if (bits != 2 && bits != 4 && bits != 8)
        return refuse_settings(check, "--nbits is not 2, 4 or 8, the bits that MatMulNBits has",
                               "other weights of few bits: --approach weights --weight int3");
    if (recipe->nbits.method == BY_NBITS_HQQ && recipe->nbits.symmetric)
        return refuse_settings(check, "--nbits-method hqq and --nbits-symmetric",
                               "zero points are what it optimizes");
    return 0;
}

/* QuantizeLinear in the model would use all levels of the type that they are stored as. */
static int check_kept_floats(const struct check *check)
{
    if (check->recipe->keep_float_weights && check->recipe->weight.bits)
        return refuse_settings(check, "--keep-float-weights and --weight of 2 or 3 bits",
                               "without it they are stored as integers");
    return 0;
}

/* --- Floats and blocks --- */

static bool is_microscaled(const struct by_tensor_spec *spec)
{
    return spec->format && spec->format->block.size && !strncmp(spec->format->name, "mx", 2) &&
           !spec->format->block.sub;
}

static int check_blocks(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    const struct by_tensor_spec *const specs[] = {&recipe->activation, &recipe->weight};
    for (size_t i = 0; i < 2; i++) {
        const struct by_tensor_spec *spec = specs[i];
        if (is_microscaled(spec) && spec->block.from_bf16)
            return refuse_settings(check, "--block-from-bf16 and types of MX",
                                   "Quark's operator for them has no such thing");
        if (by_spec_is_block(spec) && spec->format->block.sub &&
            spec->block.size % (int64_t)spec->format->block.sub)
            return refuse_settings(check, "--block-size of an odd number and mx4, mx6 or mx9",
                                   "each two of their elements share a bit");
    }
    return 0;
}

static int check_floats(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    const bool floats = recipe->activation.format || recipe->weight.format;
    if (!floats || recipe->approach == BY_APPROACH_NBITS)
        return 0;
    if (recipe->bias_kind == BY_BIAS_PRODUCT)
        return refuse_settings(
            check, "--bias int32 and types of floats or blocks",
            "its scale would be the product of two that there are not; --bias as-weight");
    return check_blocks(check);
}

static int check_node_settings(const struct check *check)
{
    const struct by_recipe_settings *settings = check->settings;
    if (settings->op_types.count && settings->all_op_types)
        return refuse_settings(check, "--op-types and --all-op-types", "one of them is enough");
    if (settings->op_types.count && settings->extra_op_types.count)
        return refuse_settings(check, "--op-types and --extra-op-types",
                               "--op-types replaces the list");
    if (settings->dedicated_pairs && settings->dedicated_dq)
        return refuse_settings(check, "--dedicated-pairs and --dedicated-dq",
                               "one of them is enough");
    return 0;
}

static int check_cle(const struct check *check)
{
    if (check->recipe->approach != BY_APPROACH_STATIC && check->recipe->cle == BY_CLE_AUTO)
        return refuse_settings(check, "--cle auto and --approach other than static",
                               "it judges by samples; --cle exact needs none");
    return 0;
}

static int check_rounding_ops(const struct check *check)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_setting_texts *types = &check->settings->rounding_op_types;
    for (size_t i = 0; i < types->count; i++)
        if (!by_rounding_op(types->at[i]))
            return by_fail(check->err, BARYON_ERR_USAGE,
                           "--rounding-op-types: weights of %s are not solved, only those of %s",
                           by_quote(quoted, types->at[i]), BY_ROUNDING_OPS);
    return 0;
}

static int check_rounding(const struct check *check)
{
    if (check_rounding_ops(check) < 0)
        return -1;
    if (check->recipe->rounding != BY_ROUNDING_NEAREST && check->recipe->keep_float_weights &&
        by_spec_is_integer(&check->recipe->weight))
        return refuse_settings(check, "--rounding other than nearest and --keep-float-weights",
                               "the model itself would round its weights, to the nearest");
    if (check->recipe->rounding == BY_ROUNDING_GPTQ && check->recipe->weight.format)
        return refuse_settings(check, "--rounding gptq and --weight of floats or blocks",
                               "its values could be far from the weights, where steps are others; "
                               "--rounding descent");
    if (check->recipe->rounding != BY_ROUNDING_NEAREST &&
        check->recipe->approach == BY_APPROACH_NBITS && check->recipe->nbits.method == BY_NBITS_HQQ)
        return refuse_settings(
            check, "--rounding other than nearest and --nbits-method hqq",
            "its zero points lie between levels; --nbits-method minmse finds scales of "
            "little error");
    return 0;
}

static int check_group(const struct check *check)
{
    if (check->recipe->weight.granularity == BY_PER_GROUP &&
        check->recipe->weight.scale == BY_SCALE_INT16)
        return refuse_settings(check, "--weight-granularity group and --weight-scale int16", NULL);
    if (check->recipe->keep_float_weights && check->recipe->weight.granularity == BY_PER_GROUP &&
        check->recipe->opset && check->recipe->opset < 21)
        return refuse_settings(check, "--keep-float-weights and groups need --opset 21", NULL);
    return 0;
}

static int no_such_name(const struct check *check, const char *option, const char *what,
                        const char *name, const char *const *known, size_t count)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(check->err, BARYON_ERR_USAGE, "%s: there is no %s %s", option, what,
            by_quote(quoted, name));
    const char *near = by_nearest(name, known, count);
    return near ? by_err_hint(check->err, "did you mean '%s'?", near) : -1;
}

#define NAMES_MAX 128

static int check_passes(const struct check *check)
{
    const char *known[NAMES_MAX] = {0};
    const struct by_setting_texts *names = &check->settings->passes;
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    count = count < NAMES_MAX ? count : NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        known[i] = passes[i]->name;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->at[i] + (*names->at[i] == '-');
        if (!by_pass_find(name))
            return no_such_name(check, "--pass", "pass", name, known, count);
    }
    return 0;
}

static int check_refine(const struct check *check)
{
    const char *known[NAMES_MAX] = {0};
    const struct by_setting_texts *names = &check->settings->refine;
    size_t count;
    const struct by_refine_rule *const *rules = by_refine_rules(&count);
    count = count < NAMES_MAX ? count : NAMES_MAX;
    for (size_t i = 0; i < count; i++)
        known[i] = rules[i]->name;
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->at[i] + (*names->at[i] == '-');
        if (!by_refine_rule_find(name))
            return no_such_name(check, "--refine", "rule", name, known, count);
    }
    return 0;
}

int by_recipe_check(const struct by_config *config, const struct by_recipe_settings *settings,
                    const struct by_recipe *recipe, struct baryon_error *err)
{
    static int (*const checks[])(const struct check *) = {
        check_xint8, check_symmetry, check_dynamic,       check_qoperator,   check_methods,
        check_opset, check_nbits,    check_node_settings, check_cle,         check_rounding,
        check_group, check_passes,   check_refine,        check_kept_floats, check_floats,
    };
    const struct check check = {config, settings, recipe, err};
    if (check_meanings(config, settings, err) < 0)
        return -1;
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (checks[i](&check) < 0)
            return -1;
    return 0;
}

/* --- Rules --- */

static int fail_rule(const struct by_rule *rule, const char *what, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_USAGE, "%s", what);
    return by_err_in(err, "%s %s", rule->pattern.origin, rule->pattern.text);
}

static bool changes_activations(const struct by_rule *rule)
{
    return rule->input.set || rule->output.set;
}

static int check_change(const struct by_rule *rule, const struct by_change *change,
                        const struct by_tensor_spec *base, struct baryon_error *err)
{
    struct by_calib_target target;
    struct by_tensor_spec spec = *base;
    by_spec_apply(&spec, change);
    if (!change->set || !by_spec_is_integer(&spec))
        return 0;
    by_spec_target(&spec, &target);
    if (spec.method && spec.method->suits && !spec.method->suits(&target))
        return fail_rule(rule,
                         target.power_of_two ? "method and symmetric: the method needs symmetric"
                                             : "method and scale: the method needs scale pow2",
                         err);
    return 0;
}

/* Group sizes and channels are of weights. */
static bool splits(const struct by_change *change)
{
    return (change->set & BY_CHANGE_GRANULARITY) && change->spec.granularity != BY_PER_TENSOR;
}

static bool asks_for_floats(const struct by_rule *rule)
{
    const struct by_change *const all[] = {&rule->input, &rule->output, &rule->weight, &rule->bias};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if ((all[i]->set & BY_CHANGE_ELEM) && all[i]->spec.format)
            return true;
    return false;
}

static int check_rule_of_floats(const struct by_recipe *recipe, const struct by_rule *rule,
                                struct baryon_error *err)
{
    if (!asks_for_floats(rule))
        return 0;
    if (recipe->approach == BY_APPROACH_DYNAMIC || recipe->format == BY_FORMAT_QOPERATOR)
        return fail_rule(rule, "types of floats and blocks are for --format qdq", err);
    return 0;
}

static int check_rule(const struct by_recipe *recipe, const struct by_rule *rule,
                      struct baryon_error *err)
{
    if (check_rule_of_floats(recipe, rule, err) < 0)
        return -1;
    const bool layer = rule->kind != BY_RULE_TENSOR;
    if (recipe->approach == BY_APPROACH_NBITS && !rule->keep_float)
        return fail_rule(rule, "with --approach nbits a rule can only be 'float'", err);
    if (layer && recipe->approach != BY_APPROACH_STATIC && changes_activations(rule))
        return fail_rule(rule, "activation has a meaning only with --approach static", err);
    if ((layer ? &rule->weight : &rule->input)->spec.bits &&
        (recipe->keep_float_weights || recipe->approach == BY_APPROACH_DYNAMIC))
        return fail_rule(rule,
                         "weights of 2 or 3 bits are for --approach static and weights, without "
                         "--keep-float-weights",
                         err);
    if (layer && (splits(&rule->input) || splits(&rule->output)))
        return fail_rule(rule, "granularity of activations can only be tensor", err);
    if (check_change(rule, &rule->input, &recipe->activation, err) < 0 ||
        check_change(rule, &rule->output, &recipe->activation, err) < 0 ||
        check_change(rule, &rule->weight, &recipe->weight, err) < 0)
        return -1;
    return 0;
}

/* Two given values for one tensor; names that only patterns share are left to placement. */
static bool collide(const struct by_rule *one, const struct by_rule *other)
{
    const bool given =
        (one->param_count || one->has_range) && (other->param_count || other->has_range);
    return one->kind == BY_RULE_TENSOR && other->kind == BY_RULE_TENSOR && given &&
           !strcmp(one->pattern.text, other->pattern.text);
}

int by_recipe_check_rules(const struct by_recipe *recipe, struct baryon_error *err)
{
    for (size_t i = 0; i < recipe->rules.count; i++) {
        if (check_rule(recipe, &recipe->rules.at[i], err) < 0)
            return -1;
        for (size_t k = 0; k < i; k++)
            if (collide(&recipe->rules.at[k], &recipe->rules.at[i]))
                return fail_rule(&recipe->rules.at[i],
                                 "scale or range of this tensor is given twice", err);
    }
    return 0;
}
