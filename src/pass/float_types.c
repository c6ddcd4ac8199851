/* Models of one float type become models of another: one row a pair. */
#include "pass/passes.h"
#include "pass/retype.h"

#define SET(elem) ((uint64_t)1 << (elem))

static int fp16_to_fp32(struct by_pass_context *context, struct baryon_error *err)
{
    return by_retype(context, SET(BY_ELEM_FLOAT16), BY_ELEM_FLOAT, err);
}

static int bf16_to_fp32(struct by_pass_context *context, struct baryon_error *err)
{
    return by_retype(context, SET(BY_ELEM_BFLOAT16), BY_ELEM_FLOAT, err);
}

static int fp32_to_fp16(struct by_pass_context *context, struct baryon_error *err)
{
    return by_retype(context, SET(BY_ELEM_FLOAT) | SET(BY_ELEM_BFLOAT16), BY_ELEM_FLOAT16, err);
}

static int fp32_to_bf16(struct by_pass_context *context, struct baryon_error *err)
{
    return by_retype(context, SET(BY_ELEM_FLOAT) | SET(BY_ELEM_FLOAT16), BY_ELEM_BFLOAT16, err);
}

const struct by_pass by_pass_fp16_to_fp32 = {
    .name = "fp16-to-fp32",
    .alias = "ConvertFP16ToFP32",
    .help = "Convert float16 to float32, including inputs and outputs, or only in the requested "
            "regions",
    .fallback = BY_PASS_OFF,
    .exact = true,
    .shapes = true,
    .run = fp16_to_fp32,
};

const struct by_pass by_pass_bf16_to_fp32 = {
    .name = "bf16-to-fp32",
    .help = "Convert bfloat16 to float32, including inputs and outputs, or only in the requested "
            "regions",
    .fallback = BY_PASS_OFF,
    .exact = true,
    .shapes = true,
    .run = bf16_to_fp32,
};

const struct by_pass by_pass_fp32_to_fp16 = {
    .name = "fp32-to-fp16",
    .help = "Convert float32 and bfloat16 to float16 if ONNX defines the operator for it",
    .fallback = BY_PASS_OFF,
    .shapes = true,
    .run = fp32_to_fp16,
};

const struct by_pass by_pass_fp32_to_bf16 = {
    .name = "fp32-to-bf16",
    .help = "Convert float32 and float16 to bfloat16 if ONNX defines the operator for it",
    .fallback = BY_PASS_OFF,
    .shapes = true,
    .run = fp32_to_bf16,
};
