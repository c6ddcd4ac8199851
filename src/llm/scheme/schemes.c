/* Lists the quantization schemes of language models. */
#include "llm/scheme/scheme.h"

#include "base/str.h"
#include "dtype/family.h"

#include <string.h>

const struct by_dtype by_llm_int3 = {.name = "int3",
                                     .help = "integers -4 to 3",
                                     .bits = 3,
                                     .does = &by_family_int,
                                     .low = -4,
                                     .high = 3};
/* The sign would be a ninth bit and is never set. */
const struct by_dtype by_llm_fp8_e5m3 = {.name = "fp8_e5m3",
                                         .help = "5 exponent bits, 3 fraction bits, no sign",
                                         .bits = 9,
                                         .does = &by_family_float,
                                         .element = {5, 3, 15, BY_SPECIAL_NAN}};

#define TENSOR(type, ...)                                                                          \
    {                                                                                              \
        .dtype = &by_dtype_##type, .grain = BY_LLM_TENSOR, __VA_ARGS__                             \
    }
#define CHANNEL(type, ...)                                                                         \
    {                                                                                              \
        .dtype = &by_dtype_##type, .grain = BY_LLM_CHANNEL, __VA_ARGS__                            \
    }
#define GROUP(type, size, ...)                                                                     \
    {                                                                                              \
        .dtype = &by_dtype_##type, .grain = BY_LLM_GROUP, .group = size, __VA_ARGS__               \
    }
#define MODEL   .scale = BY_LLM_SCALE_MODEL
#define F32     .scale = BY_LLM_SCALE_F32
#define E8M0    .scale = BY_LLM_SCALE_E8M0
#define E4M3    .scale = BY_LLM_SCALE_E4M3, .global = true
#define E5M3    .scale = BY_LLM_SCALE_E5M3
#define DYNAMIC .dynamic = true
#define ASYM    .asymmetric = true
#define INT3(grain_, size)                                                                         \
    {                                                                                              \
        .dtype = &by_llm_int3, .grain = grain_, .group = size, .scale = BY_LLM_SCALE_MODEL         \
    }
#define BLOCKS(type)                                                                               \
    {                                                                                              \
        .dtype = &by_dtype_##type, .grain = BY_LLM_GROUP                                           \
    }
#define CAST(type)                                                                                 \
    {                                                                                              \
        .dtype = &by_dtype_##type                                                                  \
    }

/* Integers with scales for groups of 32, 64 and 128 weights, and for each channel. */
#define GROUPED(type, size, ...)                                                                   \
    {                                                                                              \
        .name = #type "_wo_" #size, .help = #type " weights, a scale for each " #size " in a row", \
        .weight = GROUP(type, size, __VA_ARGS__)                                                   \
    }
#define INTEGERS(type, ...)                                                                        \
    GROUPED(type, 32, __VA_ARGS__), GROUPED(type, 64, __VA_ARGS__),                                \
        GROUPED(type, 128, __VA_ARGS__),                                                           \
    {                                                                                              \
        .name = #type "_wo_per_channel", .help = #type " weights, a scale for each output",        \
        .weight = CHANNEL(type, __VA_ARGS__)                                                       \
    }

