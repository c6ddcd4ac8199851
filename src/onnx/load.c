/* Loads a model from a file or from memory, and frees it. */
#include "onnx/load.h"

#include "ir/graph.h"
#include "onnx/check.h"
#include "onnx/external.h"
#include "onnx/schema.h"

#include <string.h>

/*
 * Structs take more room than the bytes they were read from: a usual node about 8
 * times as much, a hostile one far more. The limit follows the file's size.
 */
#define ARENA_FREE  (64u << 20)
#define ARENA_RATIO 32u

static struct baryon_model *new_model(size_t arena_limit, struct baryon_error *err)
{
    struct baryon_model *model = by_alloc_zero(1, sizeof *model, err);
    if (!model)
        return NULL;
    by_arena_init(&model->arena, arena_limit);
    by_names_table_init(&model->names, &model->arena);
    model->file.fd = -1;
    return model;
}

void by_model_free(struct baryon_model *model)
{
    if (!model)
        return;
    by_model_unlink(model);
    for (size_t i = 0; i < model->data_files.count; i++) {
        struct by_data_file *file = model->data_files.at[i];
        by_mapped_close(&file->mapped);
    }
    for (size_t i = 0; i < model->constants.count; i++)
        by_constant_leave(model->constants.at[i]);
    by_names_table_release(&model->names);
    by_spill_close(&model->spill);
    by_arena_release(&model->arena);
    if (model->path)
        by_mapped_close(&model->file);
    by_free(model->path);
    by_free(model->folder);
    by_free(model);
}

static int check_size(size_t size, struct baryon_error *err)
{
    if (size > BY_WIRE_BYTES_MAX) {
        by_fail(err, BARYON_ERR_INPUT, "%zu bytes, a protobuf message must have at most %u", size,
                BY_WIRE_BYTES_MAX);
        return by_err_hint(
            err, "a model of more than 2 GiB must have its weights in an external data file");
    }
    return 0;
}

static int decode_model_bytes(struct baryon_model *model, const uint8_t *bytes, size_t size,
                              struct baryon_error *err)
{
    struct by_wire_reader reader = {.arena = &model->arena, .names = &model->names, .base = bytes};
    if (check_size(size, err) || by_sniff_model(bytes, size, err))
        return -1;
    if (by_wire_decode(&reader, &by_schema_model, bytes, size, model, err))
        return -1;
    /* From here on the model grows by what the caller does, not by what the file says. */
    model->arena.limit = 0;
    if (!model->graph) {
        by_fail(err, BARYON_ERR_INPUT, "no graph, a model must have one");
        return by_err_hint(err, "check that the file is a complete ONNX model");
    }
    return 0;
}

static size_t arena_limit(size_t size)
{
    size_t limit;
    if (by_mul_overflow(size, ARENA_RATIO, &limit) || by_add_overflow(limit, ARENA_FREE, &limit))
        return SIZE_MAX;
    return limit;
}

static int set_paths(struct baryon_model *model, const char *path, struct baryon_error *err)
{
    size_t size = strlen(path) + 2;
    if (!(model->path = by_strdup(path, err)) || !(model->folder = by_alloc(size, 1, err)))
        return -1;
    return by_folder_of(path, model->folder, size) ? 0 : by_err_nomem(err, size);
}

/*
 * When both were replaced in between, the old model would go with new data. Whoever
 * replaces them takes the model away first: so it is still the old data if the model is
 * still in its place.
 */
static int check_in_place(const struct baryon_model *model, struct baryon_error *err)
{
    struct stat now;
    const struct stat *then = &model->file.stat;
    if (!model->data_files.count ||
        (stat(model->path, &now) == 0 && now.st_dev == then->st_dev && now.st_ino == then->st_ino))
        return 0;
    by_fail(err, BARYON_ERR_CHANGED, "changed while it was in use (replaced)");
    return by_err_hint(err, "run again when no other program writes to it");
}

static int load_file(struct baryon_model *model, const char *path,
                     const struct by_load_options *options, struct baryon_error *err)
{
    if (set_paths(model, path, err))
        return -1;
    struct baryon_error changed;
    int failed = decode_model_bytes(model, model->file.bytes, model->file.size, err) ||
                 by_model_resolve_external(model, options, err);
    /* A file that was written to meanwhile explains whatever else was found. */
    if (by_mapped_check(&model->file, &changed) || check_in_place(model, &changed)) {
        if (err)
            *err = changed;
        return -1;
    }
    return failed ? -1 : 0;
}

