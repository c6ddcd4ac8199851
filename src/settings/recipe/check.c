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

static bool has_no_hardware(const struct by_recipe_settings *s)
{
    return s->hardware == BY_HARDWARE_NONE;
}

static bool has_integer_activations(const struct by_recipe_settings *s)
{
    return is_static(s) && by_type_is_integer(s->activation);
}

static bool has_narrow_activations(const struct by_recipe_settings *s)
{
    return has_pairs(s) && s->hardware != BY_HARDWARE_XINT8 &&
           (s->activation == BY_ELEM_INT8 || s->activation == BY_ELEM_UINT8);
}

static bool has_integer_weights(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) && by_type_is_integer(s->weight);
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
    return !by_type_is_integer(type) && !by_type_is_block(type);
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
    return has_pairs(s) && (by_type_is_block(s->activation) || has_rules(s));
}

static bool fuses(const struct by_recipe_settings *s)
{
    return s->fuse_blocks || !by_type_is_block(s->activation) || has_rules(s);
}

static bool is_no_compiler(const struct by_recipe_settings *s)
{
    return s->float_form != BY_FLOATS_COMPILER;
}

static bool has_blocks(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) && ((is_static(s) && by_type_is_block(s->activation)) ||
                               by_type_is_block(s->weight) || has_rules(s));
}

static bool stores_blocks(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) && !s->keep_float_blocks &&
           (by_type_is_block(s->weight) || has_rules(s));
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
    return is_static(s) && !by_type_is_integer(s->activation) &&
           s->float_form != BY_FLOATS_COMPILER;
}

static bool may_scale_weights(const struct by_recipe_settings *s)
{
    return is_not_nbits(s) && !by_type_is_integer(s->weight) && s->float_form != BY_FLOATS_COMPILER;
}

static bool has_groups(const struct by_recipe_settings *s)
{
    return has_integer_weights(s) && s->weight_granularity == BY_PER_GROUP;
}

static bool has_product_bias(const struct by_recipe_settings *s)
{
    return has_integers(s) && s->bias == BY_BIAS_INT32;
}

