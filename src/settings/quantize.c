/* Defines the options of quantization that choose types and scales. */
#include "settings/quantize.h"

#include "ir/tensor.h"

#include <pthread.h>
#include <string.h>

#define AT(member) .offset = offsetof(struct by_recipe_settings, member)
#define ENDLESS    9.2e18

struct by_recipe_settings *by_recipe_settings_of(const struct by_config *config)
{
    for (size_t i = 0; i < config->count; i++)
        if (config->bindings[i].group == &by_recipe_types_group)
            return config->bindings[i].target;
    return NULL;
}

static const struct by_choice approaches[] = {
    {"static", BY_APPROACH_STATIC, "weights and activations, with ranges from calibration"},
    {"weights", BY_APPROACH_WEIGHTS, "weights only, dequantized before each layer"},
    {"dynamic", BY_APPROACH_DYNAMIC, "weights, and activations at run time"},
    {"nbits", BY_APPROACH_NBITS, "weights of MatMul in blocks of 2, 4 or 8 bits (MatMulNBits)"},
    {0},
};

static const struct by_choice formats[] = {
    {"qdq", BY_FORMAT_QDQ, "float layers between Q/DQ pairs (QuantizeLinear, DequantizeLinear)"},
    {"qoperator", BY_FORMAT_QOPERATOR, "integer operators such as QLinearConv"},
    {0},
};

static const struct by_choice domains[] = {
    {"auto", BY_Q_AUTO, "ai.onnx if it supports the types, else com.microsoft"},
    {"onnx", BY_Q_ONNX, "ai.onnx"},
    {"microsoft", BY_Q_MICROSOFT, "com.microsoft"},
    {0},
};

/* Types without scales; 'baryon list formats' says what they are. */
#define FLOATS_AND_BLOCKS                                                                          \
    {"bf16", BY_ELEM_BFLOAT16, NULL}, {"fp16", BY_ELEM_FLOAT16, NULL},                             \
        {"fp8_e4m3", BY_ELEM_FLOAT8E4M3FN, NULL}, {"fp8_e5m2", BY_ELEM_FLOAT8E5M2, NULL},          \
        {"bfp16", BY_TYPE_BFP16, NULL}, {"bfp16_raised", BY_TYPE_BFP16_RAISED, NULL},              \
        {"mx4", BY_TYPE_MX4, NULL}, {"mx6", BY_TYPE_MX6, NULL}, {"mx9", BY_TYPE_MX9, NULL},        \
        {"mxint8", BY_TYPE_MXINT8, NULL}, {"mxfp8_e5m2", BY_TYPE_MXFP8_E5M2, NULL},                \
        {"mxfp8_e4m3", BY_TYPE_MXFP8_E4M3, NULL}, {"mxfp6_e3m2", BY_TYPE_MXFP6_E3M2, NULL},        \
        {"mxfp6_e2m3", BY_TYPE_MXFP6_E2M3, NULL},                                                  \
    {                                                                                              \
        "mxfp4_e2m1", BY_TYPE_MXFP4_E2M1, NULL                                                     \
    }

static const struct by_choice activation_types[] = {
    {"int4", BY_ELEM_INT4, NULL},
    {"uint4", BY_ELEM_UINT4, NULL},
    {"int8", BY_ELEM_INT8, NULL},
    {"uint8", BY_ELEM_UINT8, NULL},
    {"int16", BY_ELEM_INT16, NULL},
    {"uint16", BY_ELEM_UINT16, NULL},
    FLOATS_AND_BLOCKS,
    {0},
};

static const struct by_choice weight_types[] = {
    {"int2", BY_ELEM_INT2, NULL},
    {"uint2", BY_ELEM_UINT2, NULL},
    {"int3", BY_TYPE_INT3, NULL},
    {"uint3", BY_TYPE_UINT3, NULL},
    {"int4", BY_ELEM_INT4, NULL},
    {"uint4", BY_ELEM_UINT4, NULL},
    {"int8", BY_ELEM_INT8, NULL},
    {"uint8", BY_ELEM_UINT8, NULL},
    {"int16", BY_ELEM_INT16, NULL},
    {"uint16", BY_ELEM_UINT16, NULL},
    {"int32", BY_ELEM_INT32, NULL},
    FLOATS_AND_BLOCKS,
    {0},
};

static const struct by_choice bias_types[] = {
    {"int32", BY_BIAS_INT32, "scale of the input times scale of the weights"},
    {"as-weight", BY_BIAS_AS_WEIGHT,
     "type of the weights, with a scale of its own if the type has scales"},
    {"int8", BY_ELEM_INT8, "with a scale of its own"},
    {"uint8", BY_ELEM_UINT8, "with a scale of its own"},
    {"int16", BY_ELEM_INT16, "with a scale of its own"},
    {"uint16", BY_ELEM_UINT16, "with a scale of its own"},
    {"float", 0, "not quantized"},
    {0},
};

