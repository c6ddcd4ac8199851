/* Options of quantization: presets, rules, contradictions, the recipe. */
#include "quantize/quantize.h"
#include "settings_world.h"

/* --- Presets --- */

/* Lists have their numbers elsewhere. */
static void same_value(const struct by_option *row, const char *one, const char *other)
{
    const struct by_setting_numbers *list = (const void *)(one + row->offset);
    const struct by_setting_numbers *other_list = (const void *)(other + row->offset);
    if (row->type != BY_OPT_NUMBERS) {
        assert_memory_equal(one + row->offset, other + row->offset, by_value_size(row));
        return;
    }
    assert_int_equal(list->count, other_list->count);
    assert_memory_equal(list->at, other_list->at, list->count * sizeof *list->at);
}

static void same_spec(const struct by_tensor_spec *one, const struct by_tensor_spec *other)
{
    char a[128], b[128];
    assert_string_equal(by_spec_text(one, a, sizeof a), by_spec_text(other, b, sizeof b));
    assert_true(one->calib.headroom == other->calib.headroom);
    assert_ptr_equal(one->method, other->method);
    for (size_t i = 0; one->method && one->method->options && i < one->method->options->count; i++)
        same_value(&one->method->options->rows[i].row, one->calib.own, other->calib.own);
}

static void same_patterns(const struct by_patterns *one, const struct by_patterns *other)
{
    assert_int_equal(one->count, other->count);
    for (size_t i = 0; i < one->count; i++)
        assert_string_equal(one->at[i].text, other->at[i].text);
}

static void same_recipe(const struct by_recipe *one, const struct by_recipe *other)
{
    same_spec(&one->activation, &other->activation);
    same_spec(&one->weight, &other->weight);
    same_spec(&one->bias, &other->bias);
    same_patterns(&one->passes, &other->passes);
    same_patterns(&one->refine, &other->refine);
    same_patterns(&one->op_types, &other->op_types);
    assert_int_equal(one->approach, other->approach);
    assert_int_equal(one->format, other->format);
    assert_int_equal(one->bias_kind, other->bias_kind);
    assert_int_equal(one->operators, other->operators);
    assert_int_equal(one->all_op_types, other->all_op_types);
    assert_int_equal(one->dedicated_pairs, other->dedicated_pairs);
    assert_int_equal(one->align_elementwise, other->align_elementwise);
    assert_int_equal(one->keep_unquantized_chains, other->keep_unquantized_chains);
    assert_int_equal(one->matmul_constant_only, other->matmul_constant_only);
    assert_int_equal(one->fuse_relu, other->fuse_relu);
    assert_int_equal(one->fuse_prelu, other->fuse_prelu);
    assert_int_equal(one->domain, other->domain);
    assert_int_equal(one->cle, other->cle);
    assert_int_equal(one->hardware, other->hardware);
    assert_int_equal(one->simulate_dpu, other->simulate_dpu);
    assert_memory_equal(&one->nbits.bits, &other->nbits.bits, 3 * sizeof(int64_t));
    assert_int_equal(one->nbits.symmetric, other->nbits.symmetric);
    assert_int_equal(one->nbits.method, other->nbits.method);
}

static void goes_round(const struct by_preset *preset, const char *compat)
{
    struct world world, again;
    struct by_str text, second;
    char word[64], with[64];
    snprintf(word, sizeof word, "--preset=%s", preset->name);
    snprintf(with, sizeof with, "--compat=%s", compat);
    makes(&world, WORDS(word, with));
    assert_string_equal(world.recipe->preset, preset->name);
    by_str_init(&text);
    by_recipe_write(&world.config, &text);
    loads(&again, by_str_text(&text));
    assert_null(again.recipe->preset);
    same_recipe(again.recipe, world.recipe);
    by_str_init(&second);
    by_recipe_write(&again.config, &second);
    assert_string_equal(by_str_text(&second), by_str_text(&text));
    by_str_release(&second);
    by_str_release(&text);
    end(&again);
    end(&world);
}

static void every_preset_is_what_it_prints(void **state)
{
    size_t count;
    const struct by_preset *const *presets = by_presets(&count);
    (void)state;
    assert_int_equal(count, 65);
    for (size_t i = 0; i < count; i++) {
        goes_round(presets[i], "none");
        goes_round(presets[i], "quark-0.13");
    }
}