int by_model_load(struct baryon_model **out, const char *path,
                  const struct by_load_options *options, struct baryon_error *err)
{
    const struct by_load_options defaults = {0};
    struct by_mapped file;
    *out = NULL;
    by_recover_file(path);
    if (by_mapped_open(&file, path, err))
        return -1;
    struct baryon_model *model = new_model(arena_limit(file.size), err);
    if (!model) {
        by_mapped_close(&file);
        return -1;
    }
    model->file = file;
    if (load_file(model, path, options ? options : &defaults, err)) {
        by_err_file(err, path);
        if (!model->path)
            by_mapped_close(&model->file);
        by_model_free(model);
        return -1;
    }
    *out = model;
    return 0;
}

int by_model_load_bytes(struct baryon_model **out, const void *bytes, size_t size,
                        const char *folder, const struct by_load_options *options,
                        struct baryon_error *err)
{
    const struct by_load_options defaults = {0};
    *out = NULL;
    struct baryon_model *model = new_model(arena_limit(size), err);
    if (!model)
        return -1;
    if ((folder && !(model->folder = by_strdup(folder, err))) ||
        decode_model_bytes(model, bytes, size, err) ||
        by_model_resolve_external(model, options ? options : &defaults, err)) {
        by_model_free(model);
        return -1;
    }
    *out = model;
    return 0;
}

const struct by_mapped *by_model_file_of(const struct baryon_model *model, const uint8_t *bytes)
{
    if (model->path && bytes >= model->file.bytes && bytes < model->file.bytes + model->file.size)
        return &model->file;
    for (size_t i = 0; i < model->data_files.count; i++) {
        const struct by_data_file *file = model->data_files.at[i];
        if (bytes >= file->mapped.bytes && bytes < file->mapped.bytes + file->mapped.size)
            return &file->mapped;
    }
    return by_spill_has(&model->spill, bytes) ? &model->spill.file : NULL;
}

/* Giving back less costs more than it helps. */
#define DONE_MIN (1u << 20)

void by_tensor_done(const struct baryon_model *model, const struct baryon_tensor *tensor)
{
    const struct by_span *payload = tensor->external.data     ? &tensor->external
                                    : tensor->float_data.data ? &tensor->float_data
                                                              : &tensor->raw_data;
    const struct by_mapped *file = by_model_file_of(model, payload->data);
    if (file && payload->size >= DONE_MIN)
        by_mapped_done(file, (size_t)(payload->data - file->bytes), payload->size);
}

void by_model_pages_done(const struct baryon_model *model)
{
    if (model->path)
        by_mapped_done(&model->file, 0, model->file.size);
    for (size_t i = 0; i < model->data_files.count; i++) {
        const struct by_data_file *file = model->data_files.at[i];
        by_mapped_done(&file->mapped, 0, file->mapped.size);
    }
}

int by_model_unchanged_on_disk(const struct baryon_model *model, struct baryon_error *err)
{
    if (model->path && by_mapped_check(&model->file, err))
        return -1;
    for (size_t i = 0; i < model->data_files.count; i++) {
        const struct by_data_file *file = model->data_files.at[i];
        if (by_mapped_check(&file->mapped, err))
            return -1;
    }
    return 0;
}

int by_model_judge(const struct baryon_model *model, int status, struct baryon_error *err)
{
    struct baryon_error changed;
    by_err_clear(&changed);
    if (by_model_unchanged_on_disk(model, &changed) == 0)
        return status;
    *err = changed;
    return -1;
}

int by_model_judge_run(const struct baryon_model *model, const char *name, int status,
                       struct baryon_error *err)
{
    status = by_model_judge(model, status, err);
    if (status < 0 && name && err->code != BARYON_ERR_USAGE && err->code != BARYON_ERR_DEPENDENCY)
        by_err_file(err, name);
    return status;
}

static int fill_new(struct baryon_model *model, int64_t ir_version, int64_t opset,
                    struct baryon_error *err)
{
    struct by_opset *import = BY_ARENA_NEW(&model->arena, struct by_opset, err);
    model->graph = BY_ARENA_NEW(&model->arena, struct baryon_graph, err);
    if (!import || !model->graph ||
        by_list_reserve(&model->arena, &model->opset_import, 1, sizeof(void *), err))
        return -1;
    if (!(import->domain = by_model_name(model, "", err)) ||
        !(model->graph->name = by_model_name(model, "graph", err)))
        return -1;
    import->version = opset;
    model->opset_import.at[model->opset_import.count++] = import;
    model->ir_version = ir_version;
    model->producer_name = (struct by_span){(const uint8_t *)"baryon", 6};
    return 0;
}

int by_model_new(struct baryon_model **out, int64_t ir_version, int64_t opset,
                 struct baryon_error *err)
{
    *out = NULL;
    struct baryon_model *model = new_model(0, err);
    if (!model)
        return -1;
    if (fill_new(model, ir_version, opset, err)) {
        by_model_free(model);
        return -1;
    }
    *out = model;
    return 0;
}
