/*
 * BFPQuantizeDequantize: what is left of values in block floating point ("to_bfp") or with
 * micro-exponents ("to_bfp_prime"). bit_width counts 8 bits of exponent, a sign and the rest.
 */
#include "dtype/family.h"
#include "ops/blocks.h"

#include <string.h>

struct asked {
    char method[32];
    int64_t bits, sub, shifts, from_bf16, raises;
};

static int read_asked(struct asked *asked, const struct by_ort *ort, const OrtKernelInfo *info,
                      struct baryon_error *err)
{
    return by_op_text(ort, info, "bfp_method", asked->method, sizeof asked->method, err) ||
                   by_op_int(ort, info, "bit_width", 10, 32, &asked->bits, err) ||
                   by_op_int(ort, info, "sub_block_size", 1, BY_OPS_BLOCK_MAX, &asked->sub, err) ||
                   by_op_int(ort, info, "sub_block_shift_bits", 0, 8, &asked->shifts, err) ||
                   by_op_int(ort, info, "convert_to_bfloat_before_bfp", INT64_MIN, INT64_MAX,
                             &asked->from_bf16, err) ||
                   by_op_int(ort, info, "use_compiler_version_cpu_kernel", INT64_MIN, INT64_MAX,
                             &asked->raises, err)
               ? -1
               : 0;
}

static int choose_bfp(struct by_op_blocks *blocks, const struct asked *asked,
                      struct baryon_error *err)
{
    if (asked->raises && asked->bits != 16)
        return by_fail(
            err, BARYON_ERR_UNSUPPORTED,
            "attribute bit_width is %lld, must be 16 for use_compiler_version_cpu_kernel",
            (long long)asked->bits);
    blocks->dtype = asked->raises ? by_dtype_bfp16_raised : by_dtype_bfp16;
    blocks->dtype.element.mantissa = (int)asked->bits - 10;
    return 0;
}

static int choose_micro(struct by_op_blocks *blocks, const struct asked *asked,
                        struct baryon_error *err)
{
    if (blocks->size % asked->sub)
        return by_fail(
            err, BARYON_ERR_INPUT,
            "attribute block_size is %lld, must be a multiple of sub_block_size, which is %lld",
            (long long)blocks->size, (long long)asked->sub);
    blocks->dtype = by_dtype_mx9;
    blocks->dtype.element.mantissa = (int)asked->bits - 10;
    blocks->dtype.block.sub = (size_t)asked->sub;
    blocks->dtype.block.shifts = (unsigned)asked->shifts;
    return 0;
}

static int prepare_bfp(void *kernel, const struct by_ort *ort, const OrtKernelInfo *info,
                       struct baryon_error *err)
{
    struct by_op_blocks *blocks = kernel;
    struct asked asked = {.method = "to_bfp", .bits = 16, .sub = 2, .shifts = 1};
    char quoted[BY_QUOTE_MAX];
    *blocks = (struct by_op_blocks){.axis = 1, .size = 8};
    if (by_op_blocks_read(blocks, ort, info, err) || read_asked(&asked, ort, info, err))
        return -1;
    blocks->from_bf16 = asked.from_bf16 != 0;
    if (!strcmp(asked.method, "to_bfp"))
        return choose_bfp(blocks, &asked, err);
    if (!strcmp(asked.method, "to_bfp_prime") || !strcmp(asked.method, "to_bfp_prime_shared"))
        return choose_micro(blocks, &asked, err);
    return by_fail(err, BARYON_ERR_INPUT,
                   "attribute bfp_method is %s, must be to_bfp or to_bfp_prime",
                   by_quote(quoted, asked.method));
}

const struct by_op_row by_op_bfp = {
    .name = "BFPQuantizeDequantize",
    .old_name = "BFPFixNeuron",
    .inputs = 1,
    .keeps_shape = true,
    .in_place = true,
    .kernel_size = sizeof(struct by_op_blocks),
    .prepare = prepare_bfp,
    .compute = by_op_blocks_compute,
};
