/* Converts arrays to values of ONNX Runtime and back. */
#include "engine/session_internal.h"

#include <stdalign.h>
#include <string.h>

static int in_input(const struct by_array *array, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_err_in(err, "input %s", by_quote(quoted, array->name));
}

static int make_strings(const struct by_session *session, const struct by_array *array,
                        OrtValue **value, struct baryon_error *err)
{
    const OrtApi *api = session->ort->api;
    OrtAllocator *allocator = NULL;
    if (by_ort_status(session->ort, api->GetAllocatorWithDefaultOptions(&allocator),
                      "describe its memory", err) ||
        by_ort_status(session->ort,
                      api->CreateTensorAsOrtValue(allocator, array->dims, array->rank,
                                                  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, value),
                      "create a tensor", err))
        return -1;
    size_t count = array->size / sizeof(char *);
    if (!count)
        return 0;
    return by_ort_status(session->ort, api->FillStringTensor(*value, array->data, count),
                         "fill a tensor", err);
}

static size_t alignment_of(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    size_t bytes = info && info->bits > 8 ? info->bits / 8 : 1;
    return bytes > alignof(max_align_t) ? alignof(max_align_t) : bytes;
}

/* The data itself, or a copy where it is not aligned. */
static void *usable_data(const struct by_array *array, struct by_arena *scratch,
                         struct baryon_error *err)
{
    static max_align_t nothing;
    if (!array->size)
        return &nothing;
    if ((uintptr_t)array->data % alignment_of(array->elem) == 0)
        return (void *)(uintptr_t)array->data; /* ONNX Runtime does not write to inputs */
    void *copy = by_arena_alloc(scratch, array->size, 1, err);
    if (copy)
        memcpy(copy, array->data, array->size);
    return copy;
}

int by_value_wrap(const struct by_session *session, const struct by_array *array,
                  struct by_arena *scratch, OrtValue **value, struct baryon_error *err)
{
    *value = NULL;
    if (array->elem == BY_ELEM_STRING)
        return make_strings(session, array, value, err) ? in_input(array, err) : 0;
    void *data = usable_data(array, scratch, err);
    if (!data)
        return -1;
    if (by_ort_status(session->ort,
                      session->ort->api->CreateTensorWithDataAsOrtValue(
                          session->memory, data, array->size, array->dims, array->rank,
                          by_ort_elem(array->elem), value),
                      "create a tensor", err))
        return in_input(array, err);
    return 0;
}

/* The characters of all strings, with a NUL after each, and pointers to them. */
static int copy_strings(const struct by_ort *ort, const OrtValue *value, size_t count,
                        struct by_arena *arena, struct by_array *array, struct baryon_error *err)
{
    size_t bytes = 0;
    if (by_ort_status(ort, ort->api->GetStringTensorDataLength(value, &bytes), "read strings", err))
        return -1;
    char *text = by_arena_alloc(arena, bytes + 1, 1, err);
    size_t *starts = text ? by_arena_alloc(arena, count + 1, sizeof *starts, err) : NULL;
    char *copies = starts ? by_arena_alloc(arena, bytes + count, 1, err) : NULL;
    char **strings = copies ? by_arena_alloc(arena, count, sizeof *strings, err) : NULL;
    if (!strings)
        return -1;
    if (count &&
        by_ort_status(ort, ort->api->GetStringTensorContent(value, text, bytes, starts, count),
                      "read strings", err))
        return -1;
    starts[count] = bytes;
    for (size_t i = 0; i < count; i++) {
        strings[i] = copies + starts[i] + i;
        memcpy(strings[i], text + starts[i], starts[i + 1] - starts[i]);
    }
    array->data = strings;
    array->size = count * sizeof *strings;
    return 0;
}

static int read_type(const struct by_ort *ort, const OrtTensorTypeAndShapeInfo *info,
                     struct by_array *array, struct baryon_error *err)
{
    enum ONNXTensorElementDataType elem = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    if (by_ort_status(ort, ort->api->GetTensorElementType(info, &elem), "read a tensor", err) ||
        by_ort_status(ort, ort->api->GetDimensionsCount(info, &array->rank), "read a tensor", err))
        return -1;
    array->elem = by_ort_elem_back(elem);
    if (array->rank > BY_RANK_MAX)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "rank %zu, must be at most %d", array->rank,
                       BY_RANK_MAX);
    return by_ort_status(ort, ort->api->GetDimensions(info, array->dims, array->rank),
                         "read a tensor", err);
}

static int read_data(const struct by_ort *ort, OrtValue *value, struct by_arena *arena,
                     struct by_array *array, struct baryon_error *err)
{
    size_t count;
    void *data = NULL;
    if (by_dims_count(array->dims, array->rank, &count, err))
        return -1;
    if (array->elem == BY_ELEM_STRING)
        return copy_strings(ort, value, count, arena, array, err);
    if (by_elem_bytes(array->elem, count, &array->size, err) ||
        by_ort_status(ort, ort->api->GetTensorMutableData(value, &data), "read a tensor", err))
        return -1;
    array->data = data;
    return 0;
}

int by_value_unwrap(const struct by_ort *ort, OrtValue *value, struct by_arena *arena,
                    struct by_array *array, struct baryon_error *err)
{
    OrtTensorTypeAndShapeInfo *info = NULL;
    if (by_ort_status(ort, ort->api->GetTensorTypeAndShape(value, &info), "read a tensor", err))
        return -1;
    int result = read_type(ort, info, array, err);
    ort->api->ReleaseTensorTypeAndShapeInfo(info);
    return result ? -1 : read_data(ort, value, arena, array, err);
}
