/*
 * Implements the custom operators that show tensors to us in the runtime's graph. They take
 * tensors of any type; which tap they stand for is an attribute. Calls come from C++, which
 * nothing may pass but a status: errors of ours wait in by_tapped, and the status only ends the
 * run.
 */
#include "engine/op_shape.h"
#include "engine/op_team.h"
#include "engine/opening.h"
#include "engine/tap_internal.h"

#include <string.h>

/* --- looking --- */

#define PLANES 4u /* of an image, put in order by one thread at a time */

static int read_value(const struct by_ort *ort, struct by_array *array,
                      const OrtKernelContext *context, size_t index, struct by_arena *scratch,
                      struct baryon_error *err)
{
    const OrtValue *value = NULL;
    char quoted[BY_QUOTE_MAX];
    if (by_ort_status(ort, ort->api->KernelContext_GetInput(context, index, &value),
                      "read a tensor", err) ||
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
                          "pass a tensor on", err))
            return -1;
        memcpy(to, strings[i], length);
    }
    return 0;
}

/* The runtime lets the output be the input wherever nobody else needs that one. */
static int hand_on(const struct by_ort *ort, const struct by_array *array,
                   OrtKernelContext *context, size_t output, struct baryon_error *err)
{
    OrtValue *out = NULL;
    void *to = NULL;
    if (by_ort_status(
            ort, ort->api->KernelContext_GetOutput(context, output, array->dims, array->rank, &out),
            "pass a tensor on", err))
        return -1;
    if (array->elem == BY_ELEM_STRING)
        return copy_strings(ort, array, out, err);
    if (by_ort_status(ort, ort->api->GetTensorMutableData(out, &to), "pass a tensor on", err))
        return -1;
    if (to != array->data && array->size)
        memcpy(to, array->data, array->size);
    return 0;
}

static int hand_several_on(const struct by_tap_point *tap, const struct by_array *values,
                           OrtKernelContext *context, struct baryon_error *err)
{
    const size_t count = tap->hands ? tap->hands : 1;
    for (size_t i = 0; i < count; i++)
        if (hand_on(tap->tapped->ort, &values[i], context, i, err))
            return -1;
    return 0;
}

static int hand_token(const struct by_ort *ort, OrtKernelContext *context, struct baryon_error *err)
{
    const int64_t one = 1;
    OrtValue *out = NULL;
    void *to = NULL;
    if (by_ort_status(ort, ort->api->KernelContext_GetOutput(context, 0, &one, 1, &out),
                      "create a token", err) ||
        by_ort_status(ort, ort->api->GetTensorMutableData(out, &to), "create a token", err))
        return -1;
    memset(to, 0, sizeof(uint8_t));
    return 0;
}

static size_t places_of(const struct by_array *array)
{
    size_t places = 1;
    for (size_t i = 2; i < array->rank; i++)
        places *= (size_t)array->dims[i];
    return places;
}

struct ordering {
    const struct by_blocks *blocks;
    const float *from;
    float *to;
};

static int order_planes(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct ordering *ordering = context;
    (void)worker, (void)err;
    by_blocks_planes(ordering->blocks, ordering->from, begin, end, ordering->to);
    return 0;
}

static int put_in_order(struct by_tap_lane *lane, const struct by_blocks *blocks,
                        struct by_array *array, const struct by_team *team,
                        struct baryon_error *err)
{
    const size_t planes = (size_t)array->dims[0] * blocks->channels;
    const size_t count = planes * blocks->places;
    if (count > lane->plain_room) {
        by_free(lane->plain);
        lane->plain_room = 0;
        lane->plain = by_alloc(count, sizeof *lane->plain, err);
        if (!lane->plain)
            return -1;
        lane->plain_room = count;
    }
    struct ordering ordering = {blocks, array->data, lane->plain};
    if (by_team_for(team, planes, PLANES, order_planes, &ordering, err))
        return -1;
    array->data = lane->plain;
    array->size = count * sizeof *lane->plain;
    return 0;
}