static void presets_are_what_their_names_say(void **state)
{
    static const struct {
        const char *preset, *activation, *weight;
        enum by_bias_kind bias;
    } rows[] = {
        {"XINT8", "int8, symmetric, power of two, per tensor, minmse-pow2",
         "int8, symmetric, power of two, per tensor, minmse-pow2", BY_BIAS_OWN},
        {"vint8_config", "int8, symmetric, power of two, per tensor, minmse-pow2",
         "int8, symmetric, power of two, per tensor, minmse-pow2", BY_BIAS_OWN},
        {"a8w8", "int8, symmetric, per tensor, minmse", "int8, symmetric, per tensor, minmax",
         BY_BIAS_PRODUCT},
        {"A16W8_CONFIG", "int16, symmetric, per tensor, minmax",
         "int8, symmetric, per tensor, minmax", BY_BIAS_PRODUCT},
        {"S8S8-AAWS", "int8, asymmetric, per tensor, percentile",
         "int8, symmetric, per tensor, minmax", BY_BIAS_PRODUCT},
        {"U8U8_AAWA", "uint8, asymmetric, per tensor, percentile",
         "uint8, asymmetric, per tensor, minmax", BY_BIAS_PRODUCT},
        {"INT16_CNN_DEFAULT", "uint16, asymmetric, per tensor, minmax",
         "int16, symmetric, per tensor, minmax", BY_BIAS_PRODUCT},
        {"UINT8_DYNAMIC_QUANT", "uint8, asymmetric, per tensor, minmax",
         "uint8, asymmetric, per tensor, minmax", BY_BIAS_FLOAT},
        {"FP16", "fp16", "fp16", BY_BIAS_OWN},
        {"bf16_config", "bf16", "bf16", BY_BIAS_OWN},
        {"BFP16", "bfp16", "bfp16", BY_BIAS_OWN},
        {"MX6", "mx6", "mx6", BY_BIAS_OWN},
        {"MXFP8E5M2", "mxfp8_e5m2", "mxfp8_e5m2", BY_BIAS_OWN},
        {"mxfp4e2m1", "mxfp4_e2m1", "mxfp4_e2m1", BY_BIAS_OWN},
        {"BF16_MXINT8", "bf16", "mxint8", BY_BIAS_OWN},
        {"MX9_INT8", "mx9", "int8, symmetric, per tensor, minmax", BY_BIAS_OWN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char word[64], text[128];
        struct world world;
        snprintf(word, sizeof word, "--preset=%s", rows[i].preset);
        makes(&world, WORDS(word));
        assert_string_equal(by_spec_text(&world.recipe->activation, text, sizeof text),
                            rows[i].activation);
        assert_string_equal(by_spec_text(&world.recipe->weight, text, sizeof text), rows[i].weight);
        assert_int_equal(world.recipe->bias_kind, rows[i].bias);
        end(&world);
    }
}

static void given_values_stand_above_the_preset(void **state)
{
    struct world world;
    (void)state;
    makes(&world, WORDS("--preset=U8S8_AAWS", "--activation=int16", "--percentile=99"));
    assert_int_equal(world.recipe->activation.elem, BY_ELEM_INT16);
    assert_true(percent_of(&world.recipe->activation) == 99);
    end(&world);
    makes(&world, WORDS("--preset=A8W8", "--refine=-AlignConcat,copy-pool"));
    assert_int_equal(world.recipe->refine.count, 3);
    assert_string_equal(world.recipe->refine.at[0].text, "AlignConcat");
    assert_string_equal(world.recipe->refine.at[2].text, "copy-pool");
    end(&world);
    makes(&world, WORDS("--preset=XINT8", "--compat=quark-0.13"));
    assert_int_equal(world.recipe->activation.elem, BY_ELEM_UINT8);
    assert_true(world.recipe->activation.symmetric);
    end(&world);
    makes(&world, WORDS("--preset=A8W8", "--compat=quark-0.13"));
    assert_string_equal(world.recipe->activation.method->name, "minmax");
    end(&world);
}

static void transformers_have_moving_averages_in_compat_alone(void **state)
{
    static const char *const presets[] = {"--preset=INT8_TRANSFORMER_DEFAULT",
                                          "--preset=INT16_TRANSFORMER_DEFAULT"};
    struct world world;
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        makes(&world, WORDS(presets[i]));
        assert_string_equal(world.recipe->activation.method->name, "minmse");
        assert_null(world.recipe->activation.calib.own);
        end(&world);
        makes(&world, WORDS(presets[i], "--compat=quark-0.13"));
        assert_string_equal(world.recipe->activation.method->name, "minmax");
        const struct by_average_options *own = world.recipe->activation.calib.own;
        assert_true(own->moving);
        end(&world);
    }
}

static void biases_fit_but_in_compat(void **state)
{
    struct world world;
    (void)state;
    makes(&world, WORDS("--preset=A8W8", "--weight=int16"));
    assert_true(world.recipe->adjust_weight_for_bias);
    end(&world);
    makes(&world, WORDS("--preset=A8W8", "--adjust-weight-for-bias=false"));
    assert_false(world.recipe->adjust_weight_for_bias);
    end(&world);
    makes(&world, WORDS("--preset=INT16_CNN_DEFAULT", "--compat=quark-0.13"));
    assert_false(world.recipe->adjust_weight_for_bias);
    end(&world);
}