static bool is_mixed(const struct by_recipe_settings *s)
{
    return s->mixed != BY_MIXED_OFF;
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
    {" activation activation-symmetric activation-reduce-range activation-scale "
     "activation-method activation-headroom activation-headroom-auto wide-below wide-auto "
     "activation-method-auto weight-method-auto weight-rows-auto logarithm-inputs joins "
     "auto-exclude format bias bias-correction rounding-scales ",
     is_static, "--approach static"},
    {" mixed ", is_static, "--approach static"},
    {" mixed-goal mixed-share ", is_mixed, "--mixed of a type"},
    {" activation-symmetric activation-reduce-range activation-scale activation-headroom "
     "activation-headroom-auto ",
     has_integer_activations, "--activation of an integer type"},
    {" wide-below wide-auto ", has_narrow_activations,
     "--activation int8 or uint8, --format qdq and --hardware none or extended"},
    {" activation-method ", has_ranges, "--activation of an integer type, or --activation-scaled"},
    {" activation-scaled ", may_scale_activations,
     "--activation bf16, fp16 or fp8 and --float-form quark or cast"},
    {" weight-scaled ", may_scale_weights,
     "--weight bf16, fp16 or fp8 and --float-form quark or cast"},
    {" rounding-scales ", has_integers, "--activation and --weight of integer types"},
    {" rounding ", is_not_dynamic, "--approach static, weights or nbits"},
    {" float-form ", has_floats, "--activation or --weight bf16, fp16 or fp8"},
    {" float-clip ", has_float_activations, "--activation bf16, fp16 or fp8"},
    {" block-size block-axis block-axis-everywhere block-ties block-from-bf16 ", has_blocks,
     "--activation or --weight of a block format"},
    {" block-form ", stores_blocks, "--keep-float-weights=false and --weight of a block format"},
    {" keep-float-weights ", is_no_compiler, "--float-form quark or cast"},
    {" fuse-relu fuse-clip fuse-leaky-relu fuse-prelu fuse-gelu fuse-instance-norm fuse-mul-add "
     "fuse-between ",
     fuses, "--fuse-blocks when activations have a block format"},
    {" fuse-blocks ", has_block_activations, "--format qdq and --activation of a block format"},
    {" bias-scale bias-method ", has_own_bias, "a --bias with its own scale"},
    {" bias-int16 adjust-weight-for-bias ", has_product_bias, "--bias int32"},
    {" weight weight-symmetric weight-reduce-range weight-scale weight-granularity weight-method ",
     is_not_nbits, "--approach static, weights or dynamic"},
    {" weight-symmetric weight-reduce-range weight-scale weight-granularity weight-method ",
     has_integer_weights, "--weight of an integer type"},
    {" group-size ", has_groups, "--weight-granularity group"},
    {" domain keep-float-weights ", writes_pairs, "--format qdq and --approach static or weights"},
    {" domain ", has_scales, "--activation or --weight of an integer type"},
    {" dedicated-pairs dedicated-dq dual-pairs align-elementwise keep-unquantized-chains "
     "no-output-op-types "
     "no-output-nodes fuse-relu fuse-clip fuse-leaky-relu fuse-prelu fuse-gelu fuse-instance-norm "
     "fuse-mul-add fuse-between passthrough hardware ",
     has_pairs, "--format qdq and --approach static"},
    {" fold-relu ", is_asymmetric, "--activation-symmetric=false"},
    {" simulate-dpu refine refine-rounds ", has_hardware, "--hardware xint8 or extended"},
    {" rotate smooth split-outliers ", is_static, "--approach static"},
    {" split-outliers ", has_no_hardware, "--hardware none, since NPUs have no float products"},
    {" rotate smooth split-outliers ", has_integer_activations, "--activation of an integer type"},
    {" cle-threshold cle-steps cle-stem ", equalizes, "--cle auto, exact, replace or keep"},
    {" rounding-damping rounding-mix rounding-inputs rounding-biases rounding-scales "
     "rounding-samples "
     "rounding-op-types ",
     solves, "--rounding descent, gptq or relaxation"},
    {" rounding-free ", descends, "--rounding descent or gptq"},
    {" rounding-free ", has_integer_rounding, "--weight of an integer type"},
    {" rounding-starts ", starts_often, "--rounding descent"},
    {" rounding-iterations ", relaxes, "--rounding relaxation"},
    {" nbits nbits-group nbits-symmetric nbits-accuracy-level nbits-method ", is_nbits,
     "--approach nbits"},
    {" operators all-op-types matmul-constant-only op-type tensor ", is_not_nbits,
     "--approach static, weights or dynamic"},
};

/* The same for options of methods. */
static const char *lacks_method(const struct by_recipe_settings *settings, const char *option)
{
    const struct by_calibrator *activation = by_method_of(settings->activation_method);
    const struct by_calibrator *weight = by_method_of(settings->weight_method);
    const char *takers = by_method_option_needs(BY_FOR_ACTIVATIONS, option);
    if (takers && !(has_integer_activations(settings) &&
                    by_method_has_option(BY_FOR_ACTIVATIONS, activation, option)))
        return takers;
    takers = by_method_option_needs(BY_FOR_WEIGHTS, option);
    if (takers &&
        !(has_integer_weights(settings) && by_method_has_option(BY_FOR_WEIGHTS, weight, option)))
        return takers;
    return NULL;
}

