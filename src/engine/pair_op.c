/* Implements the custom operator that quantizes values and dequantizes them at once. */
#include "dtype/weights_path.h"
#include "engine/op_shape.h"
#include "engine/opening.h"
#include "engine/pair.h"

#include <string.h>

/* The operator, as the runtime takes it; lives in the session. */
struct pair_op {
    OrtCustomOp op;
    const struct by_ort *ort;
};

/* A node. */
struct pair_kernel {
    const struct by_ort *ort;
    size_t index;
};

bool by_pairs_wanted(const struct baryon_model *model)
{
    return by_model_opset(model, BY_PAIR_DOMAIN) != 0;
}

/* --- Computing --- */

static OrtStatus *read_input(const OrtApi *api, const OrtKernelContext *context, size_t index,
                             const OrtValue **value, const float **data)
{
    void *found = NULL;
    OrtStatus *status = api->KernelContext_GetInput(context, index, value);
    if (!status)
        status = api->GetTensorMutableData((OrtValue *)(uintptr_t)*value, &found);
    *data = found;
    return status;
}

/* The output is the input, where nobody else needs that one. */
static OrtStatus *make_output(const OrtApi *api, OrtKernelContext *context, const OrtValue *input,
                              float **data, size_t *count)
{
    OrtTensorTypeAndShapeInfo *info = NULL;
    OrtValue *output = NULL;
    int64_t dims[BY_RANK_MAX];
    size_t rank = 0;
    void *made = NULL;
    OrtStatus *status = api->GetTensorTypeAndShape(input, &info);
    if (status)
        return status;
    status = api->GetDimensionsCount(info, &rank);
    if (!status && rank > BY_RANK_MAX)
        status = api->CreateStatus(ORT_FAIL, "too many dimensions");
    if (!status)
        status = api->GetDimensions(info, dims, rank);
    if (!status)
        status = api->GetTensorShapeElementCount(info, count);
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (!status)
        status = api->KernelContext_GetOutput(context, 0, dims, rank, &output);
    if (!status)
        status = api->GetTensorMutableData(output, &made);
    *data = made;
    return status;
}

static OrtStatus *compute_pair(void *state, OrtKernelContext *context)
{
    const struct pair_kernel *kernel = state;
    const OrtApi *api = kernel->ort->api;
    const OrtValue *input, *table;
    const float *values = NULL, *rows = NULL;
    float *out = NULL;
    size_t count = 0;
    OrtStatus *status = read_input(api, context, 0, &input, &values);
    if (!status)
        status = read_input(api, context, 1, &table, &rows);
    if (!status)
        status = make_output(api, context, input, &out, &count);
    if (status)
        return status;
    const float *row = rows + kernel->index * BY_PAIR_TABLE;
    const struct by_weight_grid grid = {.scale = row[0], .low = row[1], .high = row[2]};
    if (grid.scale > 0)
        by_weight_path_chosen()->there_and_back(values, count, &grid, out);
    else if (out != values)
        memcpy(out, values, count * sizeof *out);
    return NULL;
}

/* --- What the runtime asks --- */

static OrtStatus *create_pair(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                              void **state)
{
    int64_t index = 0;
    struct pair_kernel *kernel = NULL;
    OrtStatus *status = api->KernelInfoGetAttribute_int64(info, BY_PAIR_INDEX, &index);
    *state = NULL;
    if (status)
        return status;
    if (!(kernel = by_alloc(1, sizeof *kernel, NULL)))
        return api->CreateStatus(ORT_FAIL, "out of memory");
    *kernel = (struct pair_kernel){((const struct pair_op *)op)->ort, (size_t)index};
    *state = kernel;
    return NULL;
}

static void destroy_pair(void *state)
{
    by_free(state);
}

static const char *pair_name(const OrtCustomOp *op)
{
    (void)op;
    return BY_PAIR_OP;
}

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

static size_t two_inputs(const OrtCustomOp *op)
{
    (void)op;
    return 2;
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
static OrtStatus *infer_pair(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    struct baryon_error error;
    by_err_clear(&error);
    (void)by_op_shape_on(((const struct pair_op *)op)->ort, context, 0, 0,
                         ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &error);
    return NULL;
}

#define IN_PLACE_VERSION 18 /* of the runtime: outputs that may be inputs */

static OrtCustomOp describe_pair(const struct by_ort *ort)
{
    return (OrtCustomOp){.version = ort->minor < IN_PLACE_VERSION ? 17 : IN_PLACE_VERSION,
                         .GetName = pair_name,
                         .GetExecutionProviderType = on_the_cpu,
                         .GetInputType = float_type,
                         .GetInputTypeCount = two_inputs,
                         .GetOutputType = float_type,
                         .GetOutputTypeCount = one_output,
                         .KernelDestroy = destroy_pair,
                         .GetInputCharacteristic = always_there,
                         .GetOutputCharacteristic = always_there,
                         .GetInputMemoryType = in_host_memory,
                         .GetVariadicInputMinArity = version_one,
                         .GetVariadicInputHomogeneity = version_one,
                         .GetVariadicOutputMinArity = version_one,
                         .GetVariadicOutputHomogeneity = version_one,
                         .CreateKernelV2 = create_pair,
                         .KernelComputeV2 = compute_pair,
                         .InferOutputShapeFn = infer_pair,
                         .GetMayInplace = first_in_place,
                         .ReleaseMayInplace = release_places,
                         .GetStartVersion = version_one};
}

int by_pair_ops_add(struct by_session *session, OrtSessionOptions *built, struct baryon_error *err)
{
    const struct by_ort *ort = session->ort;
    struct pair_op *op = BY_ARENA_NEW(&session->arena, struct pair_op, err);
    if (!op)
        return -1;
    *op = (struct pair_op){describe_pair(ort), ort};
    const OrtCustomOp *const ops[] = {&op->op};
    return by_session_add_ops(session, built, BY_PAIR_DOMAIN, ops, 1, err);
}
