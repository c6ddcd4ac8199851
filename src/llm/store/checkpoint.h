/*
 * A checkpoint of a language model: named tensors in mapped files, whatever the container.
 *
 * A path is a folder with config.json and *.safetensors (one file, or shards with an index), a
 * single .safetensors file, or a .gguf file or the first of its parts. Opening reads headers only;
 * tensors are bytes of mapped files, read when they are asked for. Pages that were read count as
 * resident until by_checkpoint_done() gives them back: ask for a tensor, or for a slab of it, use
 * it, give it back.
 */
#ifndef BY_LLM_STORE_CHECKPOINT_H
#define BY_LLM_STORE_CHECKPOINT_H

#include "base/doc.h"
#include "base/file.h"
#include "base/map.h"
#include "llm/store/gguf.h"
#include "llm/store/types.h"

#define BY_STORED_RANK_MAX 8

enum by_container { BY_SAFETENSORS, BY_GGUF };

struct by_stored_tensor {
    const char *name;
    const struct by_stored_type *type;
    size_t rank;                       /* 0: a single element */
    uint64_t dims[BY_STORED_RANK_MAX]; /* outermost first, in GGUF files too */
    uint64_t elements, bytes;
    size_t file;     /* number in checkpoint->files */
    uint64_t offset; /* of its first byte in that file */
};

/* A pair of `__metadata__` of a safetensors file, in the order of the file. */
struct by_stored_note {
    const char *key, *value;
};

struct by_stored_file {
    const char *name; /* in the folder, as the index has it */
    const char *path;
    struct by_mapped mapped;
    uint64_t data; /* offset of the first tensor's place */
    struct by_stored_note *notes;
    size_t note_count;
};

struct by_checkpoint {
    enum by_container container;
    const char *path;   /* as it was given */
    const char *folder; /* where files beside the weights are; "." for a bare name */
    bool is_folder;     /* path is the folder */
    bool has_index;     /* there are shards with an index */
    struct by_stored_file *files;
    size_t file_count;
    struct by_stored_tensor *tensors; /* by file, then by offset */
    size_t tensor_count;
    const struct by_doc_node *config; /* config.json in the folder; NULL: there is none */
    struct by_gguf *gguf;             /* of a GGUF file or its first part, else NULL */
    struct by_map by_name;
    struct by_arena arena;
};

int by_checkpoint_open(struct by_checkpoint **checkpoint, const char *path,
                       struct baryon_error *err);
/* NULL is fine. */
void by_checkpoint_close(struct by_checkpoint *checkpoint);

/* NULL: there is none of that name. */
const struct by_stored_tensor *by_checkpoint_find(const struct by_checkpoint *checkpoint,
                                                  const char *name);
const uint8_t *by_checkpoint_bytes(const struct by_checkpoint *checkpoint,
                                   const struct by_stored_tensor *tensor);
/* Bytes of a tensor that are read next. */
void by_checkpoint_need(const struct by_checkpoint *checkpoint,
                        const struct by_stored_tensor *tensor, uint64_t at, uint64_t size);
/* Bytes [at, at + size) of the tensor are not wanted soon: their pages are given back. */
void by_checkpoint_done(const struct by_checkpoint *checkpoint,
                        const struct by_stored_tensor *tensor, uint64_t at, uint64_t size);
/* BARYON_ERR_CHANGED when a file changed since it was opened: ask before a result is put in place.
 */
int by_checkpoint_check(const struct by_checkpoint *checkpoint, struct baryon_error *err);
/* The product of dims[0 .. rank - 1), 1 for rank 0 and 1; and the last dimension. */
uint64_t by_stored_rows(const struct by_stored_tensor *tensor);
uint64_t by_stored_columns(const struct by_stored_tensor *tensor);
/* "[1024, 576]"; returns buf. */
const char *by_stored_shape(const struct by_stored_tensor *tensor, char *buf, size_t size);
/* A JSON file in the checkpoint's folder, of at most `most` bytes; *root NULL: there is none. */
int by_checkpoint_json(struct by_checkpoint *checkpoint, const char *name, size_t most,
                       const struct by_doc_node **root, struct baryon_error *err);

#endif
