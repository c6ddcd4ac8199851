/* Defines the options of quantization for float and block formats. */
#include "settings/quantize.h"

#define AT(member) .offset = offsetof(struct by_recipe_settings, member)

static const struct by_choice forms[] = {
    {"quark", BY_FLOATS_QUARK, "ExtendedQuantizeLinear and ExtendedDequantizeLinear of Quark's"},
    {"cast", BY_FLOATS_CAST, "a Cast there and one back, which every runtime has"},
    {"compiler", BY_FLOATS_COMPILER,
     "for compilers that compute in bf16: constants are rounded and stay float32, inputs of the "
     "model pass Casts, nothing else is written"},
    {0},
};

static const struct by_choice block_forms[] = {
    {"runtime", BY_BLOCKS_RUNTIME,
     "types that ONNX Runtime dequantizes on processors, scales of float32 (opset 21)"},
    {"onnx", BY_BLOCKS_ONNX,
     "the smallest types that ONNX has, scales of float8e8m0 (opset 24); ONNX Runtime 1.31 has no "
     "kernels for them on processors"},
    {0},
};

static const struct by_choice ties[] = {
    {"even", BY_TIES_EVEN, "the even one"},
    {"away", BY_TIES_AWAY, "the greater magnitude"},
    {"up", BY_TIES_UP, "the greater value"},
    {0},
};

static const struct by_option floats_rows[] = {
    {.name = "float-form",
     .type = BY_OPT_CHOICE,
     .arg = "FORM",
     .choices = forms,
     .fallback = "quark",
     AT(float_form),
     .help = "How the model says that values are bf16, fp16 or fp8"},
    {.name = "float-clip",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(float_clip),
     .help = "A Clip in front of each activation takes off what its float type cannot hold"},
    {.name = "block-form",
     .type = BY_OPT_CHOICE,
     .arg = "FORM",
     .choices = block_forms,
     .fallback = "runtime",
     AT(block_form),
     .help = "As what --keep-float-weights=false stores blocks; the values are the same"},
    {.name = "block-size",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 0,
     .max = 1 << 16,
     .fallback = "0",
     AT(block_size),
     .help = "Elements that share an exponent, 0 for as many as the format says"},
    {.name = "block-axis",
     .type = BY_OPT_INT,
     .arg = "AXIS",
     .min = -16,
     .max = 15,
     .fallback = "1",
     AT(block_axis),
     .help = "The axis that blocks lie along where no operator says another; below 0 from the end"},
    {.name = "block-axis-everywhere",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(block_axis_everywhere),
     .help = "Operators have no say in it: products would have the axis that they sum over"},
    {.name = "block-ties",
     .type = BY_OPT_CHOICE,
     .arg = "WHICH",
     .choices = ties,
     .fallback = "even",
     AT(block_ties),
     .help = "What values halfway between two that a block has become; elements of mxfp types "
             "always take the even one"},
    {.name = "block-from-bf16",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(block_from_bf16),
     .help = "Values are rounded to bf16 before they become blocks of bfp16, mx4, mx6 or mx9"},
};

const struct by_option_group by_recipe_floats_group =
    BY_OPTION_GROUP("Floats and blocks", floats_rows);
