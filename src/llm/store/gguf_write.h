/*
 * Writes GGUF files, whole or in parts: metadata that is put together first, tensors declared in
 * their order, their bytes in any order and from any thread. Files grow in a folder beside,
 * OUT.part, and get their names when all are whole. What a killed run left there goes on when key
 * and headers are the same: tensors that are on the disk need not come again.
 */
#ifndef BY_LLM_STORE_GGUF_WRITE_H
#define BY_LLM_STORE_GGUF_WRITE_H

#include "base/str.h"
#include "llm/store/checkpoint.h"
#include "llm/store/safetensors_write.h"

/* Metadata as it grows; texts and arrays are copied into the arena. */
struct by_gguf_build {
    struct by_arena *arena; /* not owned */
    struct by_gguf_pair *at;
    size_t count, cap;
};

/* A key that is there gets the new value and keeps its place. */
int by_gguf_put(struct by_gguf_build *build, const char *key, const struct by_gguf_value *value,
                struct baryon_error *err);
int by_gguf_put_text(struct by_gguf_build *build, const char *key, const char *text, size_t size,
                     struct baryon_error *err);
int by_gguf_put_u32(struct by_gguf_build *build, const char *key, uint32_t value,
                    struct baryon_error *err);
int by_gguf_put_f32(struct by_gguf_build *build, const char *key, float value,
                    struct baryon_error *err);
int by_gguf_put_bool(struct by_gguf_build *build, const char *key, bool value,
                     struct baryon_error *err);
/* elements: count encoded values, by by_gguf_encode(). */
int by_gguf_put_array(struct by_gguf_build *build, const char *key, enum by_gguf_type type,
                      uint64_t count, const struct by_str *elements, struct baryon_error *err);
/* A value without its type, as it stands in a file; an element of an array. */
void by_gguf_encode(struct by_str *out, const struct by_gguf_value *value);

struct by_gguf_plan {
    const char *path;
    uint32_t version;                 /* 0: 3 */
    const struct by_gguf_pair *pairs; /* general.alignment among them counts */
    size_t pair_count;
    const struct by_new_tensor *tensors; /* dims outermost first; needed until the end */
    size_t count;
    /* A file has at most so many bytes of tensors, or one; there are parts (m-00001-of-00003.gguf)
     * where that takes several. 0: a single file. */
    uint64_t shard_bytes;
    struct by_hash128 key; /* of everything that the bytes of tensors depend on */
    unsigned flags;        /* of by_writer_open() */
};

struct by_gguf_writer;

int by_gguf_create(struct by_gguf_writer **writer, const struct by_gguf_plan *plan,
                   struct baryon_error *err);
/* OUT.part, where files grow. */
const char *by_gguf_folder(const struct by_gguf_writer *writer);
/* True: an earlier run has written it, nothing is to be put. */
bool by_gguf_has(const struct by_gguf_writer *writer, size_t tensor);
/* Each byte once. */
int by_gguf_add(struct by_gguf_writer *writer, size_t tensor, uint64_t at, const void *bytes,
                size_t size, struct baryon_error *err);
int by_gguf_copy(struct by_gguf_writer *writer, size_t tensor,
                 const struct by_checkpoint *checkpoint, const struct by_stored_tensor *source,
                 struct baryon_error *err);
/* All bytes were put: the names. Of parts the first comes last, since it names the others. */
int by_gguf_finish(struct by_gguf_writer *writer, struct baryon_error *err);
/* Without by_gguf_finish() whole tensors stay for the next run. NULL is fine. */
void by_gguf_abort(struct by_gguf_writer *writer);

/* In OUT.part while it grows; goes with the folder, as BY_LAYER_JOURNAL does. */
#define BY_GGUF_JOURNAL ".baryon-tensors"

#endif