const char *by_recipe_lacks(const struct by_recipe_settings *settings, const char *option)
{
    char word[80];
    const char *lacks = lacks_method(settings, option);
    if (lacks)
        return lacks;
    snprintf(word, sizeof word, " %s ", option);
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strstr(meanings[i].options, word) && !meanings[i].holds(settings))
            return meanings[i].lacks;
    return NULL;
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
        return refuse_settings(check, "--hardware xint8 requires --activation int8 or uint8", NULL);
    if (recipe->weight.elem != BY_ELEM_INT8)
        return refuse_settings(check, "--hardware xint8 requires --weight int8", NULL);
    if (recipe->activation.scale != BY_SCALE_POW2)
        return refuse_settings(check, "--hardware xint8 requires --activation-scale pow2", NULL);
    if (recipe->weight.scale != BY_SCALE_POW2)
        return refuse_settings(check, "--hardware xint8 requires --weight-scale pow2", NULL);
    if (!recipe->activation.symmetric)
        return refuse_settings(check, "--hardware xint8 requires --activation-symmetric", NULL);
    if (!recipe->weight.symmetric)
        return refuse_settings(check, "--hardware xint8 requires --weight-symmetric", NULL);
    if (recipe->weight.granularity != BY_PER_TENSOR)
        return refuse_settings(check, "--hardware xint8 requires --weight-granularity tensor",
                               NULL);
    if (recipe->activation.reduce_range)
        return refuse_settings(
            check, "--activation-reduce-range is not valid with --hardware xint8", NULL);
    if (recipe->weight.reduce_range)
        return refuse_settings(check, "--weight-reduce-range is not valid with --hardware xint8",
                               NULL);
    return 0;
}

static int check_symmetry(const struct check *check)
{
    const struct by_tensor_spec *weight = &check->recipe->weight;
    if (check->recipe->approach != BY_APPROACH_NBITS && by_spec_is_unsigned(weight) &&
        weight->symmetric)
        return refuse_settings(check, "--weight-symmetric requires --weight of a signed type",
                               "use int8 in place of uint8, or --weight-symmetric=false");
    return 0;
}

static int check_method(const struct check *check, const struct by_tensor_spec *spec,
                        const char *option, const char *scale)
{
    const struct by_calibrator *method = spec->method;
    struct by_calib_target target;
    char message[256];
    by_spec_target(spec, &target);
    const bool ranged = by_spec_is_integer(spec) || by_spec_is_scaled(spec);
    const enum by_calib_need need =
        ranged && method ? by_calib_needs(method, &target) : BY_NEEDS_NOTHING;
    if (need == BY_NEEDS_NOTHING)
        return 0;
    if (need == BY_NEEDS_POW2)
        snprintf(message, sizeof message, "%s %s requires %s pow2", option, method->name, scale);
    else
        snprintf(message, sizeof message, "%s %s requires %s", option, method->name,
                 need == BY_NEEDS_SYMMETRY ? "--activation-symmetric"
                                           : "--activation fp8_e4m3 or fp8_e5m2");
    return refuse_settings(check, message, need == BY_NEEDS_POW2 ? NULL : method->instead);
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
        return refuse_settings(check, "--approach dynamic requires --weight int8 or uint8", NULL);
    if (recipe->weight.scale != BY_SCALE_FLOAT32)
        return refuse_settings(check, "--approach dynamic requires --weight-scale float32", NULL);
    if (recipe->weight.granularity == BY_PER_GROUP)
        return refuse_settings(
            check, "--weight-granularity group is not valid with --approach dynamic", NULL);
    return 0;
}

