/*
 * The operators that stand in the runtime's graph. They take tensors of any type; which
 * tap they stand for is an attribute. Calls come from C++, which nothing may pass but a
 * status: errors of ours wait in by_tapped, and the status only ends the run.
 */
#include "base/job.h"
#include "engine/tap_internal.h"

#include <string.h>

/* --- threads --- */

/* The runtime's, from inside one of its nodes. */
struct runtime_team {
    struct by_team team;
    const struct by_ort *ort;
    const OrtKernelContext *context;
};

struct shift {
    struct by_job *job;
    const struct runtime_team *team;
};

static void work(void *context, size_t worker)
{
    const struct shift *shift = context;
    by_job_work(shift->job, shift->team, (unsigned)worker);
}

/* As many calls as workers: each is one, whichever thread makes it, and takes pieces. */
static int share(const struct runtime_team *team, struct by_job *job, struct baryon_error *err)
{
    struct shift shift = {job, team};
    size_t workers = job->pieces < team->team.workers ? job->pieces : team->team.workers;
    return by_ort_status(
        team->ort,
        team->ort->api->KernelContext_ParallelFor(team->context, work, workers, workers, &shift),
        "share work", err);
}

static int run_on_runtime(const struct by_team *team, size_t count, size_t grain,
                          by_piece_fn *piece, void *context, struct baryon_error *err)
{
    const struct runtime_team *self = (const struct runtime_team *)team;
    struct by_job job;
    unsigned worker;
    int failed = 0;
    if (!count)
        return 0;
    by_job_begin(&job, count, grain, piece, context);
    if (by_job_inside(self, &worker) || team->workers == 1 || job.pieces == 1)
        by_job_work(&job, NULL, worker);
    else
        failed = share(self, &job, err);
    return by_job_end(&job, failed ? NULL : err) || failed ? -1 : 0;
}

/* --- looking --- */

static int read_value(const struct by_tap_point *tap, const OrtKernelContext *context, size_t index,
                      struct by_arena *scratch, struct baryon_error *err)
{
    const struct by_ort *ort = tap->tapped->ort;
    const OrtValue *value = NULL;
    char quoted[BY_QUOTE_MAX];
    struct by_array *array = &tap->values[index];
    if (by_ort_status(ort, ort->api->KernelContext_GetInput(context, index, &value),
                      "show a tensor", err) ||
        by_value_unwrap(ort, (OrtValue *)(uintptr_t)value, scratch, array, err))
        return by_err_in(err, "value %s", by_quote(quoted, array->name));
    return 0;
}

static int copy_strings(const struct by_ort *ort, const struct by_array *array, OrtValue *out,
                        struct baryon_error *err)
{
    const char *const *strings = array->data;
    for (size_t i = 0; i < array->size / sizeof *strings; i++) {
        const size_t length = strlen(strings[i]);
        char *to = NULL;
        if (by_ort_status(ort, ort->api->GetResizedStringTensorElementBuffer(out, i, length, &to),
                          "hand a tensor on", err))
            return -1;
        memcpy(to, strings[i], length);
    }
    return 0;
}

/* The runtime lets the output be the input wherever nobody else needs that one. */
static int hand_on(const struct by_ort *ort, const struct by_array *array,
                   OrtKernelContext *context, struct baryon_error *err)
{
    OrtValue *out = NULL;
    void *to = NULL;
    if (by_ort_status(ort,
                      ort->api->KernelContext_GetOutput(context, 0, array->dims, array->rank, &out),
                      "hand a tensor on", err))
        return -1;
    if (array->elem == BY_ELEM_STRING)
        return copy_strings(ort, array, out, err);
    if (by_ort_status(ort, ort->api->GetTensorMutableData(out, &to), "hand a tensor on", err))
        return -1;
    if (to != array->data && array->size)
        memcpy(to, array->data, array->size);
    return 0;
}

static int hand_token(const struct by_ort *ort, OrtKernelContext *context, struct baryon_error *err)
{
    const int64_t one = 1;
    OrtValue *out = NULL;
    void *to = NULL;
    if (by_ort_status(ort, ort->api->KernelContext_GetOutput(context, 0, &one, 1, &out),
                      "make a token", err) ||
        by_ort_status(ort, ort->api->GetTensorMutableData(out, &to), "make a token", err))
        return -1;
    memset(to, 0, sizeof(uint8_t));
    return 0;
}

static int look(const struct by_tap_point *tap, const OrtKernelContext *context,
                struct baryon_error *err)
{
    struct by_tapped *tapped = tap->tapped;
    const struct runtime_team team = {{tapped->threads, run_on_runtime}, tapped->ort, context};
    const struct by_tap_look what = {
        .values = tap->values, .count = tap->count, .sample = tapped->sample, .team = &team.team};
    return tap->look(tap->context, &what, err);
}

