/* Options of Quark by their own names. */
#include "settings_world.h"

/* --- Quark's names --- */

static void options_by_quarks_names(void **state)
{
    struct world world;
    (void)state;
    loads(&world, "preset: VINT8\n"
                  "enable_npu_cnn: True\n"
                  "extra_options:\n"
                  "  Int32Bias: False\n"
                  "  DedicatedQDQPair: True\n"
                  "  QuantizeAllOpTypes: True\n"
                  "  UseRandomData: True\n"
                  "subgraphs_to_exclude: [[[/model.22/Concat_3], [/model.22/Concat_5]]]\n"
                  "exclude_nodes: [a, '^/b/.*']\n");
    assert_int_equal(world.recipe->bias_kind, BY_BIAS_OWN);
    assert_int_equal(world.recipe->hardware, BY_HARDWARE_XINT8);
    assert_true(world.recipe->dedicated_pairs);
    assert_true(world.recipe->all_op_types);
    assert_int_equal(world.settings.quark_random, 1);
    assert_int_equal(world.recipe->exclude.count, 2);
    assert_string_equal(world.recipe->exclude_spans.at[0].starts[0], "/model.22/Concat_3");
    end(&world);

    makes(&world, WORDS("--extra=ActivationSymmetric=True", "--extra=Percentile=99.9",
                        "--extra=calibrate_method=CalibrationMethod.Percentile",
                        "--extra=activation_type=QuantType.QUInt16", "--extra=per_channel=true",
                        "--extra=OpTypesToQuantize=[Conv, Gemm]", "--extra=CalibDataSize=8",
                        "--extra=MatMulNBitsParams={}", "--extra=FastFinetune={}",
                        "--extra=RemoveQDQBetweenOps=[[Mul, Add]]"));
    assert_true(world.recipe->activation.symmetric);
    assert_int_equal(world.recipe->activation.elem, BY_ELEM_UINT16);
    assert_true(percent_of(&world.recipe->activation) == 99.9);
    assert_int_equal(world.recipe->weight.granularity, BY_PER_CHANNEL);
    assert_int_equal(world.recipe->op_types.count, 2);
    assert_string_equal(world.recipe->fuse_between.at[0].text, "Mul>Add");
    assert_int_equal(world.running.data.limit, 8);
    end(&world);

    /* No rules of an NPU beside the extended form is no contradiction, in either order. */
    loads(&world, "quant_format: ExtendedQuantFormat.QDQ\nenable_npu_cnn: False\n");
    assert_int_equal(world.recipe->hardware, BY_HARDWARE_EXTENDED);
    end(&world);
    loads(&world, "enable_npu_cnn: False\nquant_format: ExtendedQuantFormat.QDQ\n");
    assert_int_equal(world.recipe->hardware, BY_HARDWARE_EXTENDED);
    assert_int_equal(world.recipe->operators, BY_OPERATORS_NPU);
    end(&world);

    makes(&world, WORDS("--preset=XINT8", "--extra=MinMSEModePof2Scale=All"));
    assert_ptr_equal(world.recipe->activation.method, by_calibrator_find("minmse-pow2"));
    end(&world);
    makes(&world, WORDS("--preset=XINT8", "--extra=MinMSEModePof2Scale=Percentile"));
    assert_ptr_equal(world.recipe->activation.method, by_calibrator_find("minmse-pow2-percentile"));
    end(&world);
    makes(&world, WORDS("--preset=XINT8", "--extra=MinMSEModePof2Scale=MostCommon"));
    assert_ptr_equal(world.recipe->activation.method, by_calibrator_find("minmse-pow2-common"));
    end(&world);
    loads(&world, "preset: XINT8\nextra_options:\n  MinMSEModePof2Scale: MostCommon\n");
    assert_ptr_equal(world.recipe->activation.method, by_calibrator_find("minmse-pow2-common"));
    end(&world);

    loads(&world, "TensorQuantOverrides:\n"
                  "  x: [{quant_type: QuantType.QInt16, symmetric: True, rmin: -1, rmax: 2}]\n"
                  "  w: [{quant_type: Int8, axis: 0, scale: 0.5, zero_point: 0}, {scale: 0.25, "
                  "zero_point: 1}]\n"
                  "MixedPrecisionTensor: {QInt16: [a, b]}\n");
    const struct by_rule *rule = world.recipe->rules.at;
    assert_int_equal(world.recipe->rules.count, 4);
    assert_int_equal(rule[0].input.spec.elem, BY_ELEM_INT16);
    assert_true(rule[0].has_range && rule[0].range[1] == 2);
    assert_int_equal(rule[1].param_count, 2);
    assert_true(rule[1].scales[1] == 0.25 && rule[1].zeros[1] == 1);
    assert_string_equal(rule[3].pattern.text, "b");
    end(&world);

    makes(&world, WORDS("--extra=UseMatMulNBits=True",
                        "--extra=MatMulNBitsParams={Algorithm: HQQ, GroupSize: 32, Symmetric: "
                        "False, Bits: 8, AccuracyLevel: 4}"));
    assert_int_equal(world.recipe->nbits.method, BY_NBITS_HQQ);
    assert_int_equal(world.recipe->nbits.group, 32);
    assert_int_equal(world.recipe->nbits.bits, 8);
    assert_int_equal(world.recipe->nbits.accuracy_level, 4);
    end(&world);
}

