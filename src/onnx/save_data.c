/* Moves payloads into data files or back into the model while it is saved. */
#include "onnx/save_data.h"

#include "onnx/schema.h"
#include "onnx/shape_constants.h"

#include <stdio.h>
#include <string.h>

#define EXTERNAL_MIN 1024u
/* Big payloads start at a page, so that a runtime can map them; small ones at 64 bytes. */
#define PAGE        4096u
#define SMALL_ALIGN 64u

/* State of one pass that moves payloads into a data file. */
struct mover {
    struct by_save_data *plan;
    struct by_writer *writer;
    const char *location;
    size_t min;
    struct by_map placed; /* struct placed, by its payload */
    struct by_shape_constants shapes;
};

/* A payload in the data file. Tensors that shared one go on sharing it. */
struct placed {
    struct by_span payload;
    uint64_t offset;
};

/* Remembers the tensor as it is now, before it is changed. */
static int remember(struct by_save_data *plan, struct baryon_tensor *tensor,
                    struct baryon_error *err)
{
    if (plan->count == plan->cap) {
        size_t cap = plan->cap ? plan->cap * 2 : 64;
        struct by_saved_tensor *grown = by_realloc(plan->saved, cap, sizeof *grown, err);
        if (!grown)
            return -1;
        plan->saved = grown;
        plan->cap = cap;
    }
    plan->saved[plan->count++] = (struct by_saved_tensor){tensor, *tensor};
    return 0;
}

static struct by_writer *open_data(struct by_save_data *plan, const char *path, unsigned flags,
                                   struct baryon_error *err)
{
    struct by_writer *writer;
    if (plan->writer_count == plan->writer_cap) {
        size_t cap = plan->writer_cap ? plan->writer_cap * 2 : 4;
        struct by_writer **grown = by_realloc(plan->writers, cap, sizeof *grown, err);
        if (!grown)
            return NULL;
        plan->writers = grown;
        plan->writer_cap = cap;
    }
    if (by_writer_open(&writer, path, flags, err))
        return NULL;
    return plan->writers[plan->writer_count++] = writer;
}

static int set_pair(struct by_save_data *plan, struct by_ptrs *list, const char *key,
                    const char *value, struct baryon_error *err)
{
    struct by_pair *pair = BY_ARENA_NEW(&plan->scratch, struct by_pair, err);
    char *text = by_arena_text(&plan->scratch, value, strlen(value), err);
    if (!pair || !text)
        return -1;
    pair->key = key;
    pair->value = (struct by_span){(const uint8_t *)text, strlen(value)};
    list->at[list->count++] = pair;
    return 0;
}

static int set_reference(struct by_save_data *plan, struct baryon_tensor *tensor,
                         const char *location, uint64_t offset, size_t size,
                         struct baryon_error *err)
{
    char number[2][24];
    struct by_ptrs list = {0};
    snprintf(number[0], sizeof number[0], "%llu", (unsigned long long)offset);
    snprintf(number[1], sizeof number[1], "%zu", size);
    if (by_list_reserve(&plan->scratch, &list, 3, sizeof(void *), err) ||
        set_pair(plan, &list, "location", location, err) ||
        set_pair(plan, &list, "offset", number[0], err) ||
        set_pair(plan, &list, "length", number[1], err))
        return -1;
    tensor->external_data = list;
    tensor->data_location = 1;
    return 0;
}

static void drop_payload(struct baryon_tensor *tensor)
{
    const struct by_span none = {0};
    tensor->raw_data = tensor->float_data = tensor->int32_data = tensor->int64_data = none;
    tensor->double_data = tensor->uint64_data = none;
}

/* Where the payload stands in the data file, after writing it there if it does not yet. */
static int place_payload(struct mover *mover, struct by_span payload, uint64_t *offset,
                         struct baryon_error *err)
{
    const struct placed *before = by_map_get_bytes(&mover->placed, &payload, sizeof payload);
    if (before) {
        *offset = before->offset;
        return 0;
    }
    struct placed *placed = BY_ARENA_NEW(&mover->plan->scratch, struct placed, err);
    if (!placed || by_writer_pad(mover->writer, payload.size >= PAGE ? PAGE : SMALL_ALIGN, err))
        return -1;
    *placed = (struct placed){payload, by_writer_size(mover->writer)};
    *offset = placed->offset;
    if (by_map_put_bytes(&mover->placed, &placed->payload, sizeof payload, placed, err))
        return -1;
    return by_save_bytes(mover->writer, mover->plan->model, payload.data, payload.size, err);
}

