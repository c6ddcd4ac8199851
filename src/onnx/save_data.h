/*
 * Where the payloads of tensors go when a model is saved; used by save.c.
 *
 * by_save_data_begin() writes the data files and points the tensors at them;
 * by_save_data_end() puts the tensors back as they were, so that saving does not
 * change the model. Nothing has its final name before by_save_data_commit().
 */
#ifndef BY_SAVE_DATA_H
#define BY_SAVE_DATA_H

#include "onnx/external.h"
#include "onnx/save.h"

struct by_saved_tensor {
    struct baryon_tensor *tensor;
    struct baryon_tensor old;
};

struct by_save_data {
    struct baryon_model *model;
    struct by_arena scratch;
    struct by_saved_tensor *saved;
    size_t count, cap;
    struct by_writer **writers;
    size_t writer_count, writer_cap;
};

/* path NULL: everything stays in memory. end() must follow, also after a failure. */
int by_save_data_begin(struct by_save_data *plan, struct baryon_model *model, const char *path,
                       const struct by_save_options *options, uint64_t inline_max,
                       struct baryon_error *err);
/* Data files and the model get their names. in_place: it replaces the file that it was read
 * from, whose data files are not written to. */
int by_save_data_commit(struct by_save_data *plan, struct by_writer *model_writer, bool in_place,
                        struct baryon_error *err);
void by_save_data_end(struct by_save_data *plan);

/* Bytes to a writer; ranges of files in use are copied inside the kernel. */
int by_save_bytes(struct by_writer *writer, const struct baryon_model *model, const uint8_t *bytes,
                  size_t size, struct baryon_error *err);

#endif
