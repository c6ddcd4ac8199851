/* Registers a custom operator with ONNX Runtime and translates its errors. */
#include "ops/op.h"

#include "engine/op_shape.h"

#include <stddef.h>

#define IN_PLACE_VERSION 18 /* that brought outputs that may be inputs */

/* What the runtime holds for a node; the operator's own part is after it. */
struct kernel {
    const struct by_op *op;
    unsigned workers;
    alignas(max_align_t) char own[];
};

static const struct by_op *op_of(const OrtCustomOp *op)
{
    return (const struct by_op *)op;
}

/* --- Errors --- */

static OrtErrorCode code_of(enum baryon_code code)
{
    return code == BARYON_ERR_NOMEM         ? ORT_RUNTIME_EXCEPTION
           : code == BARYON_ERR_UNSUPPORTED ? ORT_NOT_IMPLEMENTED
                                            : ORT_INVALID_ARGUMENT;
}

static OrtStatus *status_of(const struct by_op *op, const struct baryon_error *error)
{
    char text[sizeof error->message + sizeof error->place + sizeof error->hint];
    baryon_error_format(error, text, sizeof text);
    return op->ort->api->CreateStatus(code_of(error->code), text);
}

/* The runtime names the node where computing fails, but not where its kernel is made. */
static int in_node(const struct by_op *op, const OrtKernelInfo *info, struct baryon_error *err)
{
    char name[128], quoted[BY_QUOTE_MAX];
    size_t size = sizeof name;
    OrtStatus *status = op->ort->api->KernelInfo_GetNodeName(info, name, &size);
    if (!status)
        return by_err_in(err, "%s %s", op->name, by_quote(quoted, name));
    op->ort->api->ReleaseStatus(status);
    return by_err_in(err, "%s", op->name);
}

/* --- Kernels --- */

static OrtStatus *create(const OrtCustomOp *base, const OrtApi *api, const OrtKernelInfo *info,
                         void **out)
{
    const struct by_op *op = op_of(base);
    struct baryon_error error;
    (void)api;
    by_err_clear(&error);
    *out = NULL;
    struct kernel *kernel = by_alloc_zero(1, sizeof *kernel + op->row->kernel_size, &error);
    if (!kernel)
        return status_of(op, &error);
    kernel->op = op;
    kernel->workers = by_cpu_count();
    if (op->row->prepare(kernel->own, op->ort, info, &error)) {
        in_node(op, info, &error);
        by_free(kernel);
        return status_of(op, &error);
    }
    *out = kernel;
    return NULL;
}

static OrtStatus *compute(void *data, OrtKernelContext *context)
{
    const struct kernel *kernel = data;
    const struct by_op *op = kernel->op;
    struct baryon_error error;
    struct by_op_team team;
    by_err_clear(&error);
    by_op_team(&team, op->ort, context, kernel->workers);
    const struct by_op_call call = {op->ort, context, &team.team};
    if (!op->row->compute(kernel->own, &call, &error))
        return NULL;
    by_err_in(&error, "%s", op->name);
    return status_of(op, &error);
}

static void destroy(void *kernel)
{
    by_free(kernel);
}

/* --- Rows --- */

static const char *name_of(const OrtCustomOp *op)
{
    return op_of(op)->name;
}

static const char *provider_of(const OrtCustomOp *op)
{
    (void)op;
    return "CPUExecutionProvider";
}

static size_t inputs_of(const OrtCustomOp *op)
{
    return op_of(op)->row->inputs;
}

static size_t one_output(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static ONNXTensorElementDataType input_type(const OrtCustomOp *op, size_t index)
{
    return op_of(op)->row->input_types[index];
}

static ONNXTensorElementDataType output_type(const OrtCustomOp *op, size_t index)
{
    (void)index;
    return op_of(op)->row->output_type;
}

static OrtCustomOpInputOutputCharacteristic required(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return INPUT_OUTPUT_REQUIRED;
}

static OrtMemType on_host(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return OrtMemTypeDefault;
}

static int first_version(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

/* Where a row leaves it open it is that of the inputs that are left open. */
static int type_given(const struct by_op *op, OrtShapeInferContext *context,
                      enum ONNXTensorElementDataType *type, struct baryon_error *err)
{
    *type = op->row->output_type;
    for (size_t i = 0; !*type && i < op->row->inputs; i++)
        if (!op->row->input_types[i] && by_op_type_of(op->ort, context, i, type, err))
            return -1;
    return 0;
}

/* The runtime does not release a status from here; without a shape it finds it when it runs. */
static OrtStatus *infer_shape(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    struct baryon_error ignored;
    enum ONNXTensorElementDataType type;
    if (!type_given(op_of(op), context, &type, &ignored))
        by_op_shape_on(op_of(op)->ort, context, 0, 0, type, &ignored);
    return NULL;
}

static size_t same_place(int **inputs, int **outputs)
{
    static int input, output;
    *inputs = &input;
    *outputs = &output;
    return 1;
}

static void release_place(int *inputs, int *outputs)
{
    (void)inputs, (void)outputs;
}

void by_op_fill(struct by_op *op, const struct by_op_row *row, const char *name,
                const struct by_ort *ort)
{
    const bool in_place = row->in_place && ort->minor >= IN_PLACE_VERSION;
    op->row = row;
    op->name = name;
    op->ort = ort;
    op->op = (OrtCustomOp){.version = in_place ? IN_PLACE_VERSION : BY_OP_API,
                           .GetName = name_of,
                           .GetExecutionProviderType = provider_of,
                           .GetInputType = input_type,
                           .GetInputTypeCount = inputs_of,
                           .GetOutputType = output_type,
                           .GetOutputTypeCount = one_output,
                           .KernelDestroy = destroy,
                           .GetInputCharacteristic = required,
                           .GetOutputCharacteristic = required,
                           .GetInputMemoryType = on_host,
                           .CreateKernelV2 = create,
                           .KernelComputeV2 = compute,
                           .InferOutputShapeFn = row->keeps_shape ? infer_shape : NULL,
                           .GetStartVersion = first_version,
                           .GetMayInplace = in_place ? same_place : NULL,
                           .ReleaseMayInplace = in_place ? release_place : NULL};
}