static int move_in(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct by_save_data *plan = context;
    struct by_span bytes;
    if (!by_tensor_is_external(tensor))
        return 0;
    if (by_tensor_bytes(tensor, &plan->scratch, &bytes, err) || remember(plan, tensor, err))
        return -1;
    tensor->raw_data = bytes;
    tensor->external_data = (struct by_ptrs){0};
    tensor->data_location = 0;
    return 0;
}

/* The format keeps external data for initializers; runtimes read no others. */
static int move_out(struct mover *mover, struct baryon_tensor *tensor, struct baryon_error *err)
{
    struct by_span bytes;
    size_t count, size;
    uint64_t offset;
    if (tensor->data_type == BY_ELEM_STRING)
        return 0;
    if (by_tensor_count(tensor, &count, err) || by_elem_bytes(tensor->data_type, count, &size, err))
        return -1;
    if (size < mover->min && !by_tensor_is_external(tensor))
        return 0;
    if (by_is_shape_constant(&mover->shapes, tensor))
        return move_in(mover->plan, tensor, err);
    if (by_tensor_bytes(tensor, &mover->plan->scratch, &bytes, err) ||
        remember(mover->plan, tensor, err) || place_payload(mover, bytes, &offset, err))
        return -1;
    drop_payload(tensor);
    tensor->external = (struct by_span){0};
    return set_reference(mover->plan, tensor, mover->location, offset, size, err);
}

static int move_out_graph(void *context, struct baryon_graph *graph, unsigned depth,
                          struct baryon_error *err)
{
    (void)depth;
    for (size_t i = 0; i < graph->initializer.count; i++)
        if (graph->initializer.at[i] && move_out(context, graph->initializer.at[i], err))
            return by_err_in(err, "initializer[%zu]", i);
    return 0;
}

/* Tensors that are no initializers: their old data file is not carried along. */
static int move_in_rest(void *context, struct baryon_tensor *tensor, struct baryon_error *err)
{
    return tensor->external.data ? move_in(context, tensor, err) : 0;
}

/* Whose file is at that path, so that a data file must not be written there; NULL: nobody's. */
static const char *owner_of(const struct baryon_model *model, const char *path)
{
    if (model->path && by_mapped_is(&model->file, path))
        return "is the input model";
    return by_model_has_data_file(model, path) ? "belongs to the input model" : NULL;
}

/* model_path: where the model itself is going to be; location: the path from there on. */
static int check_target(const struct baryon_model *model, const char *model_path,
                        const char *location, const char *path, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *owner = owner_of(model, path);
    if (strcmp(location, by_basename(model_path)) == 0 || by_same_file(path, model_path))
        return by_fail(err, BARYON_ERR_USAGE,
                       "data file %s is the output model, must be a different file",
                       by_quote(quoted, path));
    if (!owner)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "data file %s %s and would be overwritten",
            by_quote(quoted, path), owner);
    return by_err_hint(err, "write to another folder, or give another data file with --external");
}

static int default_location(const char *path, char *buf, size_t size, struct baryon_error *err)
{
    int wanted = snprintf(buf, size, "%s.data", by_basename(path));
    if (wanted > 0 && (size_t)wanted < size)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "the name of the data file has more than %zu bytes",
                   size - 1);
}

static int check_utf8(const char *location, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (by_utf8_valid(location, strlen(location)))
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "data file %s: the name must be UTF-8",
            by_quote(quoted, location));
    return -1;
}

static int data_path(const char *model_path, const char *location, char *buf, size_t size,
                     struct baryon_error *err)
{
    char folder[4096];
    if (check_utf8(location, err))
        return -1;
    if (by_location_check(location, strlen(location), err)) {
        if (err)
            err->code = BARYON_ERR_USAGE;
        return -1;
    }
    if (by_folder_of(model_path, folder, sizeof folder) &&
        by_join_path(buf, size, folder, location))
        return 0;
    return by_fail(err, BARYON_ERR_USAGE, "the path of the data file has more than %zu bytes",
                   size - 1);
}

static int make_folder_for(const char *path, struct baryon_error *err)
{
    char folder[4096];
    if (!by_folder_of(path, folder, sizeof folder))
        return by_fail(err, BARYON_ERR_USAGE, "path too long");
    return by_make_folders(folder, err);
}