/* The tensor that the model speaks of, rather than the one that the runtime made of it. */
static int unblock(const struct by_tap_point *tap, struct by_tap_lane *lane, struct by_array *array,
                   struct by_blocks *blocks, struct by_tap_look *what, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const int64_t channels = (int64_t)tap->channels, block = (int64_t)tap->block;
    if (array->elem != BY_ELEM_FLOAT || array->rank < 2 ||
        array->dims[1] != (channels + block - 1) / block * block)
        return by_fail(err, BARYON_ERR_INTERNAL, "tensor %s is not in blocks of %zu channels",
                       by_quote(quoted, array->name), tap->block);
    *blocks = (struct by_blocks){tap->channels, tap->block, places_of(array)};
    array->dims[1] = channels;
    what->blocks = tap->any_layout ? blocks : NULL;
    return tap->any_layout ? 0 : put_in_order(lane, blocks, array, what->team, err);
}

static int look_through_tap(const struct by_tap_point *tap, struct by_array *values,
                            struct by_tap_lane *lane, const OrtKernelContext *context,
                            struct baryon_error *err)
{
    const struct by_tapped *tapped = tap->tapped;
    struct by_op_team team;
    struct by_blocks blocks;
    struct by_tap_look what = {.values = values,
                               .count = tap->count,
                               .sample = lane->sample,
                               .lane = lane->context,
                               .team = &team.team};
    by_op_team(&team, tapped->ort, context, tapped->threads);
    if (tap->blocked && unblock(tap, lane, &values[0], &blocks, &what, err))
        return -1;
    return tap->look(tap->context, &what, err);
}

static int read_and_look(const struct by_tap_point *tap, struct by_tap_lane *lane,
                         OrtKernelContext *context, struct by_arena *scratch,
                         struct baryon_error *err)
{
    const struct by_ort *ort = tap->tapped->ort;
    struct by_array *values = by_arena_alloc(scratch, tap->count, sizeof *values, err);
    if (!values)
        return -1;
    memcpy(values, tap->values, tap->count * sizeof *values);
    for (size_t i = 0; i < tap->count; i++)
        if (read_value(ort, &values[i], context, i, scratch, err))
            return -1;
    if (tap->through ? hand_several_on(tap, values, context, err) : hand_token(ort, context, err))
        return -1;
    return look_through_tap(tap, values, lane, context, err);
}

/* --- what the runtime calls --- */

/* The first error of opening is kept. */
static void note_failure(struct by_tapped *tapped, const struct baryon_error *error)
{
    if (!tapped->failed)
        tapped->error = *error;
    tapped->failed = true;
}

static OrtStatus *refuse_failed_tap(const struct by_tapped *tapped)
{
    return tapped->ort->api->CreateStatus(ORT_FAIL, "a tap has failed");
}

static OrtStatus *give_up(struct by_tapped *tapped, const struct baryon_error *error)
{
    note_failure(tapped, error);
    return refuse_failed_tap(tapped);
}

/* The first error of a run is kept. */
static OrtStatus *end_run(struct by_tap_lane *lane, const struct baryon_error *error)
{
    if (!lane->failed)
        lane->error = *error;
    lane->failed = true;
    return refuse_failed_tap(lane->tapped);
}

static OrtStatus *compute_tap(void *kernel, OrtKernelContext *context)
{
    const struct by_tap_point *tap = kernel;
    struct by_tap_lane *lane = by_tap_lane_here;
    struct baryon_error error;
    struct by_arena scratch;
    if (!lane)
        return tap->tapped->ort->api->CreateStatus(ORT_FAIL, "a tap runs on an unknown thread");
    by_err_clear(&error);
    by_arena_init(&scratch, 0);
    int failed = read_and_look(tap, lane, context, &scratch, &error);
    by_arena_release(&scratch);
    return failed ? end_run(lane, &error) : NULL;
}

