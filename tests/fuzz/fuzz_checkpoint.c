/*
 * Safetensors and GGUF files. Tensors of an accepted file lie inside it, and every value of its
 * metadata can be walked.
 */
#include "llm/store/checkpoint.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void walk_value(const struct by_gguf_value *value, unsigned depth)
{
    struct by_gguf_walk walk;
    struct by_gguf_value inner;
    uint64_t count = 0;
    if (value->type != BY_GGUF_ARRAY)
        return;
    if (depth > BY_GGUF_DEPTH_MAX)
        abort();
    for (by_gguf_walk(&walk, value); by_gguf_next(&walk, &inner); count++)
        walk_value(&inner, depth + 1);
    if (count != value->array.count)
        abort();
}

static void check_opened(const struct by_checkpoint *checkpoint, size_t size)
{
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        const struct by_stored_tensor *tensor = &checkpoint->tensors[i];
        if (tensor->offset > size || tensor->bytes > size - tensor->offset ||
            by_checkpoint_find(checkpoint, tensor->name) != tensor)
            abort();
        const volatile uint8_t *bytes = by_checkpoint_bytes(checkpoint, tensor);
        if (tensor->bytes)
            (void)bytes[tensor->bytes - 1];
    }
    for (size_t i = 0; checkpoint->gguf && i < checkpoint->gguf->count; i++)
        walk_value(&checkpoint->gguf->pairs[i].value, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct by_checkpoint *checkpoint;
    struct by_received file;
    struct baryon_error err;
    by_err_clear(&err);
    if (by_received_open(&file, "fuzz", &err))
        return 0;
    if (by_write_at(file.fd, bytes, size, 0) == 0) {
        if (by_checkpoint_open(&checkpoint, file.path, &err) == 0) {
            check_opened(checkpoint, size);
            by_checkpoint_close(checkpoint);
        } else if (err.code == BARYON_OK) {
            abort();
        }
    }
    return by_received_map(&file, NULL, "fuzz", NULL);
}
