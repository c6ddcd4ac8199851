/*
 * Writes the tensors and metadata of a checkpoint to another one of the same container:
 * llm_copy IN OUT [SHARD_BYTES]. An untouched file has the same bytes afterwards.
 */
#include "llm/store/gguf_write.h"
#include "llm/store/safetensors_write.h"

#include <stdio.h>
#include <stdlib.h>

/* The tensors as they are declared. */
static struct by_new_tensor *declare(const struct by_checkpoint *in, struct baryon_error *err)
{
    struct by_new_tensor *tensors = by_alloc_zero(in->tensor_count, sizeof *tensors, err);
    for (size_t i = 0; tensors && i < in->tensor_count; i++) {
        const struct by_stored_tensor *from = &in->tensors[i];
        tensors[i] = (struct by_new_tensor){from->name, from->type, from->rank, {0}};
        for (size_t k = 0; k < from->rank; k++)
            tensors[i].dims[k] = from->dims[k];
    }
    return tensors;
}

static int copy_safetensors(const struct by_checkpoint *in, const char *out, uint64_t shard_bytes,
                            const struct by_new_tensor *tensors, struct baryon_error *err)
{
    struct by_safetensors_plan plan = {.path = out,
                                       .tensors = tensors,
                                       .count = in->tensor_count,
                                       .shard_bytes = shard_bytes,
                                       .keep_order = !shard_bytes,
                                       .notes = in->files[0].notes,
                                       .note_count = in->files[0].note_count,
                                       .flags = BY_WRITER_NO_SYNC};
    struct by_safetensors_writer *writer = NULL;
    int status = by_safetensors_create(&writer, &plan, err);
    for (size_t i = in->tensor_count; !status && i-- > 0;)
        if (!by_safetensors_has(writer, i))
            status = by_safetensors_copy(writer, i, in, &in->tensors[i], err);
    if (!status)
        status = by_safetensors_finish(writer, err);
    by_safetensors_abort(writer);
    return status;
}

static int copy_gguf(const struct by_checkpoint *in, const char *out, uint64_t shard_bytes,
                     const struct by_new_tensor *tensors, struct baryon_error *err)
{
    struct by_gguf_plan plan = {.path = out,
                                .version = in->gguf->version,
                                .pairs = in->gguf->pairs,
                                .pair_count = in->gguf->count,
                                .tensors = tensors,
                                .count = in->tensor_count,
                                .shard_bytes = shard_bytes,
                                .flags = BY_WRITER_NO_SYNC};
    struct by_gguf_writer *writer = NULL;
    int status = by_gguf_create(&writer, &plan, err);
    for (size_t i = in->tensor_count; !status && i-- > 0;)
        status = by_gguf_copy(writer, i, in, &in->tensors[i], err);
    if (!status)
        status = by_gguf_finish(writer, err);
    by_gguf_abort(writer);
    return status;
}

int main(int argc, char **argv)
{
    struct by_checkpoint *in = NULL;
    struct baryon_error err;
    char text[2048];
    by_err_clear(&err);
    if (argc < 3)
        return 2;
    uint64_t shard_bytes = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;
    int status = by_checkpoint_open(&in, argv[1], &err);
    struct by_new_tensor *tensors = status ? NULL : declare(in, &err);
    if (!tensors)
        status = -1;
    else if (in->container == BY_GGUF)
        status = copy_gguf(in, argv[2], shard_bytes, tensors, &err);
    else
        status = copy_safetensors(in, argv[2], shard_bytes, tensors, &err);
    by_free(tensors);
    by_checkpoint_close(in);
    if (status) {
        baryon_error_format(&err, text, sizeof text);
        fprintf(stderr, "llm_copy: %s\n", text);
    }
    return status ? 1 : 0;
}