static void unknown_presets_are_told(void **state)
{
    (void)state;
    refuses(WORDS("--preset=XNIT8"), "--preset: unknown preset 'XNIT8'; did you mean 'XINT8'?");
    refuses(WORDS("--preset=something"),
            "--preset: unknown preset 'something'; 'baryon presets' lists them");
}

/* --- Options and recipe --- */

static void methods_are_the_list_of_methods(void **state)
{
    static const char *const rows[] = {"activation-method", "weight-method", "bias-method"};
    struct world world;
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    (void)state;
    begin(&world);
    for (size_t i = 0; i < 3; i++) {
        const struct by_choice *choice = by_config_find(&world.config, rows[i])->choices;
        for (; choice->name; choice++)
            if (choice->value != BY_AS_WEIGHT) {
                assert_true((size_t)choice->value < count);
                assert_string_equal(methods[choice->value]->name, choice->name);
            }
    }
    end(&world);
}

static void defaults_follow_other_values(void **state)
{
    struct world world;
    (void)state;
    makes(&world, WORDS("--weight=uint8"));
    assert_false(world.recipe->weight.symmetric);
    end(&world);
    makes(&world, WORDS("--weight=int8"));
    assert_true(world.recipe->weight.symmetric);
    assert_int_equal(world.recipe->cle, BY_CLE_AUTO);
    end(&world);
    makes(&world, WORDS("--approach=weights", "--weight=int4", "--weight-granularity=group",
                        "--group-size=32"));
    assert_int_equal(world.recipe->cle, BY_CLE_OFF);
    assert_int_equal(world.recipe->activation.elem, 0);
    assert_int_equal(world.recipe->bias_kind, BY_BIAS_FLOAT);
    assert_int_equal(world.recipe->weight.group, 32);
    end(&world);
    makes(&world, WORDS("--weight=uint3", "--bias=as-weight"));
    assert_int_equal(world.recipe->weight.elem, BY_ELEM_UINT4);
    assert_int_equal(world.recipe->weight.bits, 3);
    assert_false(world.recipe->weight.symmetric);
    assert_int_equal(world.recipe->bias.bits, 3);
    end(&world);
    makes(&world, WORDS("--weight=int2", "--bias=int8"));
    assert_int_equal(world.recipe->weight.elem, BY_ELEM_INT2);
    assert_true(world.recipe->weight.symmetric);
    assert_int_equal(world.recipe->bias.elem, BY_ELEM_INT8);
    assert_int_equal(world.recipe->bias.bits, 0);
    end(&world);
    makes(&world, WORDS("--approach=nbits", "--nbits-method=hqq"));
    assert_false(world.recipe->nbits.symmetric);
    end(&world);
    makes(&world, WORDS("--bias=int16", "--bias-scale=pow2", "--bias-method=minmse-pow2",
                        "--weight-granularity=channel"));
    assert_int_equal(world.recipe->bias.elem, BY_ELEM_INT16);
    assert_int_equal(world.recipe->bias.scale, BY_SCALE_POW2);
    assert_int_equal(world.recipe->bias.granularity, BY_PER_CHANNEL);
    end(&world);
}

static void a_target_completes_what_is_left_open(void **state)
{
    struct world world;
    (void)state;
    makes(&world, WORDS("--hardware=xint8"));
    assert_int_equal(world.recipe->bias_kind, BY_BIAS_OWN);
    assert_int_equal(world.recipe->activation.scale, BY_SCALE_POW2);
    assert_int_equal(world.settings.notices.count, 1);
    assert_string_equal(world.settings.notices.at[0],
                        "hardware xint8 sets activation-symmetric true, activation-scale pow2, "
                        "activation-method minmse-pow2, weight-scale pow2, weight-method "
                        "minmse-pow2, bias as-weight, operators npu, simulate-dpu true");
    end(&world);
    makes(&world, WORDS("--preset=XINT8"));
    assert_int_equal(world.settings.notices.count, 0);
    end(&world);
    makes(&world, WORDS("--preset=XINT8", "--bias=int32"));
    assert_string_equal(world.settings.notices.at[0],
                        "bias int32: hardware xint8 requires int8 biases; 'baryon check --target "
                        "xint8' reports the others");
    end(&world);
    makes(&world, WORDS("--hardware=xint8", "--activation-method=percentile"));
    assert_ptr_equal(world.recipe->activation.method, by_calibrator_find("percentile"));
    assert_int_equal(world.recipe->activation.scale, BY_SCALE_POW2);
    end(&world);
}

