/* Writes a model and its data files, and renames them together. */
#include "onnx/save.h"

#include "ir/graph.h"
#include "onnx/save_data.h"
#include "onnx/schema.h"

#include <string.h>

/* Ranges of a mapped file go from file to file inside the kernel from this size on. */
#define KERNEL_COPY_MIN (64u << 10)

struct output {
    struct by_writer *writer;
    const struct baryon_model *model;
};

int by_save_bytes(struct by_writer *writer, const struct baryon_model *model, const uint8_t *bytes,
                  size_t size, struct baryon_error *err)
{
    const struct by_mapped *file = size >= KERNEL_COPY_MIN ? by_model_file_of(model, bytes) : NULL;
    if (file)
        return by_writer_add_mapped(writer, file, (size_t)(bytes - file->bytes), size, err);
    return by_writer_add(writer, bytes, size, err);
}

static int to_writer(void *context, const uint8_t *bytes, size_t size, struct baryon_error *err)
{
    const struct output *output = context;
    return by_save_bytes(output->writer, output->model, bytes, size, err);
}

static int write_model(struct baryon_model *model, uint64_t size, struct by_writer *writer,
                       struct baryon_error *err)
{
    struct output output = {writer, model};
    if (by_writer_reserve(writer, size, err))
        return -1;
    return by_wire_encode(&by_schema_model, model, to_writer, &output, err);
}

static int too_big(uint64_t size, uint64_t most, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED, "%llu bytes in one file, must be at most %llu",
            (unsigned long long)size, (unsigned long long)most);
    return by_err_hint(err, "keep the weights in an external data file");
}

/* All bytes are handed over: if the input is still what it was then, they are right. */
static int put_in_place(struct by_save_data *plan, struct by_writer *writer, const char *path,
                        struct baryon_error *err)
{
    const struct baryon_model *model = plan->model;
    bool in_place = model->path && by_same_file(path, model->path);
    if (by_model_unchanged_on_disk(model, err))
        return -1;
    return by_save_data_commit(plan, writer, in_place, err);
}

static void tell_size(const struct by_save_data *plan, const struct by_writer *writer,
                      struct by_saved_size *size)
{
    *size = (struct by_saved_size){.model = by_writer_size(writer)};
    for (size_t i = 0; i < plan->writer_count; i++)
        size->data += by_writer_size(plan->writers[i]);
}

/* Writes data file and model, and renames both once both are on the disk. */
static int write_files(struct baryon_model *model, const char *path,
                       const struct by_save_options *options, uint64_t inline_max,
                       struct baryon_error *err)
{
    struct by_save_data plan;
    struct by_writer *writer = NULL;
    int failed = by_save_data_begin(&plan, model, path, options, inline_max, err);
    if (!failed) {
        uint64_t size = by_wire_measure(&by_schema_model, model);
        failed = size > inline_max ? too_big(size, inline_max, err)
                                   : by_writer_open(&writer, path, options->writer_flags, err);
        if (!failed)
            failed = write_model(model, size, writer, err);
    }
    if (!failed)
        failed = put_in_place(&plan, writer, path, err);
    if (!failed && options->size)
        tell_size(&plan, writer, options->size);
    by_writer_abort(writer);
    by_save_data_end(&plan);
    return failed ? -1 : 0;
}

int by_model_save(struct baryon_model *model, const char *path,
                  const struct by_save_options *options, struct baryon_error *err)
{
    const struct by_save_options defaults = {0};
    if (!options)
        options = &defaults;
    uint64_t inline_max = options->inline_max ? options->inline_max : BY_WIRE_BYTES_MAX;
    if (by_model_settle(model, err) || write_files(model, path, options, inline_max, err)) {
        by_err_file(err, path);
        return -1;
    }
    return 0;
}

int by_model_save_bytes(struct baryon_model *model, struct by_str *out, struct baryon_error *err)
{
    const struct by_save_options options = {.data = BY_SAVE_INLINE};
    struct by_save_data plan;
    if (by_model_settle(model, err))
        return -1;
    int failed = by_save_data_begin(&plan, model, NULL, &options, BY_WIRE_BYTES_MAX, err);
    if (!failed) {
        uint64_t size = by_wire_measure(&by_schema_model, model);
        failed = size > BY_WIRE_BYTES_MAX
                     ? too_big(size, BY_WIRE_BYTES_MAX, err)
                     : by_wire_encode(&by_schema_model, model, by_wire_to_text, out, err);
    }
    by_save_data_end(&plan);
    return failed ? -1 : 0;
}
