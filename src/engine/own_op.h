/*
 * Operators of ours in sessions, of floats: each gives one tensor of the shape of its first input,
 * in its place where nobody else needs that one.
 */
#ifndef BY_OWN_OP_H
#define BY_OWN_OP_H

#include "engine/session_internal.h"

/* The operator, as the runtime takes it; lives in the session. */
struct by_own_op {
    OrtCustomOp op;
    const struct by_ort *ort;
};

struct by_own_tensor {
    const OrtValue *value;
    const float *data;
    int64_t dims[BY_RANK_MAX];
    size_t rank, count;
};

OrtStatus *by_own_op_input(const OrtApi *api, const OrtKernelContext *context, size_t index,
                           struct by_own_tensor *tensor);
OrtStatus *by_own_op_output(const OrtApi *api, OrtKernelContext *context,
                            const struct by_own_tensor *like, float **data);

/* All but the name, the number of inputs, and the kernel. */
OrtCustomOp by_own_op_describe(const struct by_ort *ort);

#endif