static const struct {
    const char *words[4]; /* after the last one NULL */
    const char *says;
} idle[] = {
    {{"--nbits=4"}, "--nbits has no effect: it requires --approach nbits"},
    {{"--preset=MATMUL_NBITS", "--activation=int8"},
     "--activation has no effect: it requires --approach static"},
    {{"--preset=MATMUL_NBITS", "--weight=int8"},
     "--weight has no effect: it requires --approach static, weights or dynamic"},
    {{"--percentile=99"},
     "--percentile has no effect: it requires --activation-method "
     "percentile or minmse-pow2-percentile"},
    {{"--entropy-bins=64"},
     "--entropy-bins has no effect: it requires --activation-method entropy"},
    {{"--group-size=32"}, "--group-size has no effect: it requires --weight-granularity group"},
    {{"--bias=float", "--bias-int16"}, "--bias-int16 has no effect: it requires --bias int32"},
    {{"--fold-relu", "--activation-symmetric"},
     "--fold-relu has no effect: it requires --activation-symmetric=false"},
    {{"--simulate-dpu"}, "--simulate-dpu has no effect: it requires --hardware xint8 or extended"},
    {{"--cle=off", "--cle-steps=3"},
     "--cle-steps has no effect: it requires --cle auto, exact, replace or keep"},
    {{"--format=qoperator", "--dedicated-pairs"},
     "--dedicated-pairs has no effect: it requires --format qdq and --approach static"},
};

static void what_has_no_effect_is_a_notice(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        notes(idle[i].words, idle[i].says);
}

static const struct {
    const char *words[4]; /* after the last one NULL */
    const char *says;
} contradictions[] = {
    {{"--preset=UINT8_DYNAMIC_QUANT", "--weight-scale=pow2"},
     "--approach dynamic requires --weight-scale float32"},
    {{"--approach=dynamic", "--weight=int4"}, "--approach dynamic requires --weight int8 or uint8"},
    {{"--preset=XINT8", "--weight-granularity=channel"},
     "--hardware xint8 requires --weight-granularity tensor"},
    {{"--preset=XINT8", "--activation-symmetric=false"},
     "--hardware xint8 requires --activation-symmetric"},
    {{"--preset=XINT8", "--activation=int16"},
     "--hardware xint8 requires --activation int8 or uint8"},
    {{"--preset=XINT8", "--weight-reduce-range"},
     "--weight-reduce-range is not valid with --hardware xint8"},
    {{"--weight=uint8", "--weight-symmetric"},
     "--weight-symmetric requires --weight of a signed type; use int8 in place of uint8, or "
     "--weight-symmetric=false"},
    {{"--activation-method=minmse-pow2", "--activation-scale=float32"},
     "--activation-method minmse-pow2 requires --activation-scale pow2"},
    {{"--format=qoperator", "--weight=int4"}, "--format qoperator requires --weight int8 or uint8"},
    {{"--format=qoperator", "--bias=float"}, "--format qoperator requires --bias int32"},
    {{"--weight-granularity=channel", "--opset=12"},
     "--weight-granularity channel requires --opset 13 or higher"},
    {{"--weight-granularity=group", "--opset=20"},
     "--weight-granularity group requires --opset 21 or higher"},
    {{"--domain=onnx", "--activation=int16", "--opset=17"},
     "--domain onnx with 4-bit or 16-bit types requires --opset 21 or higher"},
    {{"--keep-float-weights", "--weight=int3"},
     "--keep-float-weights is not valid with --weight of 2 or 3 bits; remove it to store the "
     "weights as integers"},
    {{"--keep-float-weights", "--node=a=weight:uint2"},
     "--node a: weights of 2 or 3 bits require --approach static or weights, without "
     "--keep-float-weights"},
    {{"--keep-float-weights", "--tensor=a=int3"},
     "--tensor a: weights of 2 or 3 bits require --approach static or weights, without "
     "--keep-float-weights"},
    {{"--approach=dynamic", "--op-type=Gemm=weight:int2"},
     "--op-type Gemm: weights of 2 or 3 bits require --approach static or weights, without "
     "--keep-float-weights"},
    {{"--weight=uint3", "--weight-symmetric"},
     "--weight-symmetric requires --weight of a signed type; use int8 in place of uint8, or "
     "--weight-symmetric=false"},
    {{"--approach=dynamic", "--weight=int2"}, "--approach dynamic requires --weight int8 or uint8"},
    {{"--format=qoperator", "--weight=int3"}, "--format qoperator requires --weight int8 or uint8"},
    {{"--approach=nbits", "--nbits=3"},
     "--nbits must be 2, 4 or 8, the widths that MatMulNBits supports; for other widths use "
     "--approach weights, such as --weight int3"},
    {{"--approach=nbits", "--nbits-group=48"}, "--nbits-group must be a power of two"},
    {{"--approach=nbits", "--nbits-method=hqq", "--nbits-symmetric"},
     "--nbits-symmetric is not valid with --nbits-method hqq; hqq optimizes the zero points"},
    {{"--op-types=Conv", "--all-op-types"},
     "--op-types and --all-op-types are both given; give one of them"},
    {{"--pass=-fold-constant"},
     "--pass: unknown pass 'fold-constant'; did you mean 'fold-constants'?"},
    {{"--preset=XINT8", "--refine=shift-cat"},
     "--refine: unknown rule 'shift-cat'; did you mean 'shift-cut'?"},
    {{"--dedicated-pairs", "--dedicated-dq"},
     "--dedicated-pairs and --dedicated-dq are both given; give one of them"},
};

