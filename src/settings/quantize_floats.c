/* Defines the options of quantization for float and block formats. */
#include "settings/quantize.h"

#define AT(member) .offset = offsetof(struct by_recipe_settings, member)

static const struct by_choice forms[] = {
    {"quark", BY_FLOATS_QUARK, "ExtendedQuantizeLinear and ExtendedDequantizeLinear of Quark"},
    {"cast", BY_FLOATS_CAST, "a Cast to the type and one back, for every runtime"},
    {"compiler", BY_FLOATS_COMPILER,
     "for compilers that compute in bf16: constants are rounded and stored as float32, Casts are "
     "inserted at model inputs only"},
    {0},
};

static const struct by_choice block_forms[] = {
    {"runtime", BY_BLOCKS_RUNTIME,
     "types that ONNX Runtime dequantizes on CPUs, float32 scales (opset 21)"},
    {"onnx", BY_BLOCKS_ONNX,
     "smallest ONNX types, float8e8m0 scales (opset 24); ONNX Runtime 1.31 has no CPU kernels for "
     "them"},
    {0},
};

static const struct by_choice ties[] = {
    {"even", BY_TIES_EVEN, "to even"},
    {"away", BY_TIES_AWAY, "away from zero"},
    {"up", BY_TIES_UP, "to the greater value"},
    {0},
};

static const struct by_option floats_rows[] = {
    {.name = "float-form",
     .type = BY_OPT_CHOICE,
     .arg = "FORM",
     .choices = forms,
     .fallback = "quark",
     AT(float_form),
     .help = "Representation of bf16, fp16 and fp8 values"},
    {.name = "float-clip",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(float_clip),
     .help = "Insert a Clip before each activation that limits values to its float type"},
    {.name = "activation-scaled",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(activation_scaled),
     .help = "Divide activations of a float type by a scale from calibration; default for fp8"},
    {.name = "weight-scaled",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(weight_scaled),
     .help = "Divide weights of a float type by a scale; default for fp8"},
    {.name = "block-form",
     .type = BY_OPT_CHOICE,
     .arg = "FORM",
     .choices = block_forms,
     .fallback = "runtime",
     AT(block_form),
     .help = "Storage of block weights with --keep-float-weights=false; the values are the same"},
    {.name = "block-size",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1 << 16,
     .fallback = "0",
     AT(block_size),
     .help = "Number of elements that share an exponent, 0 for the default of the format"},
    {.name = "block-axis",
     .type = BY_OPT_INT,
     .arg = "AXIS",
     .min = -16,
     .max = 15,
     .fallback = "1",
     AT(block_axis),
     .help = "Axis of blocks if the operator does not determine it; negative values count from the "
             "end"},
    {.name = "block-axis-everywhere",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(block_axis_everywhere),
     .help = "Use --block-axis for every operator; if false, matrix products use the axis they sum "
             "over"},
    {.name = "block-ties",
     .type = BY_OPT_CHOICE,
     .arg = "RULE",
     .choices = ties,
     .fallback = "even",
     AT(block_ties),
     .help = "Rounding of values halfway between two of a block; elements of mxfp types always "
             "round to even"},
    {.name = "block-from-bf16",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(block_from_bf16),
     .help = "Round values to bf16 before the conversion to bfp16, mx4, mx6 or mx9"},
};

const struct by_option_group by_recipe_floats_group =
    BY_OPTION_GROUP("Float and block formats", floats_rows);