static void takes_notices(const struct world *world, const char *const *notices)
{
    const struct by_setting_texts *taken = &world->settings.notices;
    size_t count = 0;
    for (; notices[count]; count++) {
        assert_true(count < taken->count);
        assert_string_equal(taken->at[count], notices[count]);
    }
    assert_int_equal(taken->count, count);
}

static void quarks_fine_tuning_is_solved(void **state)
{
    struct world world;
    (void)state;
    loads(&world, "preset: XINT8\n"
                  "include_fast_ft: True\n"
                  "extra_options:\n"
                  "  FastFinetune: {DataSize: 1000, FixedSeed: 1705472343, BatchSize: 2, "
                  "NumIterations: 1000, LearningRate: 0.1, OptimAlgorithm: adaround, OptimDevice: "
                  "cpu, InferDevice: cpu, EarlyStop: True}\n");
    assert_int_equal(world.recipe->rounding, BY_ROUNDING_DESCENT);
    assert_int_equal(world.recipe->rounding_samples, 1000);
    assert_int_equal(world.recipe->cle, BY_CLE_AUTO);
    assert_false(world.recipe->rounding_scales);
    takes_notices(&world,
                  WORDS("FastFinetune: FixedSeed, BatchSize, NumIterations, LearningRate, "
                        "EarlyStop: no effect, rounding reconstruction solves without training"));
    end(&world);

    loads(&world, "preset: A8W8\n"
                  "extra_options:\n"
                  "  FastFinetune:\n"
                  "    optim_algorithm: adaquant\n"
                  "    data_size: 48\n"
                  "    target_op_type: [Conv, Gemm, LayerNormalization]\n"
                  "    drop_ratio: 1.0\n"
                  "    infer_device: 'cuda:0'\n"
                  "    selective_update: True\n"
                  "    update_bias: False\n"
                  "    output_qdq: False\n"
                  "    parallel: True\n"
                  "    ref_model_path: None\n"
                  "    lr_adjust: null\n");
    assert_true(world.recipe->rounding_scales);
    assert_int_equal(world.recipe->rounding_samples, 48);
    assert_int_equal(world.recipe->rounding_op_types.count, 2);
    assert_string_equal(world.recipe->rounding_op_types.at[1].text, "Gemm");
    takes_notices(
        &world,
        WORDS("TargetOpType: LayerNormalization: no effect, their weights are rounded to nearest",
              "FastFinetune: InferDevice: no effect, use --threads, --max-memory and --provider",
              "FastFinetune: SelectiveUpdate: no effect, layers and all outputs of the model are "
              "always judged on held-out samples",
              "FastFinetune: UpdateBias: no effect, biases are always solved together with the "
              "weights",
              "FastFinetune: OutputQDQ: no effect, outputs of layers are compared before their "
              "Q/DQ pairs",
              "FastFinetune: Parallel: no effect, layers are solved one after the other"));
    end(&world);

    makes(&world, WORDS("--preset=XINT8_ADAROUND", "--extra=include_fast_ft=False"));
    assert_int_equal(world.recipe->rounding, BY_ROUNDING_NEAREST);
    end(&world);
    makes(&world, WORDS("--preset=XINT8", "--extra=FastFinetune={DataSize: 1e9, TargetOpType: "
                                          "[Conv, ConvTranspose, Gemm, MatMul]}"));
    assert_int_equal(world.recipe->rounding, BY_ROUNDING_DESCENT);
    assert_int_equal(world.recipe->rounding_samples, BY_ROUNDING_SAMPLES);
    assert_int_equal(world.recipe->rounding_op_types.count, 0);
    takes_notices(&world, WORDS(NULL));
    end(&world);
}