static void contradictions_name_both(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof contradictions / sizeof *contradictions; i++)
        refuses(contradictions[i].words, contradictions[i].says);
}

static void floats_and_blocks_have_no_ranges(void **state)
{
    struct world world;
    (void)state;
    makes(&world, WORDS("--activation=bf16", "--weight=mx6"));
    assert_int_equal(world.recipe->cle, BY_CLE_OFF);
    assert_int_equal(world.recipe->bias_correction, BY_BIASES_KEPT);
    assert_int_equal(world.recipe->bias_kind, BY_BIAS_OWN);
    assert_true(world.recipe->keep_float_weights);
    assert_false(by_recipe_needs_data(world.recipe));
    end(&world);
    makes(&world, WORDS("--activation=mx9", "--op-type=Add=activation:int8"));
    assert_true(by_recipe_needs_data(world.recipe));
    end(&world);
    makes(&world, WORDS("--activation=int8", "--cle=off", "--node=a=activation:bf16",
                        "--float-form=cast", "--float-clip"));
    assert_true(by_recipe_needs_data(world.recipe));
    end(&world);
}

static void floats_and_blocks_refuse_what_says_nothing(void **state)
{
    (void)state;
    notes(WORDS("--preset=BF16", "--activation-method=percentile"),
          "--activation-method has no effect: it requires --activation of an integer type, or "
          "--activation-scaled");
    notes(WORDS("--preset=MX9", "--weight-granularity=channel"),
          "--weight-granularity has no effect: it requires --weight of an integer type");
    notes(WORDS("--preset=MX9", "--approach=weights", "--bias-correction=true"),
          "--bias-correction has no effect: it requires --approach static");
    refuses(WORDS("--preset=BFP16", "--rounding=gptq"),
            "--rounding gptq requires --weight of an integer type; use --rounding descent for "
            "floats and blocks");
    notes(WORDS("--preset=MX6_ADAQUANT", "--rounding-free"),
          "--rounding-free has no effect: it requires --weight of an integer type");
    notes(
        WORDS("--preset=MX6_ADAQUANT", "--rounding-scales"),
        "--rounding-scales has no effect: it requires --activation and --weight of integer types");
    notes(WORDS("--preset=MX9_INT8", "--rounding=descent", "--keep-float-weights"),
          "--keep-float-weights is set to false: rounding reconstruction writes integers, which "
          "the model would round again");
    refuses(WORDS("--preset=BF16", "--bias=int32"),
            "--bias int32 requires --activation and --weight of integer types; use --bias "
            "as-weight: floats and blocks have no scales for the bias");
    refuses(WORDS("--preset=MX4", "--keep-float-weights=false", "--opset=20"),
            "--keep-float-weights=false with --weight of a block format requires --opset 21 or "
            "higher; DequantizeLinear supports blocks from opset 21 on");
    refuses(WORDS("--preset=MX9", "--block-size=15"),
            "--block-size must be even for mx4, mx6 and mx9; every two elements share a bit in "
            "these formats");
    refuses(WORDS("--preset=MXINT8", "--block-from-bf16"),
            "--block-from-bf16 is not valid with MX formats; Quark's operator for MX formats does "
            "not support it");
    notes(WORDS("--preset=MXINT8", "--fuse-relu"),
          "--fuse-relu has no effect: it requires --fuse-blocks when activations have a block "
          "format");
    notes(WORDS("--preset=BF16", "--block-size=16"),
          "--block-size has no effect: it requires --activation or --weight of a block format");
    notes(WORDS("--preset=BF16", "--domain=onnx"),
          "--domain has no effect: it requires --activation or --weight of an integer type");
    notes(WORDS("--preset=MX9", "--float-form=cast"),
          "--float-form has no effect: it requires --activation or --weight bf16, fp16 or fp8");
    notes(WORDS("--preset=BF16_BFP16", "--float-form=compiler", "--keep-float-weights"),
          "--keep-float-weights has no effect: it requires --float-form quark or cast");
    refuses(
        WORDS("--approach=dynamic", "--node=a=weight:bf16"),
        "--node a: float and block formats require --format qdq and --approach static or weights");
}

