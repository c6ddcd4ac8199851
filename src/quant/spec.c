/* Describes the types of levels for all stages. */
#include "ir/tensor.h"
#include "quant/recipe.h"

#include <string.h>

/* --- Types --- */

/* A format of blocks, and what its codes are stored as: the smallest type that has all levels of a
 * block, half of which sub-blocks double, and that ONNX Runtime 1.31 dequantizes in blocks on
 * processors. It does not float4e2m1 and has no floats of 6 bits; ONNX has these types as well. */
struct block_row {
    const char *name, *codes;
    const char *own; /* ONNX's, where it is another one */
};

static const struct block_row *block_rows(size_t *count)
{
    static const struct block_row rows[] = {
        [BY_TYPE_BFP16 - BY_TYPE_BFP16] = {"bfp16", "int8", NULL},
        [BY_TYPE_BFP16_RAISED - BY_TYPE_BFP16] = {"bfp16_raised", "int8", NULL},
        [BY_TYPE_MX4 - BY_TYPE_BFP16] = {"mx4", "int4", NULL},
        [BY_TYPE_MX6 - BY_TYPE_BFP16] = {"mx6", "int8", NULL},
        [BY_TYPE_MX9 - BY_TYPE_BFP16] = {"mx9", "int16", NULL},
        [BY_TYPE_MXINT8 - BY_TYPE_BFP16] = {"mxint8", "int8", NULL},
        [BY_TYPE_MXFP8_E5M2 - BY_TYPE_BFP16] = {"mxfp8_e5m2", "fp8_e5m2", NULL},
        [BY_TYPE_MXFP8_E4M3 - BY_TYPE_BFP16] = {"mxfp8_e4m3", "fp8_e4m3", NULL},
        [BY_TYPE_MXFP6_E3M2 - BY_TYPE_BFP16] = {"mxfp6_e3m2", "fp8_e4m3", "fp6_e3m2"},
        [BY_TYPE_MXFP6_E2M3 - BY_TYPE_BFP16] = {"mxfp6_e2m3", "fp8_e4m3", "fp6_e2m3"},
        [BY_TYPE_MXFP4_E2M1 - BY_TYPE_BFP16] = {"mxfp4_e2m1", "fp8_e4m3", "fp4_e2m1"},
    };
    *count = sizeof rows / sizeof *rows;
    return rows;
}

static const struct by_dtype *block_format(int64_t type)
{
    size_t count;
    const struct block_row *rows = block_rows(&count);
    return type >= BY_TYPE_BFP16 && type < BY_TYPE_BLOCKS_END
               ? by_dtype_find(rows[type - BY_TYPE_BFP16].name)
               : NULL;
}

static const struct by_dtype *codes_of(const struct block_row *row, enum by_block_form form,
                                       int64_t opset)
{
    const struct by_dtype *own =
        form == BY_BLOCKS_ONNX && row->own ? by_dtype_find(row->own) : NULL;
    return own && opset >= (int64_t)by_dtype_opset(own) ? own : by_dtype_find(row->codes);
}

const struct by_dtype *by_spec_block_codes(const struct by_dtype *format, enum by_block_form form,
                                           int64_t opset)
{
    size_t count;
    const struct block_row *rows = block_rows(&count);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(rows[i].name, format->name))
            return codes_of(&rows[i], form, opset);
    return NULL;
}

struct by_recipe by_recipe_to_run(const struct by_recipe *recipe)
{
    struct by_recipe own = *recipe;
    own.block_form = BY_BLOCKS_RUNTIME;
    return own;
}

static const struct by_dtype *float_format(const struct by_elem_info *info, int64_t type)
{
    size_t count;
    const struct by_dtype *const *rows = by_dtypes(&count);
    for (size_t i = 0; info && info->class == BY_CLASS_FLOAT && i < count; i++)
        if (rows[i]->elem == type)
            return rows[i];
    return NULL;
}

void by_spec_set_type(struct by_tensor_spec *spec, int64_t type)
{
    const struct by_elem_info *info = by_elem_info(type);
    const struct by_dtype *block = block_format(type);
    spec->elem = block ? BY_ELEM_FLOAT : type;
    spec->format = block ? block : float_format(info, type);
    spec->bits = info && info->bits == 2 ? 2 : 0;
    if (type == BY_TYPE_INT3 || type == BY_TYPE_UINT3) {
        spec->elem = type == BY_TYPE_INT3 ? BY_ELEM_INT4 : BY_ELEM_UINT4;
        spec->bits = 3;
    }
}

bool by_spec_is_integer(const struct by_tensor_spec *spec)
{
    return spec->elem && !spec->format;
}