static void quarks_gptq_is_a_start_of_solving(void **state)
{
    struct world world;
    (void)state;
    loads(&world,
          "weight_type: Int8\n"
          "extra_options:\n"
          "  UseGPTQ: True\n"
          "  GPTQParams: {Bits: 8, BlockSize: 128, PercDamp: 0.01, GroupSize: -1, ActOrder: "
          "False, PerChannel: True, MSE: True, WeightSymmetric: True}\n");
    assert_int_equal(world.recipe->approach, BY_APPROACH_WEIGHTS);
    assert_int_equal(world.recipe->rounding, BY_ROUNDING_GPTQ);
    assert_true(world.recipe->rounding_damping == 0.01);
    assert_int_equal(world.recipe->weight.elem, BY_ELEM_INT8);
    assert_int_equal(world.recipe->weight.granularity, BY_PER_CHANNEL);
    assert_ptr_equal(world.recipe->weight.method, by_calibrator_find("minmse"));
    takes_notices(&world,
                  WORDS("GPTQParams: BlockSize, ActOrder: no effect, the integers do not depend on "
                        "the block size, and columns of large inputs always come first"));
    end(&world);

    makes(&world, WORDS("--extra=UseGPTQ=True", "--extra=GPTQParams={Bits: 3}"));
    assert_int_equal(world.recipe->weight.bits, 3);
    end(&world);
    makes(&world, WORDS("--extra=UseGPTQ=True", "--extra=GPTQParams={Bits: 2}"));
    assert_int_equal(world.recipe->weight.elem, BY_ELEM_INT2);
    end(&world);
    makes(&world, WORDS("--extra=UseGPTQ=True",
                        "--extra=GPTQParams={bits: 4, group_size: 32, weight_symmetric: False}"));
    assert_int_equal(world.recipe->weight.elem, BY_ELEM_INT4);
    assert_int_equal(world.recipe->weight.granularity, BY_PER_GROUP);
    assert_int_equal(world.recipe->weight.group, 32);
    assert_false(world.recipe->weight.symmetric);
    end(&world);

    makes(&world, WORDS("--extra=UseMatMulNBits=True",
                        "--extra=MatMulNBitsParams={Algorithm: GPTQ, GroupSize: 32}",
                        "--extra=GPTQParams={PercDamp: 0.1}"));
    assert_int_equal(world.recipe->approach, BY_APPROACH_NBITS);
    assert_int_equal(world.recipe->rounding, BY_ROUNDING_GPTQ);
    assert_int_equal(world.recipe->nbits.method, BY_NBITS_RTN);
    assert_true(world.recipe->rounding_damping == 0.1);
    end(&world);
    makes(&world, WORDS("--preset=MATMUL_NBITS", "--extra=UseGPTQ=True"));
    assert_int_equal(world.recipe->approach, BY_APPROACH_NBITS);
    assert_int_equal(world.recipe->rounding, BY_ROUNDING_GPTQ);
    end(&world);
}

