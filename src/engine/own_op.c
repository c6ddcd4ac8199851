/* What all operators of ours share that give floats of their first input's shape. */
#include "engine/own_op.h"

#include "engine/op_shape.h"

/* --- Tensors --- */

OrtStatus *by_own_op_data(const OrtApi *api, const OrtKernelContext *context, size_t index,
                          const OrtValue **value, const float **data)
{
    void *found = NULL;
    OrtStatus *status = api->KernelContext_GetInput(context, index, value);
    if (!status)
        status = api->GetTensorMutableData((OrtValue *)(uintptr_t)*value, &found);
    *data = found;
    return status;
}

OrtStatus *by_own_op_input(const OrtApi *api, const OrtKernelContext *context, size_t index,
                           struct by_own_tensor *tensor)
{
    OrtTensorTypeAndShapeInfo *info = NULL;
    OrtStatus *status = by_own_op_data(api, context, index, &tensor->value, &tensor->data);
    if (!status)
        status = api->GetTensorTypeAndShape(tensor->value, &info);
    if (status)
        return status;
    status = api->GetDimensionsCount(info, &tensor->rank);
    if (!status && tensor->rank > BY_RANK_MAX)
        status = api->CreateStatus(ORT_FAIL, "too many dimensions");
    if (!status)
        status = api->GetDimensions(info, tensor->dims, tensor->rank);
    if (!status)
        status = api->GetTensorShapeElementCount(info, &tensor->count);
    if (!status)
        status = api->GetTensorElementType(info, &tensor->elem);
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

OrtStatus *by_own_op_tensors(const OrtApi *api, OrtKernelContext *context,
                             struct by_own_tensor *inputs, size_t count, float **data)
{
    OrtStatus *status = NULL;
    for (size_t i = 0; !status && i < count; i++)
        status = by_own_op_input(api, context, i, &inputs[i]);
    return status ? status : by_own_op_output(api, context, &inputs[0], data);
}

/* --- State --- */

OrtStatus *by_own_op_number(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                            const char *attribute, void **state)
{
    int64_t number = 0;
    struct by_own_number *made = NULL;
    OrtStatus *status = api->KernelInfoGetAttribute_int64(info, attribute, &number);
    *state = NULL;
    if (status)
        return status;
    if (!(made = by_alloc(1, sizeof *made, NULL)))
        return api->CreateStatus(ORT_FAIL, "out of memory");
    *made = (struct by_own_number){((const struct by_own_op *)op)->ort, number};
    *state = made;
    return NULL;
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

static void destroy_state(void *state)
{
    by_free(state);
}

#define IN_PLACE_VERSION 18 /* of the runtime: outputs that may be inputs */

static OrtCustomOp describe_op(const struct by_ort *ort, const struct by_own_kernel *kernel)
{
    return (OrtCustomOp){.version = ort->minor < IN_PLACE_VERSION ? 17 : IN_PLACE_VERSION,
                         .GetName = kernel->name,
                         .GetExecutionProviderType = on_the_cpu,
                         .GetInputType = kernel->input_type ? kernel->input_type : float_type,
                         .GetInputTypeCount = kernel->inputs,
                         .GetOutputType = float_type,
                         .GetOutputTypeCount = one_output,
                         .KernelDestroy = destroy_state,
                         .GetInputCharacteristic = always_there,
                         .GetOutputCharacteristic = always_there,
                         .GetInputMemoryType = in_host_memory,
                         .GetVariadicInputMinArity = version_one,
                         .GetVariadicInputHomogeneity = version_one,
                         .GetVariadicOutputMinArity = version_one,
                         .GetVariadicOutputHomogeneity = version_one,
                         .CreateKernelV2 = kernel->create,
                         .KernelComputeV2 = kernel->compute,
                         .InferOutputShapeFn = infer_first,
                         .GetMayInplace = kernel->input_type ? NULL : first_in_place,
                         .ReleaseMayInplace = kernel->input_type ? NULL : release_places,
                         .GetStartVersion = version_one};
}

int by_own_op_add(struct by_session *session, OrtSessionOptions *built,
                  const struct by_own_kernel *kernel, struct baryon_error *err)
{
    struct by_own_op *op = BY_ARENA_NEW(&session->arena, struct by_own_op, err);
    if (!op)
        return -1;
    *op = (struct by_own_op){describe_op(session->ort, kernel), session->ort};
    const OrtCustomOp *const ops[] = {&op->op};
    return by_session_add_ops(session, built, kernel->domain, ops, 1, err);
}