static int read_and_look(const struct by_tap_point *tap, OrtKernelContext *context,
                         struct by_arena *scratch, struct baryon_error *err)
{
    const struct by_ort *ort = tap->tapped->ort;
    for (size_t i = 0; i < tap->count; i++)
        if (read_value(tap, context, i, scratch, err))
            return -1;
    if (tap->through ? hand_on(ort, tap->values, context, err) : hand_token(ort, context, err))
        return -1;
    return look(tap, context, err);
}

/* --- what the runtime calls --- */

/* The first error of a run or of opening is kept. */
static void note_failure(struct by_tapped *tapped, const struct baryon_error *error)
{
    if (!tapped->failed)
        tapped->error = *error;
    tapped->failed = true;
}

static OrtStatus *give_up(struct by_tapped *tapped, const struct baryon_error *error)
{
    note_failure(tapped, error);
    return tapped->ort->api->CreateStatus(ORT_FAIL, "a tap has failed");
}

static OrtStatus *compute_tap(void *kernel, OrtKernelContext *context)
{
    struct by_tap_point *tap = kernel;
    struct baryon_error error;
    struct by_arena scratch;
    by_err_clear(&error);
    by_arena_init(&scratch, 0);
    int failed = read_and_look(tap, context, &scratch, &error);
    by_arena_release(&scratch);
    return failed ? give_up(tap->tapped, &error) : NULL;
}

static OrtStatus *compute_done(void *kernel, OrtKernelContext *context)
{
    struct by_tapped *tapped = kernel;
    struct baryon_error error;
    by_err_clear(&error);
    return hand_token(tapped->ort, context, &error) ? give_up(tapped, &error) : NULL;
}

static struct by_tapped *owner(const OrtCustomOp *op)
{
    return ((const struct by_tap_op *)op)->tapped;
}

static int find_tap(struct by_tapped *tapped, const OrtKernelInfo *info, struct by_tap_point **tap,
                    struct baryon_error *err)
{
    const struct by_ort *ort = tapped->ort;
    int64_t index = -1;
    if (by_ort_status(ort, ort->api->KernelInfoGetAttribute_int64(info, BY_TAP_INDEX, &index),
                      "tell a tap", err))
        return -1;
    if (index < 0 || (uint64_t)index >= tapped->count)
        return by_fail(err, BARYON_ERR_INTERNAL, "there is no tap %lld", (long long)index);
    *tap = &tapped->taps[index];
    return 0;
}

static OrtStatus *create_tap(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                             void **kernel)
{
    struct by_tapped *tapped = owner(op);
    struct by_tap_point *tap = NULL;
    struct baryon_error error;
    (void)api;
    by_err_clear(&error);
    int failed = find_tap(tapped, info, &tap, &error);
    *kernel = tap;
    return failed ? give_up(tapped, &error) : NULL;
}

static OrtStatus *create_done(const OrtCustomOp *op, const OrtApi *api, const OrtKernelInfo *info,
                              void **kernel)
{
    (void)api, (void)info;
    *kernel = owner(op);
    return NULL;
}

static void destroy(void *kernel)
{
    (void)kernel;
}

static const char *through_name(const OrtCustomOp *op)
{
    (void)op;
    return BY_TAP_THROUGH;
}

static const char *beside_name(const OrtCustomOp *op)
{
    (void)op;
    return BY_TAP_BESIDE;
}

static const char *done_name(const OrtCustomOp *op)
{
    (void)op;
    return BY_TAP_DONE;
}

static const char *any_provider(const OrtCustomOp *op)
{
    (void)op;
    return NULL;
}

