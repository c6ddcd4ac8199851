/* Opens a checkpoint by its path, finds tensors by name and gives their bytes. */
#include "base/text.h"
#include "llm/store/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define PATH_ROOM 4096

struct by_stored_file *by_stored_files(struct by_checkpoint *checkpoint, size_t count,
                                       struct baryon_error *err)
{
    checkpoint->files = by_arena_alloc(&checkpoint->arena, count, sizeof *checkpoint->files, err);
    for (size_t i = 0; checkpoint->files && i < count; i++)
        checkpoint->files[i].mapped.fd = -1;
    checkpoint->file_count = checkpoint->files ? count : 0;
    return checkpoint->files;
}

static const char *path_in_folder(struct by_checkpoint *checkpoint, const char *name,
                                  struct baryon_error *err)
{
    char path[PATH_ROOM];
    char quoted[BY_QUOTE_MAX];
    if (!by_join_path(path, sizeof path, checkpoint->folder, name)) {
        by_fail(err, BARYON_ERR_INPUT, "path of %s is too long, must have fewer than %d bytes",
                by_quote(quoted, name), PATH_ROOM);
        return NULL;
    }
    return by_arena_text(&checkpoint->arena, path, strlen(path), err);
}

int by_stored_map(struct by_checkpoint *checkpoint, size_t file, const char *name,
                  struct baryon_error *err)
{
    struct by_stored_file *stored = &checkpoint->files[file];
    int fd;
    stored->name = name;
    const bool given = !checkpoint->is_folder && !file;
    stored->path = given ? checkpoint->path : path_in_folder(checkpoint, name, err);
    if (!stored->path)
        return -1;
    if (given)
        return by_mapped_open(&stored->mapped, stored->path, err);
    if (by_open_contained(checkpoint->folder, name, true, &fd, err))
        return -1;
    return by_mapped_open_fd(&stored->mapped, fd, stored->path, err);
}

int by_stored_size(struct by_stored_tensor *tensor, struct baryon_error *err)
{
    uint64_t elements = 1;
    char shape[256];
    for (size_t i = 0; i < tensor->rank; i++)
        if (__builtin_mul_overflow(elements, tensor->dims[i], &elements))
            return by_fail(err, BARYON_ERR_INPUT, "shape %s has more elements than 64 bits count",
                           by_stored_shape(tensor, shape, sizeof shape));
    tensor->elements = elements;
    if (by_stored_bytes(tensor->type, elements, &tensor->bytes))
        return 0;
    if (elements % tensor->type->block == 0)
        return by_fail(err, BARYON_ERR_INPUT, "shape %s has more bytes than 64 bits count",
                       by_stored_shape(tensor, shape, sizeof shape));
    return by_fail(err, BARYON_ERR_INPUT,
                   "shape %s has %" PRIu64 " elements, %s requires a multiple of %u",
                   by_stored_shape(tensor, shape, sizeof shape), elements, tensor->type->name,
                   tensor->type->block);
}

/* The folder that files beside the weights are in. */
static int find_folder(struct by_checkpoint *checkpoint, struct baryon_error *err)
{
    char folder[PATH_ROOM];
    struct stat st;
    checkpoint->is_folder = stat(checkpoint->path, &st) == 0 && S_ISDIR(st.st_mode);
    if (checkpoint->is_folder) {
        checkpoint->folder = checkpoint->path;
        return 0;
    }
    if (!by_folder_of(checkpoint->path, folder, sizeof folder))
        return by_fail(err, BARYON_ERR_INPUT, "path is too long, must have fewer than %d bytes",
                       PATH_ROOM);
    checkpoint->folder = by_arena_text(&checkpoint->arena, folder, strlen(folder), err);
    return checkpoint->folder ? 0 : -1;
}

static bool is_gguf(const struct by_mapped *mapped)
{
    return mapped->size >= 4 && !memcmp(mapped->bytes, "GGUF", 4);
}

static int open_single(struct by_checkpoint *checkpoint, struct by_stored_list *list,
                       struct baryon_error *err)
{
    if (!by_stored_files(checkpoint, 1, err) ||
        by_stored_map(checkpoint, 0, by_basename(checkpoint->path), err))
        return -1;
    if (is_gguf(&checkpoint->files[0].mapped) || by_has_suffix(checkpoint->path, ".gguf"))
        return by_gguf_open(checkpoint, list, err);
    return by_safetensors_header(checkpoint, 0, list, err);
}

static int index_names(struct by_checkpoint *checkpoint, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < checkpoint->tensor_count; i++) {
        struct by_stored_tensor *tensor = &checkpoint->tensors[i];
        const struct by_stored_tensor *other = by_map_get(&checkpoint->by_name, tensor->name);
        if (other) {
            by_fail(err, BARYON_ERR_INPUT, "tensor %s is also in '%s', must be there once",
                    by_quote(quoted, tensor->name), checkpoint->files[other->file].name);
            return by_err_file(err, checkpoint->files[tensor->file].path);
        }
        if (by_map_put(&checkpoint->by_name, tensor->name, tensor, err))
            return -1;
    }
    return 0;
}