static void quarks_fine_tuning_that_is_refused(void **state)
{
    (void)state;
    refuses(WORDS("--extra=FastFinetune={DropRatio: 0.5}"),
            "--extra FastFinetune: DropRatio: must be 1; layers are solved on their inputs in the "
            "quantized model");
    refuses(WORDS("--extra=FastFinetune={RefModelPath: f.onnx}"),
            "--extra FastFinetune: RefModelPath: must be None; the float model provides the target "
            "outputs of layers");
    refuses(WORDS("--extra=FastFinetune={OptimAlgoritm: adaround}"),
            "--extra FastFinetune: unknown key 'OptimAlgoritm'; did you mean 'OptimAlgorithm'?");
    refuses(WORDS("--extra=FastFinetune={OptimAlgorithm: brecq}"),
            "--extra FastFinetune: OptimAlgorithm: 'brecq', must be adaround or adaquant");
    refuses(WORDS("--extra=FastFinetune={OptimAlgorithm: [adaround]}"),
            "--extra FastFinetune: OptimAlgorithm: '', must be adaround or adaquant");
    refuses(WORDS("--extra=FastFinetune={DataSize: all}"),
            "--extra FastFinetune: DataSize: expected a number");
    refuses(WORDS("--extra=FastFinetune={DataSize: 0}"),
            "--extra FastFinetune: DataSize: 0 samples, must be at least 1");
    refuses(WORDS("--extra=FastFinetune={TargetOpType: [InstanceNormalization]}"),
            "--extra FastFinetune: TargetOpType: rounding reconstruction supports only Conv, "
            "ConvTranspose, Gemm and MatMul");
    refuses(WORDS("--extra=FastFinetune=adaround"),
            "--extra FastFinetune: expected a map of OptimAlgorithm, DataSize, ...");
    refuses(WORDS("--extra=include_fast_ft=False", "--extra=FastFinetune={DataSize: 8}"),
            "--extra FastFinetune: FastFinetune sets rounding to descent, but it is already set to "
            "nearest");
    refuses_file(
        "extra_options:\n  FastFinetune:\n    NumIteration: 5\n",
        "c.yaml: 3:5: FastFinetune: unknown key 'NumIteration'; did you mean 'NumIterations'?");
    refuses(WORDS("--extra=UseGPTQ=True", "--extra=GPTQParams={Bits: 5}"),
            "--extra GPTQParams: Bits: must be 2, 3, 4 or 8");
    refuses(WORDS("--extra=GPTQParams={BlokSize: 3}"),
            "--extra GPTQParams: unknown key 'BlokSize'; did you mean 'BlockSize'?");
    notes(WORDS("--extra=UseGPTQ=True", "--extra=use_dynamic_quant=True"),
          "--rounding has no effect: it requires --approach static, weights or nbits");
    refuses(WORDS("--approach=nbits", "--nbits-method=hqq", "--rounding=gptq"),
            "--nbits-method hqq requires --rounding nearest; use --nbits-method minmse: zero "
            "points of hqq are not integers");
    refuses(WORDS("--rounding=descent", "--rounding-op-types=Conv,Gather"),
            "--rounding-op-types: 'Gather' is not supported by rounding reconstruction, only Conv, "
            "ConvTranspose, Gemm and MatMul");
    notes(WORDS("--rounding-samples=64"),
          "--rounding-samples has no effect: it requires --rounding descent, gptq or relaxation");
}

static const char *types_of(const struct world *world)
{
    static char text[64];
    char activation[32], weight[32];
    snprintf(text, sizeof text, "%s %s",
             by_spec_type(&world->recipe->activation, activation, sizeof activation),
             by_spec_type(&world->recipe->weight, weight, sizeof weight));
    return text;
}

static void quarks_names_of_floats_and_blocks(void **state)
{
    struct world world;
    (void)state;
    makes(&world,
          WORDS("--preset=BF16", "--extra=BF16QDQToCast=True", "--extra=BF16WithClip=True"));
    assert_int_equal(world.recipe->floats, BY_FLOATS_CAST);
    assert_true(world.recipe->float_clip);
    end(&world);
    makes(&world,
          WORDS("--preset=BF16", "--extra=EnableVaimlBF16=True", "--extra=BF16QDQToCast=True"));
    assert_int_equal(world.recipe->floats, BY_FLOATS_COMPILER);
    end(&world);
    makes(&world,
          WORDS("--preset=BF16", "--extra=BF16QDQToCast=True", "--extra=EnableVaimlBF16=True"));
    assert_int_equal(world.recipe->floats, BY_FLOATS_COMPILER);
    end(&world);
    loads(&world,
          "quant_format: ExtendedQuantFormat.QDQ\n"
          "activation_type: ExtendedQuantType.QBFloat16\n"
          "weight_type: ExtendedQuantType.QBFP\n"
          "extra_options:\n"
          "  BFPAttributes: {bfp_method: to_bfp_prime, axis: 1, bit_width: 13, block_size: 32,\n"
          "    rounding_mode: 0, sub_block_size: 2, sub_block_shift_bits: 1,\n"
          "    convert_to_bfloat_before_bfp: 1}\n"
          "  RefineBlockAxis: False\n");
    assert_string_equal(types_of(&world), "bf16 mx6");
    assert_int_equal(world.recipe->weight.block.size, 32);
    assert_int_equal(world.recipe->weight.block.ties, BY_TIES_AWAY);
    assert_true(world.recipe->weight.block.from_bf16);
    assert_true(world.recipe->weight.block.one_axis);
    end(&world);
    makes(&world,
          WORDS("--preset=BFP16", "--extra=BFPAttributes={use_compiler_version_cpu_kernel: 1}"));
    assert_string_equal(types_of(&world), "bfp16_raised bfp16_raised");
    end(&world);
    makes(&world, WORDS("--preset=MX9", "--extra=BFPAttributes={bit_width: 11}"));
    assert_string_equal(types_of(&world), "mx4 mx4");
    end(&world);
    makes(&world, WORDS("--extra=activation_type=QMX", "--extra=weight_type=MX9",
                        "--extra=MXAttributes={element_dtype: fp6_e2m3, block_size: 16}"));
    assert_string_equal(types_of(&world), "mxfp6_e2m3 mx9");
    end(&world);
}