static ONNXTensorElementDataType any_type(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

static ONNXTensorElementDataType token_type(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8;
}

static size_t none(const OrtCustomOp *op)
{
    (void)op;
    return 0;
}

static size_t one(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static int is_one(const OrtCustomOp *op)
{
    (void)op;
    return 1;
}

static int mixed(const OrtCustomOp *op)
{
    (void)op;
    return 0;
}

static OrtCustomOpInputOutputCharacteristic required(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return INPUT_OUTPUT_REQUIRED;
}

static OrtCustomOpInputOutputCharacteristic variadic(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return INPUT_OUTPUT_VARIADIC;
}

/* Wherever a provider has computed it, a tap gets it on the host. */
static OrtMemType on_host(const OrtCustomOp *op, size_t index)
{
    (void)op, (void)index;
    return OrtMemTypeCPUInput;
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

/* --- shapes --- */

#define DOING "infer shapes through taps"

/*
 * The runtime tells neither an unknown rank from a scalar nor an unknown dimension from
 * one of -1, and would take both for known if they were handed on.
 */
static int is_told(const struct by_ort *ort, const OrtTensorTypeAndShapeInfo *info, bool *told,
                   struct baryon_error *err)
{
    const char *symbols[BY_RANK_MAX];
    int64_t dims[BY_RANK_MAX];
    size_t rank = 0;
    if (by_ort_status(ort, ort->api->GetDimensionsCount(info, &rank), DOING, err))
        return -1;
    *told = rank && rank <= BY_RANK_MAX;
    if (!*told)
        return 0;
    if (by_ort_status(ort, ort->api->GetDimensions(info, dims, rank), DOING, err) ||
        by_ort_status(ort, ort->api->GetSymbolicDimensions(info, symbols, rank), DOING, err))
        return -1;
    for (size_t i = 0; i < rank; i++)
        *told &= dims[i] >= 0 || (symbols[i] && symbols[i][0]);
    return 0;
}

static int hand_shape_on(const struct by_ort *ort, OrtShapeInferContext *context,
                         struct baryon_error *err)
{
    OrtTensorTypeAndShapeInfo *info = NULL; /* the context's */
    bool told = false;
    if (by_ort_status(ort, ort->api->ShapeInferContext_GetInputTypeShape(context, 0, &info), DOING,
                      err) ||
        is_told(ort, info, &told, err))
        return -1;
    if (!told)
        return 0;
    return by_ort_status(ort, ort->api->ShapeInferContext_SetOutputTypeShape(context, 0, info),
                         DOING, err);
}

/* The runtime does not release a status from here; opening fails by what was noted. */
static OrtStatus *infer_shape(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    struct by_tapped *tapped = owner(op);
    struct baryon_error error;
    by_err_clear(&error);
    if (hand_shape_on(tapped->ort, context, &error))
        note_failure(tapped, &error);
    return NULL;
}

/* --- rows --- */

/* 1.18 brought outputs that may be inputs; before, tensors are copied. */
#define IN_PLACE_VERSION 18

static OrtCustomOp common_op(const struct by_ort *ort)
{
    return (OrtCustomOp){.version = ort->minor < IN_PLACE_VERSION ? 17 : IN_PLACE_VERSION,
                         .GetExecutionProviderType = any_provider,
                         .GetInputType = any_type,
                         .GetInputTypeCount = one,
                         .GetOutputType = token_type,
                         .GetOutputTypeCount = one,
                         .KernelDestroy = destroy,
                         .GetInputCharacteristic = required,
                         .GetOutputCharacteristic = required,
                         .GetInputMemoryType = on_host,
                         .GetVariadicInputMinArity = is_one,
                         .GetVariadicInputHomogeneity = mixed,
                         .GetVariadicOutputMinArity = is_one,
                         .GetVariadicOutputHomogeneity = is_one,
                         .CreateKernelV2 = create_tap,
                         .KernelComputeV2 = compute_tap,
                         .GetStartVersion = is_one};
}

static void fill_ops(struct by_tapped *tapped)
{
    const OrtCustomOp common = common_op(tapped->ort);
    tapped->through = tapped->beside = tapped->done = (struct by_tap_op){common, tapped};
    OrtCustomOp *through = &tapped->through.op, *beside = &tapped->beside.op;
    through->GetName = through_name;
    through->GetOutputType = any_type;
    through->InferOutputShapeFn = infer_shape;
    through->GetMayInplace = same_place;
    through->ReleaseMayInplace = release_place;
    beside->GetName = beside_name;
    beside->GetInputCharacteristic = variadic;
    tapped->done.op.GetName = done_name;
    tapped->done.op.GetInputTypeCount = none;
    tapped->done.op.CreateKernelV2 = create_done;
    tapped->done.op.KernelComputeV2 = compute_done;
}

int by_tap_ops_add(struct by_tapped *tapped, struct by_session *session, OrtSessionOptions *built,
                   struct baryon_error *err)
{
    const struct by_ort *ort = tapped->ort = session->ort;
    const OrtCustomOp *const ops[] = {&tapped->through.op, &tapped->beside.op, &tapped->done.op};
    fill_ops(tapped);
    if (by_ort_status(ort, ort->api->CreateCustomOpDomain(BY_TAP_DOMAIN, &session->own_ops),
                      "make operators", err))
        return -1;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (by_ort_status(ort, ort->api->CustomOpDomain_Add(session->own_ops, ops[i]),
                          "make operators", err))
            return -1;
    return by_ort_status(ort, ort->api->AddCustomOpDomain(built, session->own_ops),
                         "take operators", err);
}
