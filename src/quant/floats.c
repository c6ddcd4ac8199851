#include "quant/floats.h"

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