static void attributes_of_blocks_that_are_refused(void **state)
{
    (void)state;
    refuses(WORDS("--preset=BFP16", "--extra=BFPAttributes={bit_width: 12}"),
            "--extra BFPAttributes: bit_width must be 11 (mx4), 13 (mx6) or 16 (mx9 or bfp16)");
    refuses(WORDS("--preset=BFP16", "--extra=BFPAttributes={bit_width: 13}"),
            "BFPAttributes: to_bfp requires a bit_width of 16, not 13");
    refuses(WORDS("--preset=MX4", "--extra=BFPAttributes={use_compiler_version_cpu_kernel: 1}"),
            "BFPAttributes: use_compiler_version_cpu_kernel requires to_bfp");
    refuses(WORDS("--preset=MX4", "--extra=BFPAttributes={bfp_method: to_bfp_second}"),
            "--extra BFPAttributes: bfp_method must be to_bfp or to_bfp_prime");
    refuses(WORDS("--preset=MX4", "--extra=BFPAttributes={sub_block_size: 4}"),
            "--extra BFPAttributes: must be 2");
    refuses(WORDS("--preset=MX4", "--extra=BFPAttributes={sub_block_shift_bits: 2}"),
            "--extra BFPAttributes: must be 1");
    refuses(WORDS("--preset=MX4", "--extra=BFPAttributes={rounding_mode: 3}"),
            "--extra BFPAttributes: rounding_mode must be 0, 1 or 2");
    refuses(WORDS("--preset=MX4", "--extra=BFPAttributes={block_sice: 8}"),
            "--extra BFPAttributes: unknown key 'block_sice'; did you mean 'block_size'?");
    refuses(WORDS("--preset=MX4", "--extra=BFPAttributes=8"),
            "--extra BFPAttributes: expected a map of attributes");
    refuses(WORDS("--preset=MXINT8", "--extra=MXAttributes={element_dtype: int4}"),
            "--extra MXAttributes: element_dtype must be int8, fp8_e5m2, fp8_e4m3, fp6_e3m2, "
            "fp6_e2m3 or fp4_e2m1");
    notes(WORDS("--preset=BF16", "--extra=MXAttributes={element_dtype: int8}"),
          "MXAttributes has no effect: neither activations nor weights are of type QMX");
    notes(WORDS("--preset=MXINT8", "--extra=BFPAttributes={bit_width: 16}"),
          "BFPAttributes has no effect: neither activations nor weights are of type QBFP");
    notes(WORDS("--preset=XINT8", "--extra=BF16QDQToCast=True"),
          "--float-form has no effect: it requires --activation or --weight bf16, fp16 or fp8");
}

