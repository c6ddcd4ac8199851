/* Reads and writes the elements of a constant as floats. */
#include "quant/floats.h"

#include "onnx/load.h"

#include <string.h>

static bool is_ready(const struct baryon_tensor *tensor, const struct by_span *bytes)
{
    return tensor->data_type == BY_ELEM_FLOAT && (uintptr_t)bytes->data % alignof(float) == 0;
}

int by_floats_open(struct by_floats_view *view, const struct baryon_tensor *tensor,
                   struct baryon_error *err)
{
    struct by_span bytes;
    *view = (struct by_floats_view){0};
    by_arena_init(&view->arena, 0);
    if (by_tensor_count(tensor, &view->count, err) ||
        by_tensor_bytes(tensor, &view->arena, &bytes, err))
        goto failed;
    if (is_ready(tensor, &bytes)) {
        view->values = (const float *)(const void *)bytes.data;
        return 0;
    }
    view->copy = by_alloc(view->count, sizeof *view->copy, err);
    if (!view->copy ||
        by_elem_to_floats(tensor->data_type, bytes.data, 0, view->count, view->copy, err))
        goto failed;
    by_arena_release(&view->arena);
    view->values = view->copy;
    return 0;
failed:
    by_floats_close(view);
    return -1;
}

void by_floats_close(struct by_floats_view *view)
{
    by_free(view->copy);
    by_arena_release(&view->arena);
    view->copy = NULL;
}

int by_floats_look_finite(const struct baryon_tensor *tensor, bool *finite,
                          struct baryon_error *err)
{
    enum { PIECE = 4096 };
    struct by_arena arena;
    struct by_span bytes = {0};
    size_t count = 0;
    float piece[PIECE];
    by_arena_init(&arena, 0);
    int failed =
        by_tensor_count(tensor, &count, err) || by_tensor_bytes(tensor, &arena, &bytes, err);
    const bool ready = !failed && is_ready(tensor, &bytes);
    *finite = !ready || by_floats_are_finite((const float *)(const void *)bytes.data, count);
    for (size_t at = 0; !failed && !ready && *finite && at < count; at += PIECE) {
        const size_t many = count - at < PIECE ? count - at : PIECE;
        failed = by_elem_to_floats(tensor->data_type, bytes.data, at, many, piece, err);
        *finite = failed || by_floats_are_finite(piece, many);
    }
    by_arena_release(&arena);
    return failed ? -1 : 0;
}

float *by_floats_copy(const struct baryon_tensor *tensor, size_t *count, struct baryon_error *err)
{
    struct by_floats_view view;
    if (by_floats_open(&view, tensor, err) < 0)
        return NULL;
    float *values = by_alloc(view.count, sizeof *values, err);
    if (values && view.count)
        memcpy(values, view.values, view.count * sizeof *values);
    if (count)
        *count = view.count;
    by_floats_close(&view);
    return values;
}

int by_floats_write(struct baryon_model *model, struct baryon_tensor *tensor, const void *values,
                    size_t count, struct baryon_error *err)
{
    struct by_span bytes;
    if (by_model_payload(model, values, count * sizeof(float), &bytes, err))
        return -1;
    const struct baryon_tensor *made = by_tensor_over(
        model, tensor->name, BY_ELEM_FLOAT, tensor->dims.at, tensor->dims.count, bytes, err);
    if (!made)
        return -1;
    tensor->raw_data = made->raw_data;
    tensor->float_data = (struct by_span){0};
    tensor->external = (struct by_span){0};
    tensor->external_data = (struct by_ptrs){0};
    tensor->data_location = 0;
    return 0;
}

#define ALIGN_LEAST ((size_t)4 << 10)
#define ALIGN_MOST  ((size_t)64 << 20)

int by_floats_align(struct baryon_model *model, struct baryon_error *err)
{
    const struct by_ptrs *list = &model->graph->initializer;
    int status = 0;
    for (size_t i = 0; i < list->count && status == 0; i++) {
        struct baryon_tensor *tensor = list->at[i];
        if (!tensor || tensor->data_type != BY_ELEM_FLOAT)
            continue;
        const struct by_span *raw = &tensor->raw_data;
        if (raw->size >= ALIGN_LEAST && raw->size <= ALIGN_MOST &&
            (uintptr_t)raw->data % alignof(float))
            status = by_floats_write(model, tensor, raw->data, raw->size / sizeof(float), err);
    }
    by_model_pages_done(model);
    return status;
}