static int make_external(struct by_save_data *plan, const char *path,
                         const struct by_save_options *options, struct baryon_error *err)
{
    char location[1024], file[5120];
    if (!options->external_file && default_location(path, location, sizeof location, err))
        return -1;
    const char *name = options->external_file ? options->external_file : location;
    if (data_path(path, name, file, sizeof file, err) ||
        check_target(plan->model, path, name, file, err) || make_folder_for(file, err))
        return -1;
    char *kept = by_arena_text(&plan->scratch, name, strlen(name), err);
    struct by_writer *writer = kept ? open_data(plan, file, options->writer_flags, err) : NULL;
    if (!writer)
        return -1;
    struct mover mover = {.plan = plan,
                          .writer = writer,
                          .location = kept,
                          .min = options->external_min ? options->external_min : EXTERNAL_MIN};
    int failed = by_shape_constants_find(&mover.shapes, plan->model, err) ||
                 by_model_each_graph(plan->model, move_out_graph, &mover, err);
    by_map_release(&mover.placed);
    by_shape_constants_release(&mover.shapes);
    return failed ? -1 : by_model_each_tensor(plan->model, move_in_rest, plan, err);
}

/* The file, or where its folder is still to be made, the folder above it that is there. */
static int probe_data(const char *path, unsigned flags, struct baryon_error *err)
{
    char above[5120], folder[5120];
    bool is_file = true;
    snprintf(above, sizeof above, "%s", path);
    while (by_folder_of(above, folder, sizeof folder) && strcmp(folder, above) != 0 &&
           !by_file_exists(folder)) {
        is_file = false;
        memcpy(above, folder, sizeof above);
    }
    return by_writer_probe(is_file ? path : above, is_file ? flags : 0, err);
}

int by_model_probe_save(const struct baryon_model *model, const char *path,
                        const struct by_save_options *options, struct baryon_error *err)
{
    char location[1024], file[5120];
    int status = by_writer_probe(path, options->writer_flags, err);
    if (status < 0 || options->data != BY_SAVE_EXTERNAL)
        return status;
    if (!options->external_file && default_location(path, location, sizeof location, err))
        return by_err_file(err, path);
    const char *name = options->external_file ? options->external_file : location;
    if (data_path(path, name, file, sizeof file, err) || check_target(model, path, name, file, err))
        return by_err_file(err, path);
    return probe_data(file, options->writer_flags, err);
}

static bool same_folder(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || by_same_file(a, b);
}

/* A model that keeps its data files needs them beside it: they are copied as they are. */
static int copy_data_files(struct by_save_data *plan, const char *path,
                           const struct by_save_options *options, struct baryon_error *err)
{
    const struct baryon_model *model = plan->model;
    char folder[4096], target[5120];
    if (!model->data_files.count)
        return 0;
    if (!by_folder_of(path, folder, sizeof folder))
        return by_fail(err, BARYON_ERR_USAGE, "path too long");
    if (same_folder(folder, model->folder))
        return 0;
    for (size_t i = 0; i < model->data_files.count; i++) {
        const struct by_data_file *file = model->data_files.at[i];
        if (data_path(path, file->location, target, sizeof target, err) ||
            check_target(model, path, file->location, target, err) || make_folder_for(target, err))
            return -1;
        struct by_writer *writer = open_data(plan, target, options->writer_flags, err);
        if (!writer || by_writer_reserve(writer, file->mapped.size, err) ||
            by_writer_add_mapped(writer, &file->mapped, 0, file->mapped.size, err))
            return -1;
    }
    return 0;
}

int by_save_data_begin(struct by_save_data *plan, struct baryon_model *model, const char *path,
                       const struct by_save_options *options, uint64_t inline_max,
                       struct baryon_error *err)
{
    *plan = (struct by_save_data){.model = model};
    by_arena_init(&plan->scratch, 0);
    switch (options->data) {
    case BY_SAVE_INLINE:
        return by_model_each_tensor(model, move_in, plan, err);
    case BY_SAVE_EXTERNAL:
        return make_external(plan, path, options, err);
    case BY_SAVE_KEEP:
        break;
    }
    if (by_wire_measure(&by_schema_model, model) > inline_max)
        return make_external(plan, path, options, err);
    return copy_data_files(plan, path, options, err);
}

int by_save_data_commit(struct by_save_data *plan, struct by_writer *model_writer, bool in_place,
                        struct baryon_error *err)
{
    size_t count = plan->writer_count;
    struct by_writer **all = by_alloc(count + 1, sizeof *all, err);
    if (!all)
        return -1;
    if (count)
        memcpy(all, plan->writers, count * sizeof *all);
    all[count] = model_writer;
    int status = by_writer_commit_all(all, count + 1, in_place, err);
    by_free(all);
    return status;
}

void by_save_data_end(struct by_save_data *plan)
{
    while (plan->count) {
        const struct by_saved_tensor *saved = &plan->saved[--plan->count];
        *saved->tensor = saved->old;
    }
    for (size_t i = 0; i < plan->writer_count; i++)
        by_writer_abort(plan->writers[i]);
    by_free(plan->writers);
    by_free(plan->saved);
    by_arena_release(&plan->scratch);
}