static void floats_and_blocks_are_solved(void **state)
{
    struct world world;
    (void)state;
    makes(&world, WORDS("--preset=MX9", "--bias-correction=auto"));
    assert_true(by_recipe_needs_data(world.recipe));
    end(&world);
    makes(&world, WORDS("--preset=MX9", "--cle=auto"));
    assert_int_equal(world.recipe->bias_correction, BY_BIASES_AUTO);
    end(&world);
    makes(&world, WORDS("--preset=MX9", "--cle=exact"));
    assert_int_equal(world.recipe->bias_correction, BY_BIASES_KEPT);
    assert_false(by_recipe_needs_data(world.recipe));
    end(&world);
    makes(&world, WORDS("--preset=MXFP8E4M3_ADAQUANT"));
    assert_int_equal(world.recipe->rounding, BY_ROUNDING_DESCENT);
    assert_true(by_spec_is_block(&world.recipe->weight));
    assert_true(world.recipe->keep_float_weights);
    assert_true(by_recipe_needs_data(world.recipe));
    end(&world);
    makes(&world, WORDS("--cle=off", "--rounding=descent", "--node=a=weight:mx9"));
    assert_int_equal(world.recipe->rules.count, 1);
    end(&world);
}

static void files_may_state_defaults(void **state)
{
    struct world world;
    (void)state;
    loads(&world, "cle: \"off\"\ncle-threshold: 0.5\nnbits: 4\npercentile: 99.999\n");
    end(&world);
    loads(&world, "cle: \"off\"\ncle-threshold: 0.25\n");
    assert_string_equal(world.settings.notices.at[0],
                        "--cle-threshold has no effect: it requires --cle auto, exact, replace or "
                        "keep");
    end(&world);
    notes(WORDS("--nbits=4"), "--nbits has no effect: it requires --approach nbits");
}

static void names_come_from_lists_and_files(void **state)
{
    struct world world;
    (void)state;
    put_file("names.txt", "# sensitive ones\n/head/Conv\n\n  re:^/tail/.*{1,2}  \r\n");
    makes(&world,
          WORDS("--exclude=a,conv*", "--exclude-from=names.txt", "--exclude-between=s1,s2|e1"));
    const struct by_patterns *exclude = &world.recipe->exclude;
    assert_int_equal(exclude->count, 4);
    assert_string_equal(exclude->at[1].text, "conv*");
    assert_string_equal(exclude->at[1].origin, "--exclude");
    assert_string_equal(exclude->at[2].text, "/head/Conv");
    assert_string_equal(exclude->at[2].origin, "names.txt:2");
    assert_string_equal(exclude->at[3].text, "re:^/tail/.*{1,2}");
    assert_string_equal(exclude->at[3].origin, "names.txt:4");
    assert_int_equal(world.recipe->exclude_spans.count, 1);
    assert_int_equal(world.recipe->exclude_spans.at[0].start_count, 2);
    assert_string_equal(world.recipe->exclude_spans.at[0].starts[1], "s2");
    assert_string_equal(world.recipe->exclude_spans.at[0].ends[0], "e1");
    end(&world);
    put_file("none.txt", "# nothing\n\n");
    refuses(WORDS("--exclude-from=none.txt"), "none.txt: the list contains no name");
    refuses(WORDS("--exclude-between=a,|b"), "--exclude-between: an empty name in 'a,'");
}

/* --- Rules --- */

static void rules_of_a_file(void **state)
{
    struct world world;
    (void)state;
    loads(&world, "op_types:\n"
                  "  Gather: {weight: {type: int4, group: 32}}\n"
                  "  LayerNormalization: float\n"
                  "nodes:\n"
                  "  conv1: {activation: int16, weight: {type: uint8}}\n"
                  "  're:^/backbone/.*': {input: uint8, bias: float}\n"
                  "tensors:\n"
                  "  x: {type: uint16, scale: 0.1, zero_point: 3}\n"
                  "  y: {range: [-1, 1], symmetric: true}\n"
                  "  z: float\n"
                  "  w: {type: int8, scale: [0.5, 0.25], axis: 0}\n");
    const struct by_rule *rule = world.recipe->rules.at;
    assert_int_equal(world.recipe->rules.count, 8);
    assert_int_equal(rule[0].kind, BY_RULE_OP_TYPE);
    assert_string_equal(rule[0].pattern.text, "Gather");
    assert_string_equal(rule[0].pattern.origin, "c.yaml");
    assert_int_equal(rule[0].weight.set, BY_CHANGE_ELEM | BY_CHANGE_GRANULARITY);
    assert_int_equal(rule[0].weight.spec.elem, BY_ELEM_INT4);
    assert_int_equal(rule[0].weight.spec.granularity, BY_PER_GROUP);
    assert_int_equal(rule[0].weight.spec.group, 32);
    assert_true(rule[1].keep_float);
    assert_int_equal(rule[2].input.spec.elem, BY_ELEM_INT16);
    assert_int_equal(rule[2].output.spec.elem, BY_ELEM_INT16);
    assert_int_equal(rule[2].weight.set, BY_CHANGE_ELEM | BY_CHANGE_SYMMETRIC);
    assert_false(rule[2].weight.spec.symmetric);
    assert_int_equal(rule[3].output.set, 0);
    assert_int_equal(rule[3].bias.set, BY_CHANGE_ELEM);
    assert_int_equal(rule[3].bias.spec.elem, 0);
    assert_int_equal(rule[4].param_count, 1);
    assert_true(rule[4].scales[0] == 0.1);
    assert_true(rule[4].zeros[0] == 3);
    assert_true(rule[5].has_range && rule[5].range[0] == -1 && rule[5].range[1] == 1);
    assert_true(rule[5].input.spec.symmetric);
    assert_true(rule[6].keep_float);
    assert_int_equal(rule[7].param_count, 2);
    assert_true(rule[7].zeros[1] == 0);
    end(&world);
}

