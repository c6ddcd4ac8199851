/*
 * Operators of ours in sessions: each gives one tensor of floats of the shape of its first input,
 * in its place where that has floats and nobody else needs it.
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
    ONNXTensorElementDataType elem;
};

OrtStatus *by_own_op_data(const OrtApi *api, const OrtKernelContext *context, size_t index,
                          const OrtValue **value, const float **data);
/* The same with its shape. */
OrtStatus *by_own_op_input(const OrtApi *api, const OrtKernelContext *context, size_t index,
                           struct by_own_tensor *tensor);
OrtStatus *by_own_op_output(const OrtApi *api, OrtKernelContext *context,
                            const struct by_own_tensor *like, float **data);
/* All inputs with their shapes, and the output of the first one's. */
OrtStatus *by_own_op_tensors(const OrtApi *api, OrtKernelContext *context,
                             struct by_own_tensor *inputs, size_t count, float **data);

/* State of a node that has one number. */
struct by_own_number {
    const struct by_ort *ort;
    int64_t number;
};

OrtStatus *by_own_op_number(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                            const char *attribute, void **state);

/* What one operator has beside the others. State is freed with by_free(). */
struct by_own_kernel {
    const char *domain;
    const char *(*name)(const OrtCustomOp *op);
    size_t (*inputs)(const OrtCustomOp *op);
    OrtStatus *(*create)(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                         void **state);
    OrtStatus *(*compute)(void *state, OrtKernelContext *context);
    /* NULL: floats. */
    ONNXTensorElementDataType (*input_type)(const OrtCustomOp *op, size_t index);
};

/* Adds the operator to the options of a session that is being opened. */
int by_own_op_add(struct by_session *session, OrtSessionOptions *built,
                  const struct by_own_kernel *kernel, struct baryon_error *err);

#endif