static const struct by_choice scales[] = {
    {"float32", BY_SCALE_FLOAT32, "any float32 value"},
    {"float16", BY_SCALE_FLOAT16, "a float16 value"},
    {"pow2", BY_SCALE_POW2, "a power of two"},
    {"int16", BY_SCALE_INT16, "M / 2^N with 16-bit M and N up to 16"},
    {0},
};

static const struct by_choice bias_scales[] = {
    {"as-weight", BY_AS_WEIGHT, "format of the weight scales"},
    {"float32", BY_SCALE_FLOAT32, "any float32 value"},
    {"float16", BY_SCALE_FLOAT16, "a float16 value"},
    {"pow2", BY_SCALE_POW2, "a power of two"},
    {"int16", BY_SCALE_INT16, "M / 2^N with 16-bit M and N up to 16"},
    {0},
};

static const struct by_choice granularities[] = {
    {"tensor", BY_PER_TENSOR, "one scale per tensor"},
    {"channel", BY_PER_CHANNEL, "one scale per output channel"},
    {"group", BY_PER_GROUP, "one scale per --group-size weights of a channel"},
    {0},
};

static const struct by_option activation_rows[] = {
    {.name = "approach",
     .type = BY_OPT_CHOICE,
     .arg = "APPROACH",
     .choices = approaches,
     .fallback = "static",
     AT(approach),
     .help = "What to quantize, and when"},
    {.name = "format",
     .type = BY_OPT_CHOICE,
     .arg = "FORMAT",
     .choices = formats,
     .fallback = "qdq",
     AT(format),
     .help = "Representation of quantized layers"},
    {.name = "domain",
     .type = BY_OPT_CHOICE,
     .arg = "DOMAIN",
     .choices = domains,
     .fallback = "auto",
     AT(domain),
     .help = "Operator domain of QuantizeLinear and DequantizeLinear"},
    {.name = "activation",
     .letter = 'a',
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = activation_types,
     .fallback = "int8",
     AT(activation),
     .help = "Data type of activations"},
    {.name = "activation-symmetric",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(activation_symmetric),
     .help = "Use symmetric ranges for activations: zero point 0 for signed types, 128 for uint8"},
    {.name = "activation-reduce-range",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(activation_reduce_range),
     .help = "Use one bit less than the data type has for activations"},
    {.name = "activation-scale",
     .type = BY_OPT_CHOICE,
     .arg = "FORMAT",
     .choices = scales,
     .fallback = "float32",
     AT(activation_scale),
     .help = "Scale format of activations"},
    {.name = "activation-method",
     .letter = 'm',
     .type = BY_OPT_CHOICE,
     .arg = "METHOD",
     .fallback = "minmax",
     AT(activation_method),
     .help = "Calibration method of activations; 'baryon list methods' describes them"},
    {.name = "activation-method-auto",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(activation_method_auto),
     .help = "Replace the method of 8-bit activations by minmse or minmax where held-out samples "
             "are better with it; off if --activation-method is given, and with scales that are "
             "powers of two"},
    {.name = "activation-headroom",
     .type = BY_OPT_NUMBER,
     .arg = "FACTOR",
     .min = 1,
     .max = 1024,
     .fallback = "1.5",
     AT(activation_headroom),
     .help = "Widen ranges of activations of more than 8 bits by this factor, for values beyond "
             "those of the samples"},
    {.name = "activation-headroom-auto",
     .type = BY_OPT_FLAG,
     .fallback = "true",
     AT(activation_headroom_auto),
     .help = "Leave this headroom out where held-out samples are better without it; off if "
             "--activation-headroom is given"},
    {.name = "wide-below",
     .type = BY_OPT_NUMBER,
     .arg = "DB",
     .min = 0,
     .max = 150,
     .fallback = "0",
     AT(wide_below),
     .help =
         "Give 16 bits to activations that 8 bits represent with a lower SQNR than this, in dB"},
    {.name = "wide-auto",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(wide_auto),
     .help = "Find --wide-below on held-out samples where the model has less than 20 dB; off if "
             "--wide-below is given"},
};