static void quarks_options_of_floats_and_channels(void **state)
{
    struct world world;
    (void)state;
    loads(&world, "calibrate_method: CalibrationMethod.Distribution\n"
                  "activation_type: QuantType.QFLOAT8E4M3FN\n"
                  "weight_type: QuantType.QFLOAT8E4M3FN\n"
                  "extra_options: {Scenario: p3}\n");
    assert_string_equal(world.recipe->activation.method->name, "distribution-p3");
    assert_true(by_spec_is_divided(&world.recipe->activation));
    assert_true(by_spec_is_scaled(&world.recipe->weight) && by_recipe_has_ranges(world.recipe));
    end(&world);
    loads(&world, "preset: BF16\nextra_options: {ActivationScaled: True}\n");
    assert_true(by_spec_is_scaled(&world.recipe->activation));
    assert_false(by_spec_is_scaled(&world.recipe->weight) ||
                 by_spec_is_divided(&world.recipe->activation));
    end(&world);
    loads(&world, "preset: MX6\nextra_options: {ActivationScaled: True}\n");
    assert_false(by_recipe_has_ranges(world.recipe));
    assert_int_equal(world.settings.notices.count, 1);
    end(&world);
    loads(&world,
          "preset: XINT8\ninclude_cle: True\n"
          "extra_options: {CLESteps: -1, CLEScaleUseThreshold: False, CLEBalanceMethod: max,"
          " QDQOpTypePerChannelSupportToAxis: {Conv: 0, MatMul: 1}}\n");
    assert_int_equal(world.recipe->cle_steps, 0);
    assert_true(world.recipe->cle_threshold == 0);
    assert_int_equal(world.settings.notices.count, 0);
    end(&world);
    loads(&world, "nodes_between: [[conv1, [add1, add2], {weight: int16}], [a, b, float]]\n");
    assert_int_equal(world.recipe->rules.count, 2);
    assert_int_equal(world.recipe->rules.at[0].span->end_count, 2);
    assert_true(world.recipe->rules.at[1].keep_float);
    end(&world);
    refuses_file("nodes_between: [[a, b]]\n",
                 "c.yaml: 1:17: nodes_between: a list of three is expected: [STARTS, ENDS, RULE]");
}

static void quarks_names_that_are_refused(void **state)
{
    (void)state;
    refuses(WORDS("--extra=Int32Bais=False"),
            "--extra Int32Bais: unknown option 'Int32Bais'; did you mean 'Int32Bias'?");
    refuses(WORDS("--extra=AutoMixprecision=64"),
            "--extra AutoMixprecision: expected a map of TargetLayerConfig, MetricThreshold, ...");
    refuses(WORDS("--extra=SmoothAlpha=1.5"),
            "--extra SmoothAlpha: '1.5' is not a number from 0 to 1, or off, auto, on");
    refuses(WORDS("--extra=EncryptionAlgorithm=AES-256"),
            "--extra EncryptionAlgorithm: not supported; models are not encrypted: only the result "
            "is written, to the file that you name; encrypt that");
    refuses(WORDS("--extra=Int32Bias=False", "--bias=int32"),
            "--extra Int32Bias: Int32Bias sets bias to as-weight, but it is already set to int32");
    refuses(WORDS("--extra=Int32Bias=perhaps"),
            "--extra Int32Bias: 'perhaps' is not true or false");
    refuses(WORDS("--extra=calibrate_method=Entropie"),
            "--extra calibrate_method: unknown value 'Entropie'; did you mean 'Entropy'?");
    refuses(WORDS("--extra=MinMSEModePof2Scale=Most"),
            "--extra MinMSEModePof2Scale: unknown value 'Most'");
    notes(WORDS("--activation-method=minmse-pow2-common"),
          "--activation-scale is set to pow2: --activation-method requires it");
    refuses(WORDS("--activation-method=minmse-pow2-common", "--activation-scale=pow2",
                  "--activation-symmetric=false"),
            "--activation-method minmse-pow2-common requires --activation-symmetric; minmse-pow2 "
            "supports any zero point");
    refuses(WORDS("--extra=Percentile=high"),
            "--extra Percentile: 'high' is not a number from 1e-09 to 100");
    refuses(WORDS("--extra=Percentile=[}"), "--extra Percentile: '[}' is not valid YAML");
    refuses_file("extra_options:\n  QuantizationPreference: best\n",
                 "c.yaml: 2:27: QuantizationPreference: accuracy, speed or resource_efficiency is "
                 "expected");
    refuses_file("extra_options:\n  QDQOpTypePerChannelSupportToAxis: {Conv: 1}\n",
                 "c.yaml: 2:44: QDQOpTypePerChannelSupportToAxis: Conv: scales are those of output "
                 "channels, which axis 1 is not; a rule for the tensor takes another axis");
    refuses_file("extra_options:\n  UseRandmData: true\n",
                 "c.yaml: 2:17: UseRandmData: unknown option 'UseRandmData'; did you mean "
                 "'UseRandomData'?");
    refuses_file("extra_options: [a]\n", "c.yaml: 1:16: expected a map of options");
    refuses_file(
        "QuantiseAllOpTypes: true\n",
        "c.yaml: 1:1: unknown key 'QuantiseAllOpTypes'; did you mean 'QuantizeAllOpTypes'?");
    refuses_file("exclud: [a]\n", "c.yaml: 1:1: unknown key 'exclud'; did you mean 'exclude'?");
    refuses_file("subgraphs_to_exclude: [[a]]\n",
                 "c.yaml: 1:24: subgraphs_to_exclude: expected a list of two: [STARTS, ENDS]");
}

