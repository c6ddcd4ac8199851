/* A custom-operator library for tests: test.baryon.Halve halves floats. */
#include <onnxruntime_c_api.h>

static const OrtApi *api;
static OrtCustomOpDomain *domain; /* must outlive the sessions, which unload this library */

static void *create_kernel(const OrtCustomOp *op, const OrtApi *given, const OrtKernelInfo *info)
{
    (void)op, (void)given, (void)info;
    static char kernel;
    return &kernel;
}

static const char *get_name(const OrtCustomOp *op)
{
    (void)op;
    return "Halve";
}

static const char *get_provider(const OrtCustomOp *op)
{
    (void)op;
    return NULL;
}

static ONNXTensorElementDataType get_type(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}

static size_t get_count(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static OrtCustomOpInputOutputCharacteristic get_presence(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return INPUT_OUTPUT_REQUIRED;
}

static OrtMemType get_memory(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return OrtMemTypeDefault;
}

static OrtStatus *halve(const OrtValue *input, OrtKernelContext *context)
{
    OrtTensorTypeAndShapeInfo *info = NULL;
    OrtValue *output = NULL;
    int64_t dims[16];
    size_t rank = 0, count = 0;
    void *from = NULL, *to = NULL;
    OrtStatus *status = api->GetTensorTypeAndShape(input, &info);
    if (!status)
        status = api->GetDimensionsCount(info, &rank);
    if (!status)
        status = api->GetDimensions(info, dims, rank);
    if (!status)
        status = api->GetTensorShapeElementCount(info, &count);
    if (!status)
        status = api->KernelContext_GetOutput(context, 0, dims, rank, &output);
    if (!status)
        status = api->GetTensorMutableData((OrtValue *)(uintptr_t)input, &from);
    if (!status)
        status = api->GetTensorMutableData(output, &to);
    for (size_t i = 0; !status && i < count; i++)
        ((float *)to)[i] = ((const float *)from)[i] / 2;
    if (info)
        api->ReleaseTensorTypeAndShapeInfo(info);
    return status;
}

static OrtStatus *compute(void *kernel, OrtKernelContext *context)
{
    const OrtValue *input = NULL;
    (void)kernel;
    OrtStatus *status = api->KernelContext_GetInput(context, 0, &input);
    return status ? status : halve(input, context);
}

static void destroy(void *kernel)
{
    (void)kernel;
}

static const OrtCustomOp op = {
    .version = 17,
    .CreateKernel = create_kernel,
    .GetName = get_name,
    .GetExecutionProviderType = get_provider,
    .GetInputType = get_type,
    .GetInputTypeCount = get_count,
    .GetOutputType = get_type,
    .GetOutputTypeCount = get_count,
    .KernelDestroy = destroy,
    .GetInputCharacteristic = get_presence,
    .GetOutputCharacteristic = get_presence,
    .GetInputMemoryType = get_memory,
    .KernelComputeV2 = compute,
};

__attribute__((visibility("default"))) OrtStatus *RegisterCustomOps(OrtSessionOptions *options,
                                                                    const OrtApiBase *base)
{
    OrtStatus *status = NULL;
    api = base->GetApi(17);
    if (!domain) {
        status = api->CreateCustomOpDomain("test.baryon", &domain);
        if (!status)
            status = api->CustomOpDomain_Add(domain, &op);
    }
    return status ? status : api->AddCustomOpDomain(options, domain);
}

__attribute__((destructor)) static void release_domain(void)
{
    if (domain)
        api->ReleaseCustomOpDomain(domain);
}
