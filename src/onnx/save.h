/*
 * Writing a model. An untouched model comes out byte for byte as it was read.
 * External data is written and synced before the model that names it.
 */
#ifndef BY_SAVE_H
#define BY_SAVE_H

#include "base/str.h"
#include "ir/model.h"

enum by_save_mode {
    BY_SAVE_KEEP,     /* as it is; external if it would be over 2 GiB */
    BY_SAVE_EXTERNAL, /* payloads of at least external_min bytes go to one data file */
    BY_SAVE_INLINE,   /* everything into the model */
};

struct by_saved_size {
    uint64_t model, data; /* bytes that were written; data: of all data files */
};

struct by_save_options {
    enum by_save_mode data;
    const char *external_file;  /* NULL: model's file name + ".data", in the same folder */
    size_t external_min;        /* 0: 1024 */
    uint64_t inline_max;        /* 0: 2 GiB - 1; tests set it lower */
    unsigned writer_flags;      /* enum by_writer_flags */
    struct by_saved_size *size; /* NULL: nobody asks */
};

/* What saving would refuse, found out before the work that would be lost: names, folders, a full
 * disk. Nothing is written. */
int by_model_probe_save(const struct baryon_model *model, const char *path,
                        const struct by_save_options *options, struct baryon_error *err);
int by_model_save(struct baryon_model *model, const char *path,
                  const struct by_save_options *options, struct baryon_error *err);
/* Everything inline, into memory; for handing a model to ONNX Runtime. */
int by_model_save_bytes(struct baryon_model *model, struct by_str *out, struct baryon_error *err);

#endif