/* What changes no model never stops. */
static void quarks_names_without_effect(void **state)
{
    static const struct {
        const char *option, *notice; /* NULL: none */
    } idle[] = {
        {"--extra=TmpDir=x", "TmpDir has no effect: no temporary files are written"},
        {"--extra=CalibWorkerNum=4",
         "CalibWorkerNum has no effect: --threads is the number of threads"},
        {"--extra=CalibWorkerNum=1", NULL},
        {"--extra=CalibOptimizeMem=False",
         "CalibOptimizeMem has no effect: calibration stores no activations"},
        {"--extra=CalibOptimizeMem=True", NULL},
        {"--extra=PrintSummary=True", NULL},
        {"--extra=IgnoreWarnings=true", NULL},
        {"--extra=DebugMode=True",
         "DebugMode has no effect: --verbose and --dump-passes show what happens"},
        {"--extra=CryptoMode=False", NULL},
        {"--extra=SaveTensorHistFig=False", NULL},
        {"--extra=SaveTensorHistFig=True",
         "SaveTensorHistFig has no effect: 'baryon stats' shows the histogram of a tensor"},
        {"--extra=EncryptionAlgorithm=None", NULL},
        {"--extra=Percentile=99.9",
         "--percentile has no effect: it requires --activation-method percentile or "
         "minmse-pow2-percentile"},
        {"--extra=NumBins=4096",
         "--entropy-bins has no effect: it requires --activation-method entropy"},
        {"--extra=specific_tensor_precision=False", NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
        struct world world;
        makes(&world, WORDS(idle[i].option));
        assert_int_equal(world.settings.notices.count, idle[i].notice ? 1 : 0);
        if (idle[i].notice)
            assert_string_equal(world.settings.notices.at[0], idle[i].notice);
        end(&world);
    }
}

/* Every row can be taken, and sets options that there are. */
static void every_name_is_taken(void **state)
{
    size_t count;
    const struct by_alias *rows = by_aliases(&count);
    (void)state;
    assert_true(count > 150);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(rows[i].name, rows[k].name);
        for (int yes = 0; yes < 2; yes++) {
            struct world world;
            const struct by_doc_node value = {.kind = BY_DOC_SCALAR,
                                              .text = yes ? "true" : "false"};
            begin(&world);
            const struct by_aliasing at = {.config = &world.config,
                                           .settings = &world.settings,
                                           .name = rows[i].name,
                                           .value = &value,
                                           .source = BY_SOURCE_FLAG};
            if (rows[i].kind == BY_ALIAS_FLAG && rows[i].on && !strncmp(rows[i].on, "pass=", 5))
                assert_non_null(by_pass_find(rows[i].on + 5));
            if (rows[i].kind == BY_ALIAS_FLAG)
                assert_ok(by_alias_set(&at, yes ? rows[i].on : rows[i].off, &err));
            for (const struct by_alias_word *word = rows[i].words; word && word->word; word++) {
                struct world other;
                begin(&other);
                struct by_aliasing there = at;
                there.config = &other.config;
                assert_ok(by_alias_set(&there, word->set, &err));
                end(&other);
            }
            if (rows[i].kind == BY_ALIAS_VALUE)
                assert_non_null(by_config_find(&world.config, rows[i].on));
            assert_int_equal(rows[i].kind == BY_ALIAS_SPECIAL, rows[i].take != NULL);
            end(&world);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_by_quarks_names),
        cmocka_unit_test(quarks_fine_tuning_is_solved),
        cmocka_unit_test(quarks_gptq_is_a_start_of_solving),
        cmocka_unit_test(quarks_fine_tuning_that_is_refused),
        cmocka_unit_test(quarks_names_of_floats_and_blocks),
        cmocka_unit_test(attributes_of_blocks_that_are_refused),
        cmocka_unit_test(quarks_options_of_floats_and_channels),
        cmocka_unit_test(quarks_names_that_are_refused),
        cmocka_unit_test(quarks_names_without_effect),
        cmocka_unit_test(every_name_is_taken),
    };
    return cmocka_run_group_tests_name("quantize_alias", tests, scratch_enter, scratch_leave);
}