static OrtStatus *compute_done(void *kernel, OrtKernelContext *context)
{
    const struct by_tapped *tapped = kernel;
    struct baryon_error error;
    by_err_clear(&error);
    if (!hand_token(tapped->ort, context, &error))
        return NULL;
    return by_tap_lane_here ? end_run(by_tap_lane_here, &error) : refuse_failed_tap(tapped);
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
                      "read the index of a tap", err))
        return -1;
    if (index < 0 || (uint64_t)index >= tapped->count)
        return by_fail(err, BARYON_ERR_INTERNAL, "unknown tap %lld", (long long)index);
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

static const char *several_name(const OrtCustomOp *op)
{
    (void)op;
    return BY_TAP_SEVERAL;
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

static size_t same_places(int **inputs, int **outputs)
{
    static int places[BY_TAP_HANDS] = {0, 1, 2, 3, 4, 5, 6, 7};
    *inputs = *outputs = places;
    return BY_TAP_HANDS;
}

static void release_place(int *inputs, int *outputs)
{
    (void)inputs, (void)outputs;
}

/* --- shapes --- */

#define DOING "infer shapes through taps"

static int hand_shapes_on(const struct by_tapped *tapped, OrtShapeInferContext *context,
                          struct baryon_error *err)
{
    const OrtApi *api = tapped->ort->api;
    const OrtOpAttr *attribute = NULL;
    int64_t index = -1;
    size_t size = 0;
    if (by_ort_status(tapped->ort,
                      api->ShapeInferContext_GetAttribute(context, BY_TAP_INDEX, &attribute), DOING,
                      err) ||
        by_ort_status(tapped->ort,
                      api->ReadOpAttr(attribute, ORT_OP_ATTR_INT, &index, sizeof index, &size),
                      DOING, err))
        return -1;
    for (size_t i = 0; index >= 0 && (size_t)index < tapped->count && i < tapped->taps[index].hands;
         i++)
        if (by_op_shape_on(tapped->ort, context, i, i, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED,
                           err))
            return -1;
    return 0;
}

/* The runtime does not release a status from here; opening fails by what was noted. */
static OrtStatus *infer_shape(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    struct by_tapped *tapped = owner(op);
    struct baryon_error error;
    by_err_clear(&error);
    if (by_op_shape_on(tapped->ort, context, 0, 0, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, &error))
        note_failure(tapped, &error);
    return NULL;
}

static OrtStatus *infer_shapes(const OrtCustomOp *op, OrtShapeInferContext *context)
{
    struct by_tapped *tapped = owner(op);
    struct baryon_error error;
    by_err_clear(&error);
    if (hand_shapes_on(tapped, context, &error))
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
    tapped->through = tapped->several = tapped->beside = tapped->done =
        (struct by_tap_op){common, tapped};
    OrtCustomOp *through = &tapped->through.op, *several = &tapped->several.op;
    OrtCustomOp *beside = &tapped->beside.op;
    through->GetName = through_name;
    through->GetOutputType = any_type;
    through->InferOutputShapeFn = infer_shape;
    through->GetAliasMap = same_place;
    through->ReleaseAliasMap = release_place;
    several->GetName = several_name;
    several->GetInputCharacteristic = several->GetOutputCharacteristic = variadic;
    several->GetVariadicInputHomogeneity = is_one;
    several->GetOutputType = any_type;
    several->InferOutputShapeFn = infer_shapes;
    several->GetAliasMap = same_places;
    several->ReleaseAliasMap = release_place;
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
    tapped->ort = session->ort;
    const OrtCustomOp *const ops[] = {&tapped->through.op, &tapped->several.op, &tapped->beside.op,
                                      &tapped->done.op};
    fill_ops(tapped);
    return by_session_add_ops(session, built, BY_TAP_DOMAIN, ops, sizeof ops / sizeof *ops, err);
}