bool by_spec_is_block(const struct by_tensor_spec *spec)
{
    return spec->format && spec->format->block.size;
}

bool by_type_is_integer(int64_t type)
{
    struct by_tensor_spec spec = {0};
    by_spec_set_type(&spec, type);
    return by_spec_is_integer(&spec);
}

bool by_type_is_block(int64_t type)
{
    struct by_tensor_spec spec = {0};
    by_spec_set_type(&spec, type);
    return by_spec_is_block(&spec);
}

bool by_type_is_fp8(int64_t type)
{
    return type == BY_ELEM_FLOAT8E4M3FN || type == BY_ELEM_FLOAT8E5M2;
}

bool by_spec_is_scaled(const struct by_tensor_spec *spec)
{
    return spec->scaled && spec->format && !by_spec_is_block(spec);
}

bool by_spec_is_divided(const struct by_tensor_spec *spec)
{
    return by_spec_is_scaled(spec) && spec->elem != BY_ELEM_BFLOAT16;
}

bool by_spec_is_unsigned(const struct by_tensor_spec *spec)
{
    const struct by_elem_info *info = by_elem_info(spec->elem);
    return info && info->class == BY_CLASS_INT && !by_elem_is_signed(spec->elem);
}

/* The domain of Microsoft has no 2 bits. ONNX Runtime 1.31 does not open what has them beside
 * activations of 8 bits: it makes QLinearConv and the like of that, which do not take them. */
static bool can_store(const struct by_elem_info *info, const struct by_recipe *recipe,
                      int64_t opset)
{
    if (info->bits == 2 && recipe->approach == BY_APPROACH_STATIC)
        return false;
    return recipe->domain == BY_Q_MICROSOFT ? info->bits >= 4 : opset >= (int64_t)info->opset;
}

void by_spec_store(struct by_tensor_spec *spec, const struct by_recipe *recipe, int64_t opset)
{
    static const int64_t types[][2] = {{BY_ELEM_INT2, BY_ELEM_UINT2},
                                       {BY_ELEM_INT4, BY_ELEM_UINT4},
                                       {BY_ELEM_INT8, BY_ELEM_UINT8}};
    const bool is_unsigned = by_spec_is_unsigned(spec);
    for (size_t i = 0; spec->bits && i < sizeof types / sizeof *types; i++) {
        const struct by_elem_info *info = by_elem_info(types[i][is_unsigned]);
        spec->elem = types[i][is_unsigned];
        if (info->bits >= spec->bits && can_store(info, recipe, opset))
            return;
    }
}

/* --- Levels --- */

/* What a scale brings the greatest value to. bfloat16 has the range of float32, 2 is Quark's
 * choice; float16 keeps room for values beyond those of the samples, since a Cast makes infinity of
 * them. */
static double reach_of(const struct by_tensor_spec *spec)
{
    return spec->elem == BY_ELEM_BFLOAT16  ? 2
           : spec->elem == BY_ELEM_FLOAT16 ? 2048
                                           : by_dtype_max(spec->format);
}

struct levels {
    int64_t low, high;                 /* all of the type */
    int64_t symmetric_low;             /* signed types lose their lowest level */
    int64_t reduced_low, reduced_high; /* one bit less */
};

static struct levels levels_of(const struct by_tensor_spec *spec)
{
    const struct by_elem_info *info = by_elem_info(spec->elem);
    const unsigned bits = spec->bits ? spec->bits : info ? info->bits : 0;
    if (!info || info->class != BY_CLASS_INT || bits > 32)
        return (struct levels){0};
    const int64_t half = (int64_t)1 << (bits - 1);
    if (by_spec_is_unsigned(spec))
        return (struct levels){0, 2 * half - 1, 0, 0, half - 1};
    return (struct levels){-half, half - 1, 1 - half, -half / 2, half / 2};
}

void by_spec_levels(const struct by_tensor_spec *spec, int64_t *qmin, int64_t *qmax)
{
    const struct levels levels = levels_of(spec);
    *qmin = levels.low;
    *qmax = levels.high;
    if (spec->reduce_range) {
        *qmin = levels.reduced_low;
        *qmax = levels.reduced_high;
    } else if (spec->symmetric) {
        *qmin = levels.symmetric_low;
    }
}

void by_spec_target(const struct by_tensor_spec *spec, struct by_calib_target *target)
{
    *target = (struct by_calib_target){.symmetric = spec->symmetric,
                                       .power_of_two = spec->scale == BY_SCALE_POW2};
    by_spec_levels(spec, &target->qmin, &target->qmax);
    if (!by_spec_is_scaled(spec))
        return;
    target->symmetric = target->is_float = true;
    target->power_of_two = false;
    target->value_max = reach_of(spec);
}