static void rules_of_the_command_line(void **state)
{
    struct world world;
    (void)state;
    makes(&world, WORDS("--tensor=x=type:uint8,scale:[0.5,0.25],zero_point:[1,2],axis:1",
                        "--tensor=r=range:-1.5:2",
                        "--node=conv*=activation:int16,weight.percentile:99.9,"
                        "weight.method:percentile",
                        "--op-type=Gather={weight: {type: int4, granularity: channel}}",
                        "--op-type=Softmax=float"));
    const struct by_rule *rule = world.recipe->rules.at;
    assert_int_equal(world.recipe->rules.count, 5);
    assert_int_equal(rule[0].weight.spec.granularity, BY_PER_CHANNEL);
    assert_true(rule[1].keep_float);
    assert_string_equal(rule[2].pattern.text, "conv*");
    assert_string_equal(rule[2].pattern.origin, "--node");
    assert_int_equal(rule[2].weight.set, BY_CHANGE_METHOD);
    assert_string_equal(rule[2].weight.spec.method->name, "percentile");
    assert_true(percent_of(&rule[2].weight.spec) == 99.9);
    assert_int_equal(rule[3].param_count, 2);
    assert_int_equal(rule[3].axis, 1);
    assert_true(rule[4].has_range && rule[4].range[0] == -1.5 && rule[4].range[1] == 2);
    end(&world);
}

static void lists_of_names_are_still_lists(void **state)
{
    struct world world;
    (void)state;
    loads(&world, "nodes: [conv1, 'a,b']\nop_types: Conv\nexclude-between: [[a, [b, c]]]\n");
    assert_int_equal(world.recipe->nodes.count, 2);
    assert_string_equal(world.recipe->nodes.at[1].text, "a,b");
    assert_int_equal(world.recipe->op_types.count, 1);
    assert_int_equal(world.recipe->rules.count, 0);
    assert_int_equal(world.recipe->exclude_spans.at[0].end_count, 2);
    end(&world);
}