static const struct by_llm_scheme rows[] = {
    {.name = "fp8",
     .help = "fp8_e4m3 weights and inputs, a scale for each tensor",
     .weight = TENSOR(fp8_e4m3, MODEL),
     .input = TENSOR(fp8_e4m3, MODEL)},
    {.name = "ptpc_fp8",
     .help = "fp8_e4m3 weights with a scale for each output, inputs with one for each token",
     .weight = CHANNEL(fp8_e4m3, MODEL),
     .input = CHANNEL(fp8_e4m3, MODEL, DYNAMIC)},
    {.name = "fp8_e5m2",
     .help = "fp8_e5m2 weights, a scale for each tensor",
     .weight = TENSOR(fp8_e5m2, MODEL)},
    {.name = "fp8_wo_per_channel",
     .help = "fp8_e4m3 weights, a scale for each output",
     .weight = CHANNEL(fp8_e4m3, MODEL)},
    {.name = "fp8_wo_128",
     .help = "fp8_e4m3 weights, a float32 scale for each 128 in a row",
     .weight = GROUP(fp8_e4m3, 128, F32)},
    {.name = "int8",
     .help = "int8 weights and inputs, a scale for each tensor",
     .weight = TENSOR(int8, F32),
     .input = TENSOR(int8, F32)},
    {.name = "ptpc_int8",
     .help = "int8 weights with a scale for each output, inputs with one for each token",
     .weight = CHANNEL(int8, MODEL),
     .input = CHANNEL(int8, MODEL, DYNAMIC)},
    INTEGERS(int8, MODEL),
    INTEGERS(uint8, MODEL, ASYM),
    INTEGERS(int4, MODEL),
    INTEGERS(uint4, MODEL, ASYM),
    {.name = "int4_wa_64",
     .help = "int4 weights and inputs, a scale for each 64 in a row",
     .weight = GROUP(int4, 64, MODEL),
     .input = GROUP(int4, 64, MODEL, DYNAMIC)},
    {.name = "int4_int8_64",
     .help = "int4 weights, a scale for each 64 in a row; int8 inputs, one for each token",
     .weight = GROUP(int4, 64, MODEL),
     .input = CHANNEL(int8, MODEL, DYNAMIC)},
    {.name = "int4_int8_128",
     .help = "int4 weights, a scale for each 128 in a row; int8 inputs, one for each token",
     .weight = GROUP(int4, 128, MODEL),
     .input = CHANNEL(int8, MODEL, DYNAMIC)},
    {.name = "int4_int8_per_channel",
     .help = "int4 weights, a scale for each output; int8 inputs, one for each token",
     .weight = CHANNEL(int4, MODEL),
     .input = CHANNEL(int8, MODEL, DYNAMIC)},
    {.name = "int4_fp8_128",
     .help = "int4 weights, a scale for each 128 in a row; fp8_e4m3 inputs, one for each token",
     .weight = GROUP(int4, 128, MODEL),
     .input = CHANNEL(fp8_e4m3, MODEL, DYNAMIC)},
    {.name = "int3_wo_64",
     .help = "int3 weights, a scale for each 64 in a row",
     .weight = INT3(BY_LLM_GROUP, 64)},
    {.name = "int3_wo_128",
     .help = "int3 weights, a scale for each 128 in a row",
     .weight = INT3(BY_LLM_GROUP, 128)},
    GROUPED(int2, 32, MODEL),
    GROUPED(int2, 64, MODEL),
    GROUPED(uint2, 32, MODEL, ASYM),
    GROUPED(uint2, 64, MODEL, ASYM),
    {.name = "mxfp4",
     .help = "fp4 weights and inputs, a power of two for each 32",
     .weight = GROUP(fp4_e2m1, 32, E8M0),
     .input = GROUP(fp4_e2m1, 32, E8M0, DYNAMIC)},
    {.name = "mxfp4_weight_only",
     .help = "fp4 weights, a power of two for each 32",
     .weight = GROUP(fp4_e2m1, 32, E8M0)},
    {.name = "mxfp6_e3m2",
     .help = "fp6_e3m2 weights and inputs, a power of two for each 32",
     .weight = GROUP(fp6_e3m2, 32, E8M0),
     .input = GROUP(fp6_e3m2, 32, E8M0, DYNAMIC)},
    {.name = "mxfp6_e2m3",
     .help = "fp6_e2m3 weights and inputs, a power of two for each 32",
     .weight = GROUP(fp6_e2m3, 32, E8M0),
     .input = GROUP(fp6_e2m3, 32, E8M0, DYNAMIC)},
    {.name = "mxfp6_e3m2_weight_only",
     .help = "fp6_e3m2 weights, a power of two for each 32",
     .weight = GROUP(fp6_e3m2, 32, E8M0)},
    {.name = "mxfp6_e2m3_weight_only",
     .help = "fp6_e2m3 weights, a power of two for each 32",
     .weight = GROUP(fp6_e2m3, 32, E8M0)},
    {.name = "mxfp4_mxfp6_e2m3",
     .help = "fp4 weights and fp6_e2m3 inputs, a power of two for each 32",
     .weight = GROUP(fp4_e2m1, 32, E8M0),
     .input = GROUP(fp6_e2m3, 32, E8M0, DYNAMIC)},
    {.name = "mxfp4_fp8",
     .help = "fp4 weights with a power of two for each 32, fp8_e4m3 inputs",
     .weight = GROUP(fp4_e2m1, 32, E8M0),
     .input = TENSOR(fp8_e4m3, MODEL)},
    {.name = "mxfp8_e4m3",
     .alias = "mxfp8",
     .help = "fp8_e4m3 weights and inputs, a power of two for each 32",
     .weight = GROUP(fp8_e4m3, 32, E8M0),
     .input = GROUP(fp8_e4m3, 32, E8M0, DYNAMIC)},
    {.name = "mxfp8_e5m2",
     .help = "fp8_e5m2 weights and inputs, a power of two for each 32",
     .weight = GROUP(fp8_e5m2, 32, E8M0),
     .input = GROUP(fp8_e5m2, 32, E8M0, DYNAMIC)},
    {.name = "nvfp4",
     .alias = "fp4_block16_scale_e4m3",
     .help = "fp4 weights and inputs, an fp8_e4m3 scale for each 16 and a float32 one for all",
     .weight = GROUP(fp4_e2m1, 16, E4M3),
     .input = GROUP(fp4_e2m1, 16, E4M3)},
    {.name = "nvfp4_weight_only",
     .help = "fp4 weights, an fp8_e4m3 scale for each 16 and a float32 one for all",
     .weight = GROUP(fp4_e2m1, 16, E4M3)},
    {.name = "amdfp4",
     .help = "fp4 weights and inputs, an unsigned fp8_e5m3 scale for each 16",
     .weight = GROUP(fp4_e2m1, 16, E5M3),
     .input = GROUP(fp4_e2m1, 16, E5M3, DYNAMIC)},
    {.name = "amdfp4_g32",
     .help = "fp4 weights and inputs, an unsigned fp8_e5m3 scale for each 32",
     .weight = GROUP(fp4_e2m1, 32, E5M3),
     .input = GROUP(fp4_e2m1, 32, E5M3, DYNAMIC)},
    {.name = "amdfp4_global16",
     .help = "fp4 weights and inputs, an fp8_e5m3 scale for each 16 and a float32 one for all",
     .weight = GROUP(fp4_e2m1, 16, E5M3, .global = true),
     .input = GROUP(fp4_e2m1, 16, E5M3, DYNAMIC)},
    {.name = "amdfp4_global32",
     .help = "fp4 weights and inputs, an fp8_e5m3 scale for each 32 and a float32 one for all",
     .weight = GROUP(fp4_e2m1, 32, E5M3, .global = true),
     .input = GROUP(fp4_e2m1, 32, E5M3, DYNAMIC)},
    {.name = "int4_fp8",
     .alias = "w4a8",
     .help = "fp8_e4m3 weights rounded to int4 with a scale for each output, fp8_e4m3 inputs",
     .weight = CHANNEL(int4, F32, .over_fp8 = true),
     .input = TENSOR(fp8_e4m3, F32, DYNAMIC)},
    {.name = "mx6",
     .help = "micro-exponent weights and inputs of 6 bits",
     .weight = BLOCKS(mx6),
     .input = BLOCKS(mx6)},
    {.name = "mx6_weight_only", .help = "micro-exponent weights of 6 bits", .weight = BLOCKS(mx6)},
    {.name = "mx9",
     .help = "micro-exponent weights and inputs of 9 bits",
     .weight = BLOCKS(mx9),
     .input = BLOCKS(mx9)},
    {.name = "mx9_weight_only", .help = "micro-exponent weights of 9 bits", .weight = BLOCKS(mx9)},
    {.name = "bfp16",
     .help = "weights and inputs of 8 bits, an exponent for each 8",
     .weight = BLOCKS(bfp16),
     .input = BLOCKS(bfp16)},
    {.name = "bfp16_weight_only",
     .help = "weights of 8 bits, an exponent for each 8",
     .weight = BLOCKS(bfp16)},
    {.name = "mxint8",
     .help = "weights of 8 bits, a power of two for each 32",
     .weight = BLOCKS(mxint8)},
    {.name = "fp16", .alias = "float16", .help = "float16 weights", .weight = CAST(fp16)},
    {.name = "bf16", .alias = "bfloat16", .help = "bfloat16 weights", .weight = CAST(bf16)},
};