static int open_all(struct by_checkpoint *checkpoint, struct baryon_error *err)
{
    struct by_stored_list list = {0};
    if (find_folder(checkpoint, err))
        return -1;
    int status = checkpoint->is_folder ? by_safetensors_open(checkpoint, &list, err)
                                       : open_single(checkpoint, &list, err);
    if (status)
        return -1;
    checkpoint->tensors = list.at;
    checkpoint->tensor_count = list.count;
    if (index_names(checkpoint, err))
        return -1;
    if (checkpoint->container == BY_GGUF)
        return 0;
    return by_checkpoint_json(checkpoint, "config.json", BY_DOC_BYTES_MAX, &checkpoint->config,
                              err);
}

int by_checkpoint_open(struct by_checkpoint **checkpoint, const char *path,
                       struct baryon_error *err)
{
    struct by_checkpoint *opened = by_alloc_zero(1, sizeof *opened, err);
    if (!opened)
        return -1;
    by_arena_init(&opened->arena, 0);
    by_map_init(&opened->by_name);
    opened->path = by_arena_text(&opened->arena, path, strlen(path), err);
    if (!opened->path || open_all(opened, err)) {
        by_err_file(err, path);
        by_checkpoint_close(opened);
        return -1;
    }
    *checkpoint = opened;
    return 0;
}

void by_checkpoint_close(struct by_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    for (size_t i = 0; i < checkpoint->file_count; i++)
        by_mapped_close(&checkpoint->files[i].mapped);
    if (checkpoint->gguf)
        by_map_release(&checkpoint->gguf->by_key);
    by_map_release(&checkpoint->by_name);
    by_arena_release(&checkpoint->arena);
    by_free(checkpoint);
}

const struct by_stored_tensor *by_checkpoint_find(const struct by_checkpoint *checkpoint,
                                                  const char *name)
{
    return by_map_get(&checkpoint->by_name, name);
}

const uint8_t *by_checkpoint_bytes(const struct by_checkpoint *checkpoint,
                                   const struct by_stored_tensor *tensor)
{
    return checkpoint->files[tensor->file].mapped.bytes + tensor->offset;
}

void by_checkpoint_need(const struct by_checkpoint *checkpoint,
                        const struct by_stored_tensor *tensor, uint64_t at, uint64_t size)
{
    by_mapped_need(&checkpoint->files[tensor->file].mapped, (size_t)(tensor->offset + at),
                   (size_t)size);
}

void by_checkpoint_done(const struct by_checkpoint *checkpoint,
                        const struct by_stored_tensor *tensor, uint64_t at, uint64_t size)
{
    by_mapped_done(&checkpoint->files[tensor->file].mapped, (size_t)(tensor->offset + at),
                   (size_t)size);
}

int by_checkpoint_check(const struct by_checkpoint *checkpoint, struct baryon_error *err)
{
    for (size_t i = 0; i < checkpoint->file_count; i++)
        if (by_mapped_check(&checkpoint->files[i].mapped, err))
            return -1;
    return 0;
}

uint64_t by_stored_columns(const struct by_stored_tensor *tensor)
{
    return tensor->rank ? tensor->dims[tensor->rank - 1] : 1;
}

uint64_t by_stored_rows(const struct by_stored_tensor *tensor)
{
    uint64_t rows = 1;
    for (size_t i = 0; i + 1 < tensor->rank; i++)
        rows *= tensor->dims[i];
    return rows;
}

const char *by_stored_shape(const struct by_stored_tensor *tensor, char *buf, size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "[");
    for (size_t i = 0; i < tensor->rank; i++)
        by_text_add(&text, "%s%" PRIu64, i ? ", " : "", tensor->dims[i]);
    by_text_add(&text, "]");
    return buf;
}

int by_checkpoint_json(struct by_checkpoint *checkpoint, const char *name, size_t most,
                       const struct by_doc_node **root, struct baryon_error *err)
{
    struct by_doc_limits limits = {most, most / 8};
    struct by_doc_node *node = NULL;
    char *text;
    size_t size;
    *root = NULL;
    const char *path = path_in_folder(checkpoint, name, err);
    if (!path)
        return -1;
    if (!by_file_exists(path))
        return 0;
    if (by_read_file(path, most, &text, &size, err))
        return -1;
    int status = by_json_parse_within(&checkpoint->arena, text, size, path, limits, &node, err);
    by_free(text);
    *root = status ? NULL : node;
    return status;
}
