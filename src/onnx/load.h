/*
 * Reading a model: map, decode, resolve external data. Does not judge what the
 * model means: that is by_model_check()'s and by_model_link()'s.
 */
#ifndef BY_LOAD_H
#define BY_LOAD_H

#include "base/log.h"
#include "ir/model.h"

struct by_load_options {
    bool no_external;         /* leave external data unresolved */
    bool allow_links;         /* external data may be links (package caches) */
    const struct by_log *log; /* may be NULL */
};

/* A file of external data that tensors point into. */
struct by_data_file {
    const char *location; /* as written in the model */
    struct by_mapped mapped;
    char sha1[41];  /* of its bytes in hexadecimal, "" as long as nobody asked */
    uint64_t asked; /* bytes of all ranges together */
};

/* options NULL: defaults. The model must be freed with by_model_free(). */
int by_model_load(struct baryon_model **model, const char *path,
                  const struct by_load_options *options, struct baryon_error *err);
/* bytes must outlive the model. folder: where external data is, NULL: there is none. */
int by_model_load_bytes(struct baryon_model **model, const void *bytes, size_t size,
                        const char *folder, const struct by_load_options *options,
                        struct baryon_error *err);
void by_model_free(struct baryon_model *model);
/* The file in use that these bytes stand in, NULL: none. */
const struct by_mapped *by_model_file_of(const struct baryon_model *model, const uint8_t *bytes);
/* Nobody is going to look at the payload soon: pages of files are given back. */
void by_tensor_done(const struct baryon_model *model, const struct baryon_tensor *tensor);
/* The same for all that the model has in files. */
void by_model_pages_done(const struct baryon_model *model);
/* BARYON_ERR_CHANGED when the file or a data file is not what it was. */
int by_model_unchanged_on_disk(const struct baryon_model *model, struct baryon_error *err);
/*
 * When the files are no longer what they were, that explains whatever was found: then the failure
 * is BARYON_ERR_CHANGED, also in place of a success. Else the status.
 */
int by_model_judge(const struct baryon_model *model, int status, struct baryon_error *err);
/* The same; failures of running that are about the model name it. name NULL: it has none. */
int by_model_judge_run(const struct baryon_model *model, const char *name, int status,
                       struct baryon_error *err);
/* An empty model with a graph, for building one by edits. */
int by_model_new(struct baryon_model **model, int64_t ir_version, int64_t opset,
                 struct baryon_error *err);

#endif
