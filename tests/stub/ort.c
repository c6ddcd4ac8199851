/* Replaces ONNX Runtime in tests and makes chosen calls fail. */
#include "tests/stub/ort.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT struct stub_plan stub_plan;

static const OrtApiBase *real_base;
static const OrtApi *real;
static OrtApi fake;

/* --- failing --- */

static bool fails(const char *name)
{
    stub_plan.calls++;
    bool named = stub_plan.fail_name && strcmp(stub_plan.fail_name, name) == 0;
    if (!named && stub_plan.calls != stub_plan.fail_at)
        return false;
    snprintf(stub_plan.failed, sizeof stub_plan.failed, "%s", name);
    return true;
}

static OrtStatus *failure(void)
{
    char text[128];
    snprintf(text, sizeof text, "the stub fails in %s", stub_plan.failed);
    stub_plan.statuses++;
    return real->CreateStatus(stub_plan.code ? stub_plan.code : ORT_FAIL,
                              stub_plan.message ? stub_plan.message : text);
}

static void fake_ReleaseStatus(OrtStatus *status)
{
    stub_plan.statuses--;
    real->ReleaseStatus(status);
}

/* Those of the real library are given back to us as well. */
static OrtStatus *counted(OrtStatus *status)
{
    stub_plan.statuses += status != NULL;
    return status;
}

