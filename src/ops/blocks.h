/* What operators of blocks have in common: a format, an axis, floats or half floats. */
#ifndef BY_OPS_BLOCKS_H
#define BY_OPS_BLOCKS_H

#include "dtype/block.h"
#include "ops/op.h"

#define BY_OPS_BLOCK_MAX (INT64_C(1) << 31)

struct by_op_blocks {
    struct by_dtype dtype;
    int64_t axis, size;
    enum by_ties ties;
    bool from_bf16;
};

/* axis, block_size and rounding_mode. */
int by_op_blocks_read(struct by_op_blocks *blocks, const struct by_ort *ort,
                      const OrtKernelInfo *info, struct baryon_error *err);
/* The compute of a row whose kernel is a struct by_op_blocks. */
int by_op_blocks_compute(const void *kernel, const struct by_op_call *call,
                         struct baryon_error *err);

#endif
