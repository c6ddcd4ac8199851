/* MXQuantizeDequantize: what is left of values in a microscaling format of OCP. */
#include "dtype/family.h"
#include "ops/blocks.h"

#include <string.h>

static const struct element_row {
    const char *name;
    const struct by_dtype *dtype;
} elements[] = {
    {"int8", &by_dtype_mxint8},         {"fp8_e5m2", &by_dtype_mxfp8_e5m2},
    {"fp8_e4m3", &by_dtype_mxfp8_e4m3}, {"fp6_e3m2", &by_dtype_mxfp6_e3m2},
    {"fp6_e2m3", &by_dtype_mxfp6_e2m3}, {"fp4_e2m1", &by_dtype_mxfp4_e2m1},
};

static int prepare_mx(void *kernel, const struct by_ort *ort, const OrtKernelInfo *info,
                      struct baryon_error *err)
{
    struct by_op_blocks *blocks = kernel;
    char name[32] = "int8", quoted[BY_QUOTE_MAX];
    *blocks = (struct by_op_blocks){.axis = 1, .size = 32};
    if (by_op_blocks_read(blocks, ort, info, err) ||
        by_op_text(ort, info, "element_dtype", name, sizeof name, err))
        return -1;
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(elements[i].name, name)) {
            blocks->dtype = *elements[i].dtype;
            if (i) /* rounding_mode is for integers; floats are rounded to even */
                blocks->ties = BY_TIES_EVEN;
            return 0;
        }
    return by_fail(err, BARYON_ERR_INPUT,
                   "attribute element_dtype is %s, must be int8, fp8_e5m2, fp8_e4m3, fp6_e3m2, "
                   "fp6_e2m3 or fp4_e2m1",
                   by_quote(quoted, name));
}

const struct by_op_row by_op_mx = {
    .name = "MXQuantizeDequantize",
    .old_name = "MXFixNeuron",
    .inputs = 1,
    .keeps_shape = true,
    .in_place = true,
    .kernel_size = sizeof(struct by_op_blocks),
    .prepare = prepare_mx,
    .compute = by_op_blocks_compute,
};
