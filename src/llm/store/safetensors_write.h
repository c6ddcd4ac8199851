/*
 * Writes a folder of safetensors files, or a single file, from tensors that are declared first.
 *
 * The bytes of the tensors come in any order and from any thread, each byte once. A shard gets its
 * name when it is whole and on the disk. A folder is made beside its place as OUT.part and gets its
 * name in by_safetensors_finish(), when all shards and the index are there: a half folder is never
 * taken for a whole one. What a killed run left of it goes on when key is the same: tensors of
 * shards that are whole need not come again.
 */
#ifndef BY_LLM_STORE_SAFETENSORS_WRITE_H
#define BY_LLM_STORE_SAFETENSORS_WRITE_H

#include "base/hash.h"
#include "llm/store/checkpoint.h"

struct by_new_tensor {
    const char *name;
    const struct by_stored_type *type; /* one of safetensors */
    size_t rank;
    uint64_t dims[BY_STORED_RANK_MAX];
};

struct by_safetensors_plan {
    const char *path; /* of the folder; a name that ends with .safetensors: of a single file */
    const struct by_new_tensor *tensors; /* not owned, needed until the end, as are the names */
    size_t count;
    uint64_t
        shard_bytes; /* a file has at most so many bytes of tensors, or one; 0: a single file */
    /* Tensors stay in this order inside a file; else as the safetensors library sorts them. Which
     * file has which follows from this order in both cases. */
    bool keep_order;
    const struct by_stored_note *notes; /* `__metadata__`; needed until the end */
    size_t note_count;
    struct by_hash128 key; /* of everything that the bytes depend on */
    unsigned flags;        /* of by_writer_open() */
};

#define BY_SHARD_BYTES ((uint64_t)5000000000)

struct by_safetensors_writer;

/* Refuses a folder that is not empty. */
int by_safetensors_create(struct by_safetensors_writer **writer,
                          const struct by_safetensors_plan *plan, struct baryon_error *err);
/* The folder that other files (config.json) are written to before the end. */
const char *by_safetensors_folder(const struct by_safetensors_writer *writer);
/* True: an earlier run has written it, nothing is to be put. */
bool by_safetensors_has(const struct by_safetensors_writer *writer, size_t tensor);
/* Bytes [at, at + size) of tensors[tensor]. */
int by_safetensors_put(struct by_safetensors_writer *writer, size_t tensor, uint64_t at,
                       const void *bytes, size_t size, struct baryon_error *err);
/* The whole tensor as it is in a checkpoint, without a way through memory where that can be. */
int by_safetensors_copy(struct by_safetensors_writer *writer, size_t tensor,
                        const struct by_checkpoint *checkpoint,
                        const struct by_stored_tensor *source, struct baryon_error *err);
/* Much of a shard that is not whole goes to the disk meanwhile. Any thread. */
void by_safetensors_push(struct by_safetensors_writer *writer);
/* All bytes were put: index, names. */
int by_safetensors_finish(struct by_safetensors_writer *writer, struct baryon_error *err);
/* Without by_safetensors_finish() whole shards stay for the next run. NULL is fine. */
void by_safetensors_abort(struct by_safetensors_writer *writer);

/* Names in OUT.part while it grows. */
#define BY_PART_SUFFIX   ".part"
#define BY_PART_JOURNAL  ".baryon-shards"
#define BY_LAYER_JOURNAL ".baryon-layers" /* of whoever solves layers */

#endif
