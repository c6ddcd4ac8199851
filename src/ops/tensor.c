/* Reads the input and output tensors of a custom operator's node. */
#include "ops/op.h"

#define READ "read an input"
#define MAKE "create an output"

static int read_shape(const struct by_ort *ort, const OrtTensorTypeAndShapeInfo *info,
                      struct by_op_tensor *tensor, struct baryon_error *err)
{
    enum ONNXTensorElementDataType elem = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    if (by_ort_status(ort, ort->api->GetTensorElementType(info, &elem), READ, err) ||
        by_ort_status(ort, ort->api->GetDimensionsCount(info, &tensor->rank), READ, err))
        return -1;
    tensor->elem = by_ort_elem_back(elem);
    if (tensor->rank > BY_RANK_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "rank %zu, must be at most %d", tensor->rank,
                       BY_RANK_MAX);
    if (by_ort_status(ort, ort->api->GetDimensions(info, tensor->dims, tensor->rank), READ, err))
        return -1;
    return by_dims_count(tensor->dims, tensor->rank, &tensor->count, err);
}

int by_op_input(const struct by_op_call *call, size_t index, struct by_op_tensor *tensor,
                struct baryon_error *err)
{
    const struct by_ort *ort = call->ort;
    const OrtValue *value = NULL;
    OrtTensorTypeAndShapeInfo *info = NULL;
    if (by_ort_status(ort, ort->api->KernelContext_GetInput(call->context, index, &value), READ,
                      err))
        return -1;
    if (!value)
        return by_fail(err, BARYON_ERR_INPUT, "input %zu is missing", index);
    if (by_ort_status(ort, ort->api->GetTensorTypeAndShape(value, &info), READ, err))
        return -1;
    const int failed = read_shape(ort, info, tensor, err);
    ort->api->ReleaseTensorTypeAndShapeInfo(info);
    return failed ? -1
                  : by_ort_status(
                        ort,
                        ort->api->GetTensorMutableData((OrtValue *)(uintptr_t)value, &tensor->data),
                        READ, err);
}

int by_op_output(const struct by_op_call *call, struct by_op_tensor *tensor,
                 struct baryon_error *err)
{
    const struct by_ort *ort = call->ort;
    OrtValue *value = NULL;
    if (by_dims_count(tensor->dims, tensor->rank, &tensor->count, err) ||
        by_ort_status(
            ort,
            ort->api->KernelContext_GetOutput(call->context, 0, tensor->dims, tensor->rank, &value),
            MAKE, err))
        return -1;
    return by_ort_status(ort, ort->api->GetTensorMutableData(value, &tensor->data), MAKE, err);
}