static int check_qoperator(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    if (recipe->format != BY_FORMAT_QOPERATOR)
        return 0;
    if (!is_8_bit(recipe->activation.elem))
        return refuse_settings(check, "--format qoperator requires --activation int8 or uint8",
                               NULL);
    if (!is_8_bit(recipe->weight.elem))
        return refuse_settings(check, "--format qoperator requires --weight int8 or uint8", NULL);
    if (recipe->weight.granularity == BY_PER_GROUP)
        return refuse_settings(
            check, "--weight-granularity group is not valid with --format qoperator", NULL);
    if (recipe->bias_kind != BY_BIAS_PRODUCT)
        return refuse_settings(check, "--format qoperator requires --bias int32", NULL);
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
        return refuse_settings(check, "--weight-granularity channel requires --opset 13 or higher",
                               NULL);
    if (recipe->opset < 21 && recipe->weight.granularity == BY_PER_GROUP)
        return refuse_settings(check, "--weight-granularity group requires --opset 21 or higher",
                               NULL);
    if (recipe->opset < 21 && by_spec_is_block(&recipe->weight) && !recipe->keep_float_blocks)
        return refuse_settings(check,
                               "--keep-float-weights=false with --weight of a block format "
                               "requires --opset 21 or higher",
                               "DequantizeLinear supports blocks from opset 21 on");
    if (recipe->opset < 24 && recipe->block_form == BY_BLOCKS_ONNX)
        return refuse_settings(check, "--block-form onnx requires --opset 24 or higher",
                               "DequantizeLinear supports float8e8m0 scales from opset 24 on");
    if (recipe->opset < 21 && recipe->bias_int16)
        return refuse_settings(check, "--bias-int16 requires --opset 21 or higher", NULL);
    if (recipe->opset < 21 && recipe->domain == BY_Q_ONNX &&
        !(is_8_bit_or_none(&recipe->activation) && is_8_bit_or_none(&recipe->weight)))
        return refuse_settings(
            check, "--domain onnx with 4-bit or 16-bit types requires --opset 21 or higher", NULL);
    return 0;
}

static int check_nbits(const struct check *check)
{
    const struct by_recipe *recipe = check->recipe;
    const int64_t group = recipe->nbits.group, bits = recipe->nbits.bits;
    if (recipe->approach != BY_APPROACH_NBITS)
        return 0;
    if (group & (group - 1))
        return refuse_settings(check, "--nbits-group must be a power of two", NULL);
    if (bits != 2 && bits != 4 && bits != 8)
        return refuse_settings(check,
                               "--nbits must be 2, 4 or 8, the widths that MatMulNBits supports",
                               "for other widths use --approach weights, such as --weight int3");
    if (recipe->nbits.method == BY_NBITS_HQQ && recipe->nbits.symmetric)
        return refuse_settings(check, "--nbits-symmetric is not valid with --nbits-method hqq",
                               "hqq optimizes the zero points");
    return 0;
}

/* QuantizeLinear in the model would use all levels of the type that they are stored as. */
static int check_kept_floats(const struct check *check)
{
    if (check->recipe->keep_float_weights && check->recipe->weight.bits)
        return refuse_settings(check,
                               "--keep-float-weights is not valid with --weight of 2 or 3 bits",
                               "remove it to store the weights as integers");
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
            return refuse_settings(check, "--block-from-bf16 is not valid with MX formats",
                                   "Quark's operator for MX formats does not support it");
        if (by_spec_is_block(spec) && spec->format->block.sub &&
            spec->block.size % (int64_t)spec->format->block.sub)
            return refuse_settings(check, "--block-size must be even for mx4, mx6 and mx9",
                                   "every two elements share a bit in these formats");
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
            check, "--bias int32 requires --activation and --weight of integer types",
            "use --bias as-weight: floats and blocks have no scales for the bias");
    return check_blocks(check);
}

static int check_node_settings(const struct check *check)
{
    const struct by_recipe_settings *settings = check->settings;
    if (settings->op_types.count && settings->all_op_types)
        return refuse_settings(check, "--op-types and --all-op-types are both given",
                               "give one of them");
    if (settings->dedicated_pairs && settings->dedicated_dq)
        return refuse_settings(check, "--dedicated-pairs and --dedicated-dq are both given",
                               "give one of them");
    return 0;
}

