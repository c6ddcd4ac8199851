/* Contents of small tensors: where they come from, and views of them. */
#include "ir/infer_internal.h"

bool by_elem_is_real(int64_t elem)
{
    return elem == BY_ELEM_FLOAT || elem == BY_ELEM_DOUBLE;
}

bool by_elem_is_followed(int64_t elem)
{
    const struct by_elem_info *info = by_elem_info(elem);
    return info && (by_elem_is_real(elem) || info->class == BY_CLASS_INT || elem == BY_ELEM_BOOL);
}

struct by_content *by_new_content(struct by_infer *infer, size_t count, struct baryon_error *err)
{
    struct by_content *content =
        by_arena_alloc(&infer->scratch, 1, sizeof *content + count * sizeof *content->items, err);
    if (content)
        content->count = count;
    return content;
}

static int read_items(const struct baryon_tensor *tensor, struct by_span bytes,
                      struct by_content *content, struct baryon_error *err)
{
    const int64_t elem = tensor->data_type;
    for (size_t i = 0; i < content->count; i++) {
        struct by_item *item = &content->items[i];
        const bool real = by_elem_is_real(elem);
        item->kind = real ? BY_ITEM_REAL : BY_ITEM_INT;
        if (real ? by_elem_to_doubles(elem, bytes.data, i, 1, &item->r, err)
                 : by_elem_to_ints(elem, bytes.data, i, 1, &item->i, err))
            return -1;
    }
    return 0;
}

/* The bytes of a tensor of `count` elements; a damaged payload is the checker's to report. */
static int read_bytes(struct by_infer *infer, const struct baryon_tensor *tensor, size_t count,
                      struct by_span *bytes, bool *good, struct baryon_error *err)
{
    struct baryon_error local;
    size_t wanted;
    by_err_clear(&local);
    *good = false;
    if (by_tensor_is_external(tensor) && !tensor->external.data)
        return 0;
    if (by_elem_bytes(tensor->data_type, count, &wanted, &local) == 0 &&
        by_tensor_bytes(tensor, &infer->scratch, bytes, &local) == 0)
        *good = bytes->size == wanted;
    if (local.code != BARYON_ERR_NOMEM)
        return 0;
    if (err)
        *err = local;
    return -1;
}

int by_content_of_tensor(struct by_infer *infer, const struct baryon_tensor *tensor,
                         const struct by_content **content, struct baryon_error *err)
{
    struct by_span bytes;
    size_t count;
    bool good;
    *content = NULL;
    if (!tensor || !by_elem_is_followed(tensor->data_type))
        return 0;
    if (by_tensor_count(tensor, &count, NULL) || count > BY_CONTENT_CONST_MAX)
        return 0;
    if (read_bytes(infer, tensor, count, &bytes, &good, err))
        return -1;
    if (!good)
        return 0;
    struct by_content *made = by_new_content(infer, count, err);
    if (!made || read_items(tensor, bytes, made, err))
        return -1;
    *content = made;
    return 0;
}

void by_strides(const struct by_shape *shape, int64_t *strides)
{
    /* Without elements the dimensions beside the one of 0 may be of any size. */
    int64_t stride = by_extent_product(shape, 0, shape->rank).size ? 1 : 0;
    for (size_t i = shape->rank; i-- > 0;) {
        strides[i] = stride;
        stride *= shape->dims[i].size;
    }
}

int by_content_view(struct by_infer *infer, const struct by_content *from,
                    const struct by_shape *out_shape, int64_t offset, const int64_t *strides,
                    const struct by_content **out, struct baryon_error *err)
{
    int64_t count, index[BY_RANK_MAX] = {0};
    *out = NULL;
    if (!from || !by_shape_count(out_shape, &count) || count > BY_CONTENT_MAX)
        return 0;
    struct by_content *made = by_new_content(infer, (size_t)count, err);
    if (!made)
        return -1;
    for (size_t i = 0; i < made->count; i++) {
        int64_t at = offset;
        for (size_t k = 0; k < out_shape->rank; k++)
            at += index[k] * strides[k];
        made->items[i] = from->items[at];
        for (size_t k = out_shape->rank; k-- > 0;) {
            if (++index[k] < out_shape->dims[k].size)
                break;
            index[k] = 0;
        }
    }
    *out = made;
    return 0;
}
