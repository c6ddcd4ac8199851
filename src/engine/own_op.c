/* What all operators of ours share that take floats and give floats of the first one's shape. */
#include "engine/own_op.h"

#include "engine/op_shape.h"

/* --- Tensors --- */

OrtStatus *by_own_op_input(const OrtApi *api, const OrtKernelContext *context, size_t index,
                           struct by_own_tensor *tensor)
{
    OrtTensorTypeAndShapeInfo *info = NULL;
    void *found = NULL;
    OrtStatus *status = api->KernelContext_GetInput(context, index, &tensor->value);
    if (!status)
        status = api->GetTensorMutableData((OrtValue *)(uintptr_t)tensor->value, &found);
    if (!status)
        status = api->GetTensorTypeAndShape(tensor->value, &info);
    if (status)
        return status;
    tensor->data = found;
    status = api->GetDimensionsCount(info, &tensor->rank);
    if (!status && tensor->rank > BY_RANK_MAX)
        status = api->CreateStatus(ORT_FAIL, "too many dimensions");
    if (!status)
        status = api->GetDimensions(info, tensor->dims, tensor->rank);
    if (!status)
        status = api->GetTensorShapeElementCount(info, &tensor->count);
    api->ReleaseTensorTypeAndShapeInfo(info);
    return status;
}

OrtStatus *by_own_op_output(const OrtApi *api, OrtKernelContext *context,
                            const struct by_own_tensor *like, float **data)
{
    OrtValue *output = NULL;
    void *made = NULL;
    OrtStatus *status = api->KernelContext_GetOutput(context, 0, like->dims, like->rank, &output);
    if (!status)
        status = api->GetTensorMutableData(output, &made);
    *data = made;
    return status;
}

/* --- What the runtime asks --- */

static const char *on_the_cpu(const OrtCustomOp *op)
{
    (void)op;
    return NULL;
}

static ONNXTensorElementDataType float_type(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}

static size_t one_output(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static int version_one(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static OrtCustomOpInputOutputCharacteristic always_there(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return INPUT_OUTPUT_REQUIRED;
}

static OrtMemType in_host_memory(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return OrtMemTypeCPUInput;
}

static size_t first_in_place(int **inputs, int **outputs)
{
    static int input, output;
    *inputs = &input;
    *outputs = &output;
    return 1;
}

static void release_places(int *inputs, int *outputs)
{
    (void)inputs, (void)outputs;
}

/* An unknown shape is no error: the runtime goes on without it. */
static OrtStatus *infer_first(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    struct baryon_error error;
    by_err_clear(&error);
    (void)by_op_shape_on(((const struct by_own_op *)op)->ort, context, 0, 0,
                         ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &error);
    return NULL;
}

#define IN_PLACE_VERSION 18 /* of the runtime: outputs that may be inputs */

OrtCustomOp by_own_op_describe(const struct by_ort *ort)
{
    return (OrtCustomOp){.version = ort->minor < IN_PLACE_VERSION ? 17 : IN_PLACE_VERSION,
                         .GetExecutionProviderType = on_the_cpu,
                         .GetInputType = float_type,
                         .GetOutputType = float_type,
                         .GetOutputTypeCount = one_output,
                         .GetInputCharacteristic = always_there,
                         .GetOutputCharacteristic = always_there,
                         .GetInputMemoryType = in_host_memory,
                         .GetVariadicInputMinArity = version_one,
                         .GetVariadicInputHomogeneity = version_one,
                         .GetVariadicOutputMinArity = version_one,
                         .GetVariadicOutputHomogeneity = version_one,
                         .InferOutputShapeFn = infer_first,
                         .GetMayInplace = first_in_place,
                         .ReleaseMayInplace = release_places,
                         .GetStartVersion = version_one};
}