/* NAME and its parameters with and without types: counted, and failed or handed on. */
#define HAND_ON(NAME, PARAMETERS, ARGUMENTS)                                                       \
    static OrtStatus *fake_##NAME PARAMETERS                                                       \
    {                                                                                              \
        return fails(#NAME) ? failure() : counted(real->NAME ARGUMENTS);                           \
    }

static void note_text(const char *name, const char *value)
{
    const size_t used = strlen(stub_plan.set);
    snprintf(stub_plan.set + used, sizeof stub_plan.set - used, "%s(%s) ", name, value);
}

static void note_number(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    note_text(name, text);
}

/* The same, and what is set. */
#define HAND_ON_NUMBER(NAME, PARAMETERS, ARGUMENTS, NUMBER)                                        \
    static OrtStatus *fake_##NAME PARAMETERS                                                       \
    {                                                                                              \
        note_number(#NAME, (int)(NUMBER));                                                         \
        return fails(#NAME) ? failure() : counted(real->NAME ARGUMENTS);                           \
    }

typedef enum ONNXTensorElementDataType Elem;
typedef const char *const Texts;

HAND_ON(CreateEnvWithCustomLogger,
        (OrtLoggingFunction log, void *context, OrtLoggingLevel level, const char *id,
         OrtEnv **out),
        (log, context, level, id, out))
HAND_ON(DisableTelemetryEvents, (const OrtEnv *env), (env))
HAND_ON(CreateSession,
        (const OrtEnv *env, const char *path, const OrtSessionOptions *options, OrtSession **out),
        (env, path, options, out))
HAND_ON(CreateSessionFromArray,
        (const OrtEnv *env, const void *bytes, size_t size, const OrtSessionOptions *options,
         OrtSession **out),
        (env, bytes, size, options, out))
HAND_ON(Run,
        (OrtSession * session, const OrtRunOptions *options, Texts *names,
         const OrtValue *const *values, size_t count, Texts *out_names, size_t out_count,
         OrtValue **out),
        (session, options, names, values, count, out_names, out_count, out))
HAND_ON(CreateSessionOptions, (OrtSessionOptions * *out), (out))
HAND_ON_NUMBER(DisableMemPattern, (OrtSessionOptions * options), (options), 1)
HAND_ON_NUMBER(DisableCpuMemArena, (OrtSessionOptions * options), (options), 1)
HAND_ON(SetSessionLogSeverityLevel, (OrtSessionOptions * options, int level), (options, level))
HAND_ON_NUMBER(SetSessionGraphOptimizationLevel,
               (OrtSessionOptions * options, GraphOptimizationLevel level), (options, level), level)
HAND_ON_NUMBER(SetIntraOpNumThreads, (OrtSessionOptions * options, int count), (options, count),
               count)
HAND_ON_NUMBER(SetInterOpNumThreads, (OrtSessionOptions * options, int count), (options, count),
               count)
HAND_ON_NUMBER(SetSessionExecutionMode, (OrtSessionOptions * options, ExecutionMode mode),
               (options, mode), mode)
HAND_ON_NUMBER(SetDeterministicCompute, (OrtSessionOptions * options, bool value), (options, value),
               value)
HAND_ON(SetUserLoggingFunction,
        (OrtSessionOptions * options, OrtLoggingFunction log, void *context),
        (options, log, context))
static OrtStatus *fake_AddSessionConfigEntry(OrtSessionOptions *options, const char *key,
                                             const char *value)
{
    note_text(key, value);
    return fails("AddSessionConfigEntry")
               ? failure()
               : counted(real->AddSessionConfigEntry(options, key, value));
}

static OrtStatus *fake_RegisterCustomOpsLibrary_V2(OrtSessionOptions *options, const char *path)
{
    note_text("RegisterCustomOpsLibrary_V2", path);
    return fails("RegisterCustomOpsLibrary_V2")
               ? failure()
               : counted(real->RegisterCustomOpsLibrary_V2(options, path));
}

HAND_ON(AddExternalInitializers,
        (OrtSessionOptions * options, Texts *names, const OrtValue *const *values, size_t count),
        (options, names, values, count))
HAND_ON(SessionGetInputCount, (const OrtSession *session, size_t *out), (session, out))
HAND_ON(SessionGetOutputCount, (const OrtSession *session, size_t *out), (session, out))
HAND_ON(SessionGetOverridableInitializerCount, (const OrtSession *session, size_t *out),
        (session, out))
HAND_ON(SessionGetInputName,
        (const OrtSession *session, size_t index, OrtAllocator *allocator, char **out),
        (session, index, allocator, out))
HAND_ON(SessionGetOutputName,
        (const OrtSession *session, size_t index, OrtAllocator *allocator, char **out),
        (session, index, allocator, out))
HAND_ON(SessionGetOverridableInitializerName,
        (const OrtSession *session, size_t index, OrtAllocator *allocator, char **out),
        (session, index, allocator, out))
HAND_ON(SessionGetInputTypeInfo, (const OrtSession *session, size_t index, OrtTypeInfo **out),
        (session, index, out))
HAND_ON(SessionGetOutputTypeInfo, (const OrtSession *session, size_t index, OrtTypeInfo **out),
        (session, index, out))
HAND_ON(SessionGetOverridableInitializerTypeInfo,
        (const OrtSession *session, size_t index, OrtTypeInfo **out), (session, index, out))
HAND_ON(CreateRunOptions, (OrtRunOptions * *out), (out))
HAND_ON(RunOptionsSetTerminate, (OrtRunOptions * options), (options))
HAND_ON(RunOptionsUnsetTerminate, (OrtRunOptions * options), (options))
HAND_ON(CreateCpuMemoryInfo,
        (enum OrtAllocatorType type, enum OrtMemType memory, OrtMemoryInfo **out),
        (type, memory, out))
HAND_ON(GetAllocatorWithDefaultOptions, (OrtAllocator * *out), (out))
HAND_ON(CreateTensorAsOrtValue,
        (OrtAllocator * allocator, const int64_t *dims, size_t rank, Elem type, OrtValue **out),
        (allocator, dims, rank, type, out))
HAND_ON(CreateTensorWithDataAsOrtValue,
        (const OrtMemoryInfo *memory, void *data, size_t size, const int64_t *dims, size_t rank,
         Elem type, OrtValue **out),
        (memory, data, size, dims, rank, type, out))
HAND_ON(FillStringTensor, (OrtValue * value, Texts *texts, size_t count), (value, texts, count))
HAND_ON(GetStringTensorDataLength, (const OrtValue *value, size_t *out), (value, out))
HAND_ON(GetStringTensorContent,
        (const OrtValue *value, void *text, size_t size, size_t *starts, size_t count),
        (value, text, size, starts, count))
HAND_ON(CastTypeInfoToTensorInfo, (const OrtTypeInfo *type, const OrtTensorTypeAndShapeInfo **out),
        (type, out))
HAND_ON(GetOnnxTypeFromTypeInfo, (const OrtTypeInfo *type, enum ONNXType *out), (type, out))
HAND_ON(GetTensorElementType, (const OrtTensorTypeAndShapeInfo *info, Elem *out), (info, out))
HAND_ON(GetDimensionsCount, (const OrtTensorTypeAndShapeInfo *info, size_t *out), (info, out))
HAND_ON(GetDimensions, (const OrtTensorTypeAndShapeInfo *info, int64_t *dims, size_t rank),
        (info, dims, rank))
HAND_ON(GetSymbolicDimensions,
        (const OrtTensorTypeAndShapeInfo *info, const char **symbols, size_t rank),
        (info, symbols, rank))
HAND_ON(GetTensorTypeAndShape, (const OrtValue *value, OrtTensorTypeAndShapeInfo **out),
        (value, out))
HAND_ON(GetTensorMutableData, (OrtValue * value, void **out), (value, out))

HAND_ON(CreateCustomOpDomain, (const char *domain, OrtCustomOpDomain **out), (domain, out))
HAND_ON(CustomOpDomain_Add, (OrtCustomOpDomain * domain, const OrtCustomOp *op), (domain, op))
HAND_ON(AddCustomOpDomain, (OrtSessionOptions * options, OrtCustomOpDomain *domain),
        (options, domain))
HAND_ON(KernelInfoGetAttribute_int64, (const OrtKernelInfo *info, const char *name, int64_t *out),
        (info, name, out))
HAND_ON(KernelContext_GetInput,
        (const OrtKernelContext *context, size_t index, const OrtValue **out),
        (context, index, out))
HAND_ON(KernelContext_GetOutput,
        (OrtKernelContext * context, size_t index, const int64_t *dims, size_t rank,
         OrtValue **out),
        (context, index, dims, rank, out))
HAND_ON(KernelContext_ParallelFor,
        (const OrtKernelContext *context, void (*work)(void *, size_t), size_t total,
         size_t batches, void *argument),
        (context, work, total, batches, argument))
HAND_ON(GetResizedStringTensorElementBuffer,
        (OrtValue * value, size_t index, size_t length, char **out), (value, index, length, out))
HAND_ON(ShapeInferContext_GetInputTypeShape,
        (const OrtShapeInferContext *context, size_t index, OrtTensorTypeAndShapeInfo **out),
        (context, index, out))
HAND_ON(ShapeInferContext_SetOutputTypeShape,
        (const OrtShapeInferContext *context, size_t index, const OrtTensorTypeAndShapeInfo *info),
        (context, index, info))
HAND_ON(ShapeInferContext_GetAttribute,
        (const OrtShapeInferContext *context, const char *name, const OrtOpAttr **out),
        (context, name, out))
HAND_ON(ReadOpAttr,
        (const OrtOpAttr *attribute, OrtOpAttrType type, void *data, size_t length, size_t *out),
        (attribute, type, data, length, out))

/* --- providers that are not there --- */

static OrtStatus *fake_GetAvailableProviders(char ***names, int *count)
{
    static char *list[16];
    if (fails("GetAvailableProviders"))
        return failure();
    list[0] = (char *)(uintptr_t) "CPUExecutionProvider";
    for (size_t i = 0; i < stub_plan.extra_count; i++)
        list[i + 1] = (char *)(uintptr_t)stub_plan.extra[i];
    *names = list;
    *count = (int)stub_plan.extra_count + 1;
    return NULL;
}

static OrtStatus *fake_ReleaseAvailableProviders(char **names, int count)
{
    (void)names, (void)count;
    return fails("ReleaseAvailableProviders") ? failure() : NULL;
}

static void note(const char *text)
{
    size_t used = strlen(stub_plan.appended);
    snprintf(stub_plan.appended + used, sizeof stub_plan.appended - used, "%s", text);
}

static void note_settings(Texts *keys, Texts *values, size_t count)
{
    note("(");
    for (size_t i = 0; i < count; i++) {
        note(i ? "," : "");
        note(keys[i]);
        note("=");
        note(values[i]);
    }
    note(")");
}

static OrtStatus *fake_SessionOptionsAppendExecutionProvider(OrtSessionOptions *options,
                                                             const char *name, Texts *keys,
                                                             Texts *values, size_t count)
{
    (void)options;
    if (fails("SessionOptionsAppendExecutionProvider"))
        return failure();
    note(name);
    note_settings(keys, values, count);
    return NULL;
}

/* The providers with a struct of options, which nobody looks into. */
static char options_made;
static int options_alive;

#define PROVIDER(NAME, TYPE, APPEND)                                                               \
    static OrtStatus *fake_Create##NAME##ProviderOptions(TYPE **out)                               \
    {                                                                                              \
        if (fails("Create" #NAME "ProviderOptions"))                                               \
            return failure();                                                                      \
        options_alive++;                                                                           \
        *out = (TYPE *)(void *)&options_made;                                                      \
        return NULL;                                                                               \
    }                                                                                              \
    static OrtStatus *fake_Update##NAME##ProviderOptions(TYPE *options, Texts *keys,               \
                                                         Texts *values, size_t count)              \
    {                                                                                              \
        (void)options;                                                                             \
        if (fails("Update" #NAME "ProviderOptions"))                                               \
            return failure();                                                                      \
        note_settings(keys, values, count);                                                        \
        return NULL;                                                                               \
    }                                                                                              \
    static OrtStatus *fake_Append##NAME(OrtSessionOptions *built, const TYPE *options)             \
    {                                                                                              \
        (void)built, (void)options;                                                                \
        if (fails("SessionOptionsAppendExecutionProvider_" #APPEND))                               \
            return failure();                                                                      \
        note(#NAME ";");                                                                           \
        return NULL;                                                                               \
    }                                                                                              \
    static void fake_Release##NAME##ProviderOptions(TYPE *options)                                 \
    {                                                                                              \
        (void)options;                                                                             \
        options_alive--;                                                                           \
    }                                                                                              \
    static void put_##NAME(void)                                                                   \
    {                                                                                              \
        fake.Create##NAME##ProviderOptions = fake_Create##NAME##ProviderOptions;                   \
        fake.Update##NAME##ProviderOptions = fake_Update##NAME##ProviderOptions;                   \
        fake.SessionOptionsAppendExecutionProvider_##APPEND = fake_Append##NAME;                   \
        fake.Release##NAME##ProviderOptions = fake_Release##NAME##ProviderOptions;                 \
    }

PROVIDER(CUDA, OrtCUDAProviderOptionsV2, CUDA_V2)
PROVIDER(TensorRT, OrtTensorRTProviderOptionsV2, TensorRT_V2)
PROVIDER(ROCM, OrtROCMProviderOptions, ROCM)
PROVIDER(Dnnl, OrtDnnlProviderOptions, Dnnl)

EXPORT int stub_options_alive(void);
EXPORT int stub_options_alive(void)
{
    return options_alive;
}

/* --- the library --- */

#define PUT(NAME) fake.NAME = fake_##NAME

static void put_calls(void)
{
    PUT(CreateEnvWithCustomLogger), PUT(DisableTelemetryEvents), PUT(CreateSession);
    PUT(CreateSessionFromArray), PUT(Run), PUT(CreateSessionOptions), PUT(DisableMemPattern);
    PUT(DisableCpuMemArena), PUT(SetSessionLogSeverityLevel);
    PUT(SetSessionGraphOptimizationLevel), PUT(SetIntraOpNumThreads), PUT(SetInterOpNumThreads);
    PUT(SetSessionExecutionMode), PUT(SetDeterministicCompute), PUT(SetUserLoggingFunction);
    PUT(AddSessionConfigEntry), PUT(RegisterCustomOpsLibrary_V2), PUT(AddExternalInitializers);
    PUT(SessionGetInputCount), PUT(SessionGetOutputCount);
    PUT(SessionGetOverridableInitializerCount), PUT(SessionGetInputName);
    PUT(SessionGetOutputName), PUT(SessionGetOverridableInitializerName);
    PUT(SessionGetInputTypeInfo), PUT(SessionGetOutputTypeInfo);
    PUT(SessionGetOverridableInitializerTypeInfo), PUT(CreateRunOptions);
    PUT(RunOptionsSetTerminate), PUT(RunOptionsUnsetTerminate), PUT(CreateCpuMemoryInfo);
    PUT(GetAllocatorWithDefaultOptions), PUT(CreateTensorAsOrtValue);
    PUT(CreateTensorWithDataAsOrtValue), PUT(FillStringTensor), PUT(GetStringTensorDataLength);
    PUT(GetStringTensorContent), PUT(CastTypeInfoToTensorInfo), PUT(GetOnnxTypeFromTypeInfo);
    PUT(GetTensorElementType), PUT(GetDimensionsCount), PUT(GetDimensions);
    PUT(GetSymbolicDimensions), PUT(GetTensorTypeAndShape), PUT(GetTensorMutableData);
    PUT(GetAvailableProviders), PUT(ReleaseAvailableProviders), PUT(ReleaseStatus);
    PUT(SessionOptionsAppendExecutionProvider), PUT(CreateCustomOpDomain);
    PUT(CustomOpDomain_Add), PUT(AddCustomOpDomain), PUT(KernelInfoGetAttribute_int64);
    PUT(KernelContext_GetInput), PUT(KernelContext_GetOutput), PUT(KernelContext_ParallelFor);
    PUT(GetResizedStringTensorElementBuffer), PUT(ShapeInferContext_GetInputTypeShape);
    PUT(ShapeInferContext_SetOutputTypeShape), PUT(ShapeInferContext_GetAttribute);
    PUT(ReadOpAttr);
    put_CUDA(), put_TensorRT(), put_ROCM(), put_Dnnl();
}

static const OrtApi *get_api(uint32_t version)
{
    stub_plan.asked_api++;
    if (stub_plan.no_api)
        return NULL;
    real = real_base->GetApi(version);
    fake = *real;
    put_calls();
    return &fake;
}

static const char *get_version(void)
{
    return stub_plan.version ? stub_plan.version : real_base->GetVersionString();
}

EXPORT const OrtApiBase *OrtGetApiBase(void);
EXPORT const OrtApiBase *OrtGetApiBase(void)
{
    static const OrtApiBase base = {get_api, get_version};
    typedef const OrtApiBase *get_base_fn(void);
    get_base_fn *get_base;
    void *handle = dlopen(stub_plan.real, RTLD_NOW | RTLD_NODELETE);
    *(void **)&get_base = handle ? dlsym(handle, "OrtGetApiBase") : NULL;
    if (get_base)
        real_base = get_base();
    return &base;
}
