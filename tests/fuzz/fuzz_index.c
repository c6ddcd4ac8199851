/*
 * The index of a folder of safetensors, beside two shards that are whole. Tensors of an accepted
 * folder lie inside their files.
 */
#include "llm/store/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char folder[] = "/tmp/fuzz-index-XXXXXX";

static void remove_folder(void)
{
    static const char *const names[] = {"a.safetensors", "b.safetensors",
                                        "model.safetensors.index.json"};
    char path[128];
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static void write_file(const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
        abort();
}

/* One float that has the name of the tensor. */
static void write_shard(const char *name, const char *tensor)
{
    uint8_t bytes[128] = {0};
    const int length =
        snprintf((char *)bytes + 8, sizeof bytes - 8,
                 "{\"%s\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", tensor);
    bytes[0] = (uint8_t)length;
    memset(bytes + 8 + length, 0, 4);
    write_file(name, bytes, 8 + (size_t)length + 4);
}

static void make_folder(void)
{
    static bool is_made;
    if (is_made)
        return;
    if (!mkdtemp(folder))
        abort();
    write_shard("a.safetensors", "one");
    write_shard("b.safetensors", "two");
    atexit(remove_folder);
    is_made = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct by_checkpoint *checkpoint;
    struct baryon_error err;
    by_err_clear(&err);
    make_folder();
    write_file("model.safetensors.index.json", bytes, size);
    if (by_checkpoint_open(&checkpoint, folder, &err)) {
        if (err.code == BARYON_OK)
            abort();
        return 0;
    }
    if (!checkpoint->has_index || checkpoint->tensor_count > 2)
        abort();
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        const struct by_stored_tensor *tensor = &checkpoint->tensors[i];
        const size_t whole = checkpoint->files[tensor->file].mapped.size;
        if (tensor->offset > whole || tensor->bytes > whole - tensor->offset)
            abort();
    }
    by_checkpoint_close(checkpoint);
    return 0;
}