static const struct by_option weight_rows[] = {
    {.name = "weight",
     .letter = 'w',
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = weight_types,
     .fallback = "int8",
     AT(weight),
     .help = "Data type of weights"},
    {.name = "weight-symmetric",
     .type = BY_OPT_FLAG,
     .fallback = "true",
     AT(weight_symmetric),
     .help = "Use zero point 0 for weights; false by default for unsigned types"},
    {.name = "weight-reduce-range",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(weight_reduce_range),
     .help = "Use one bit less than the data type has for weights"},
    {.name = "weight-scale",
     .type = BY_OPT_CHOICE,
     .arg = "FORMAT",
     .choices = scales,
     .fallback = "float32",
     AT(weight_scale),
     .help = "Scale format of weights"},
    {.name = "weight-granularity",
     .type = BY_OPT_CHOICE,
     .arg = "GRANULARITY",
     .choices = granularities,
     .fallback = "tensor",
     AT(weight_granularity),
     .help = "Granularity of weight scales"},
    {.name = "group-size",
     .type = BY_OPT_INT,
     .arg = "COUNT",
     .min = 2,
     .max = 1 << 20,
     .fallback = "128",
     AT(group_size),
     .help = "Number of weights in a group"},
    {.name = "weight-method",
     .type = BY_OPT_CHOICE,
     .arg = "METHOD",
     .fallback = "minmax",
     AT(weight_method),
     .help = "Calibration method of weights"},
    {.name = "weight-method-auto",
     .type = BY_OPT_FLAG,
     .fallback = "true",
     AT(weight_method_auto),
     .help =
         "Replace weight method minmax by minmse where held-out samples are better with it; off "
         "if --weight-method is given"},
    {.name = "weight-rows-auto",
     .type = BY_OPT_FLAG,
     .fallback = "true",
     AT(weight_rows_auto),
     .help = "Multiply the few rows that decide the only scale of a weight in a product of their "
             "own (pass split-weight-rows) where held-out samples are better with it"},
};

static const struct by_option bias_rows[] = {
    {.name = "bias",
     .type = BY_OPT_CHOICE,
     .arg = "TYPE",
     .choices = bias_types,
     .fallback = "int32",
     AT(bias),
     .help = "Data type of biases"},
    {.name = "bias-scale",
     .type = BY_OPT_CHOICE,
     .arg = "FORMAT",
     .choices = bias_scales,
     .fallback = "as-weight",
     AT(bias_scale),
     .help = "Scale format of biases that have a scale of their own"},
    {.name = "bias-method",
     .type = BY_OPT_CHOICE,
     .arg = "METHOD",
     .fallback = "as-weight",
     AT(bias_method),
     .help = "Calibration method of biases that have a scale of their own"},
    {.name = "bias-int16",
     .type = BY_OPT_FLAG,
     .fallback = "false",
     AT(bias_int16),
     .help = "Limit int32 biases to 16 bits"},
    {.name = "adjust-weight-for-bias",
     .type = BY_OPT_FLAG,
     .fallback = "true",
     AT(adjust_weight_for_bias),
     .help = "Increase weight scales until biases fit int32"},
};

/* --- The group, with what methods add to it --- */

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define ROWS_MAX                                                                                   \
    (COUNT(activation_rows) + COUNT(weight_rows) + COUNT(bias_rows) + 2 * BY_METHOD_OPTIONS_MAX)

static struct by_option types_rows[ROWS_MAX];
static size_t types_count;

/* offset: of the struct that the rows are bound to, in the settings. */
static void add_rows(const struct by_option *rows, size_t count, size_t offset)
{
    for (size_t i = 0; i < count; i++) {
        struct by_option *row = &types_rows[types_count++];
        *row = rows[i];
        row->offset += offset;
    }
}

static void add_method_options(enum by_calib_use use, size_t offset)
{
    size_t count;
    const struct by_option *rows = by_method_options(use, &count);
    add_rows(rows, count, offset);
}

static void set_choices(const char *name, enum by_calib_use use)
{
    for (size_t i = 0; i < types_count; i++)
        if (!strcmp(types_rows[i].name, name))
            types_rows[i].choices = by_method_choices(use);
}

static void make_types(void)
{
    add_rows(activation_rows, COUNT(activation_rows), 0);
    add_method_options(BY_FOR_ACTIVATIONS, offsetof(struct by_recipe_settings, activation_options));
    add_rows(weight_rows, COUNT(weight_rows), 0);
    add_method_options(BY_FOR_WEIGHTS, offsetof(struct by_recipe_settings, weight_options));
    add_rows(bias_rows, COUNT(bias_rows), 0);
    set_choices("activation-method", BY_FOR_ACTIVATIONS);
    set_choices("weight-method", BY_FOR_WEIGHTS);
    set_choices("bias-method", BY_FOR_BIASES);
}

static const struct by_option *types(size_t *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_types);
    *count = types_count;
    return types_rows;
}

const struct by_option_group by_recipe_types_group = {.title = "Types", .make_rows = types};