static void broken_rules_name_their_place(void **state)
{
    (void)state;
    refuses_file("op_types: {Conv: {wieght: int8}}",
                 "c.yaml: 1:19: op_types: unknown key 'wieght'; did you mean 'weight'?");
    refuses_file("nodes:\n  a: {weight: int5}",
                 "c.yaml: 2:15: nodes: unknown type 'int5'; did you mean 'int2'?");
    refuses_file("nodes:\n  a: {weight: complex}",
                 "c.yaml: 2:15: nodes: unknown type 'complex'; use a type of --weight, or float");
    refuses_file("nodes: {a: {weight: {type: bf16, symmetric: true}}}",
                 "c.yaml: 1:21: nodes: type bf16 has no scale and accepts no other parameters");
    refuses_file("tensors: {a: {type: mx9, scale: 1}}", "c.yaml: 1:14: tensors: mx9 has no scale");
    refuses_file(
        "nodes: {a: quick}",
        "c.yaml: 1:12: nodes: expected 'float', or a map of activation, weight, bias, ...");
    refuses_file("nodes: {a: {weight: {granularity: group}}}",
                 "c.yaml: 1:21: nodes: granularity group requires 'group: SIZE'");
    refuses_file("nodes: {a: {weight: {percentile: 99}}}",
                 "c.yaml: 1:34: nodes: percentile requires method percentile or "
                 "minmse-pow2-percentile");
    refuses_file("tensors: {a: {method: entropy, percentile: 99}}",
                 "c.yaml: 1:44: tensors: percentile requires method percentile or "
                 "minmse-pow2-percentile");
    refuses_file("tensors: {a: {method: percentile, percentile: 0}}",
                 "c.yaml: 1:47: tensors: '0' is not a number from 1e-09 to 100");
    refuses_file("nodes: {a: {weight: {method: percentile, percentile_guard: true}}}",
                 "c.yaml: 1:60: nodes: percentile-guard is valid only for activations");
    refuses_file("tensors: {a: {method: distribution}}",
                 "c.yaml a: the method requires type fp8_e4m3 or fp8_e5m2");
    refuses_file("tensors: {a: {method: entropy, entropy_bin: 4}}",
                 "c.yaml: 1:32: tensors: unknown key 'entropy_bin'; did you mean 'entropy-bins'?");
    refuses_file("nodes: {a: {weight: {type: float, symmetric: true}}}",
                 "c.yaml: 1:21: nodes: type float accepts no other parameters");
    refuses_file(
        "nodes: {a: {weight: {method: best}}}",
        "c.yaml: 1:30: nodes: unknown calibration method 'best'; 'baryon list methods' lists them");
    refuses_file("tensors: [a]", "c.yaml: 1:10: tensors: expected a map of names to rules");
    refuses_file("tensors: {a: {zero_point: 3}}",
                 "c.yaml: 1:14: tensors: zero_point requires scale");
    refuses_file("tensors: {a: {scale: 0.1, range: [0, 1]}}",
                 "c.yaml: 1:14: tensors: scale and range are both given, only one is allowed");
    refuses_file("tensors: {a: {scale: -0.1}}",
                 "c.yaml: 1:22: tensors: scale must be a positive float32 number");
    refuses_file("tensors: {a: {scale: [1, 2]}}", "c.yaml: 1:14: tensors: 2 scales require axis");
    refuses_file("tensors: {a: {scale: [1, 2], zero_point: 1, axis: 0}}",
                 "c.yaml: 1:14: tensors: 1 zero points for 2 scales, must be as many");
    refuses_file("tensors: {a: {scale: 1, zero_point: 0.5}}",
                 "c.yaml: 1:37: tensors: zero_point must be a whole number of the type");
    refuses_file("tensors: {a: {type: int8, scale: 1, zero_point: 200}}",
                 "c.yaml: 1:14: tensors: zero point 200, must be a value of int8");
    refuses_file("tensors: {a: {type: uint3, scale: 1, zero_point: 8}}",
                 "c.yaml: 1:14: tensors: zero point 8, must be a value of uint3");
    refuses_file("tensors: {a: {range: [1, 1]}}",
                 "c.yaml: 1:22: tensors: range must be [LOW, HIGH] with LOW below HIGH");
    refuses(WORDS("--node=a=weight:int5"), "--node a: unknown type 'int5'; did you mean 'int2'?");
    refuses(WORDS("--node=a={b: [}"), "--node a: '{b: [}' is not a list of KEY:VALUE");
    refuses(WORDS("--tensor=a=scale:1", "--tensor=a=scale:2"),
            "--tensor a: scale or range of this tensor is given twice");
    refuses(WORDS("--approach=weights", "--node=a=activation:int8"),
            "--node a: activation requires --approach static");
    refuses(WORDS("--preset=MATMUL_NBITS", "--node=a=weight:int8"),
            "--node a: a rule must be 'float' with --approach nbits");
    refuses(WORDS("--node=a=activation.granularity:channel"),
            "--node a: granularity of activations must be tensor");
    refuses(WORDS("--node=a=weight.method:minmse-pow2"),
            "--node a: the method requires scale: pow2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_target_completes_what_is_left_open),
        cmocka_unit_test(every_preset_is_what_it_prints),
        cmocka_unit_test(presets_are_what_their_names_say),
        cmocka_unit_test(given_values_stand_above_the_preset),
        cmocka_unit_test(transformers_have_moving_averages_in_compat_alone),
        cmocka_unit_test(biases_fit_but_in_compat),
        cmocka_unit_test(unknown_presets_are_told),
        cmocka_unit_test(methods_are_the_list_of_methods),
        cmocka_unit_test(defaults_follow_other_values),
        cmocka_unit_test(what_has_no_effect_is_a_notice),
        cmocka_unit_test(contradictions_name_both),
        cmocka_unit_test(floats_and_blocks_have_no_ranges),
        cmocka_unit_test(floats_and_blocks_refuse_what_says_nothing),
        cmocka_unit_test(floats_and_blocks_are_solved),
        cmocka_unit_test(files_may_state_defaults),
        cmocka_unit_test(names_come_from_lists_and_files),
        cmocka_unit_test(rules_of_a_file),
        cmocka_unit_test(rules_of_the_command_line),
        cmocka_unit_test(lists_of_names_are_still_lists),
        cmocka_unit_test(broken_rules_name_their_place),
    };
    return cmocka_run_group_tests_name("quantize_settings", tests, scratch_enter, scratch_leave);
}