const struct by_dtype *by_llm_kept_type(enum by_llm_kept kept)
{
    return kept == BY_LLM_KEPT_FP8    ? &by_dtype_fp8_e4m3
           : kept == BY_LLM_KEPT_INT8 ? &by_dtype_int8
                                      : NULL;
}

enum { COUNT = sizeof rows / sizeof *rows };

const struct by_llm_scheme *by_llm_schemes(size_t *count)
{
    *count = COUNT;
    return rows;
}

const struct by_llm_scheme *by_llm_scheme_find(const char *name, struct baryon_error *err)
{
    const char *names[COUNT];
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(rows[i].name, name) || (rows[i].alias && !strcmp(rows[i].alias, name)))
            return &rows[i];
        names[i] = rows[i].name;
    }
    by_fail(err, BARYON_ERR_USAGE, "%s is no scheme", by_quote(quoted, name));
    const char *near = by_nearest(name, names, COUNT);
    if (near)
        by_err_hint(err, "did you mean '%s'?", near);
    else
        by_err_hint(err, "'baryon list schemes' names them");
    return NULL;
}

bool by_llm_spec_is_int(const struct by_llm_spec *spec)
{
    return spec->dtype->does == &by_family_int;
}

bool by_llm_spec_is_scaled(const struct by_llm_spec *spec)
{
    return spec->scale != BY_LLM_SCALE_NONE;
}

static unsigned bits_of_scale(const struct by_llm_spec *spec, unsigned model)
{
    switch (spec->scale) {
    case BY_LLM_SCALE_NONE:
        return 0;
    case BY_LLM_SCALE_MODEL:
        return model;
    case BY_LLM_SCALE_F32:
        return 32;
    default:
        return 8;
    }
}

double by_llm_spec_bits(const struct by_llm_spec *spec, size_t columns, unsigned scale_bits)
{
    if (!by_llm_spec_is_scaled(spec) || spec->grain == BY_LLM_TENSOR || !columns)
        return by_dtype_bits(spec->dtype);
    const double shared =
        bits_of_scale(spec, scale_bits) + (spec->asymmetric ? spec->dtype->bits : 0);
    const size_t group = spec->grain == BY_LLM_CHANNEL ? columns : spec->group;
    return spec->dtype->bits + shared / (double)group;
}