static int check_rounding_ops(const struct check *check)
{
    char quoted[BY_QUOTE_MAX];
    const struct by_setting_texts *types = &check->settings->rounding_op_types;
    for (size_t i = 0; i < types->count; i++)
        if (!by_rounding_op(types->at[i]))
            return by_fail(
                check->err, BARYON_ERR_USAGE,
                "--rounding-op-types: %s is not supported by rounding reconstruction, only %s",
                by_quote(quoted, types->at[i]), BY_ROUNDING_OPS);
    return 0;
}

static int check_rounding(const struct check *check)
{
    if (check_rounding_ops(check) < 0)
        return -1;
    if (check->recipe->rounding == BY_ROUNDING_GPTQ && check->recipe->weight.format)
        return refuse_settings(check, "--rounding gptq requires --weight of an integer type",
                               "use --rounding descent for floats and blocks");
    if (check->recipe->rounding != BY_ROUNDING_NEAREST &&
        check->recipe->approach == BY_APPROACH_NBITS && check->recipe->nbits.method == BY_NBITS_HQQ)
        return refuse_settings(check, "--nbits-method hqq requires --rounding nearest",
                               "use --nbits-method minmse: zero points of hqq are not integers");
    return 0;
}

static int check_group(const struct check *check)
{
    if (check->recipe->weight.granularity == BY_PER_GROUP &&
        check->recipe->weight.scale == BY_SCALE_INT16)
        return refuse_settings(
            check, "--weight-scale int16 is not valid with --weight-granularity group", NULL);
    if (check->recipe->keep_float_weights && check->recipe->weight.granularity == BY_PER_GROUP &&
        check->recipe->opset && check->recipe->opset < 21)
        return refuse_settings(
            check,
            "--keep-float-weights with --weight-granularity group requires --opset 21 or higher",
            NULL);
    return 0;
}

static int no_such_name(const struct check *check, const char *option, const char *what,
                        const char *name, const char *const *known, size_t count)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(check->err, BARYON_ERR_USAGE, "%s: unknown %s %s", option, what,
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
        check_xint8,  check_symmetry, check_dynamic,       check_qoperator, check_methods,
        check_opset,  check_nbits,    check_node_settings, check_rounding,  check_group,
        check_passes, check_refine,   check_kept_floats,   check_floats,
    };
    const struct check check = {config, settings, recipe, err};
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
    switch (spec.method ? by_calib_needs(spec.method, &target) : BY_NEEDS_NOTHING) {
    case BY_NEEDS_POW2:
        return fail_rule(rule, "the method requires scale: pow2", err);
    case BY_NEEDS_SYMMETRY:
        return fail_rule(rule, "the method requires symmetric: true", err);
    case BY_NEEDS_FLOAT:
        return fail_rule(rule, "the method requires type fp8_e4m3 or fp8_e5m2", err);
    case BY_NEEDS_NOTHING:
        break;
    }
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
        return fail_rule(
            rule, "float and block formats require --format qdq and --approach static or weights",
            err);
    return 0;
}

static int check_rule(const struct by_recipe *recipe, const struct by_rule *rule,
                      struct baryon_error *err)
{
    if (check_rule_of_floats(recipe, rule, err) < 0)
        return -1;
    const bool layer = rule->kind != BY_RULE_TENSOR;
    if (recipe->approach == BY_APPROACH_NBITS && !rule->keep_float)
        return fail_rule(rule, "a rule must be 'float' with --approach nbits", err);
    if (layer && recipe->approach != BY_APPROACH_STATIC && changes_activations(rule))
        return fail_rule(rule, "activation requires --approach static", err);
    if ((layer ? &rule->weight : &rule->input)->spec.bits &&
        (recipe->keep_float_weights || recipe->approach == BY_APPROACH_DYNAMIC))
        return fail_rule(rule,
                         "weights of 2 or 3 bits require --approach static or weights, without "
                         "--keep-float-weights",
                         err);
    if (layer && (splits(&rule->input) || splits(&rule->output)))
        return fail_rule(rule, "granularity of activations must be tensor", err);
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
