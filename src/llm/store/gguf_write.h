/*
 * Writes GGUF files: metadata that is put together first, tensors declared in their order, their
 * bytes in any order and from any thread. The file gets its name when it is whole.
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
    unsigned flags; /* of by_writer_open() */
};

struct by_gguf_writer;

int by_gguf_create(struct by_gguf_writer **writer, const struct by_gguf_plan *plan,
                   struct baryon_error *err);
int by_gguf_add(struct by_gguf_writer *writer, size_t tensor, uint64_t at, const void *bytes,
                size_t size, struct baryon_error *err);
int by_gguf_copy(struct by_gguf_writer *writer, size_t tensor,
                 const struct by_checkpoint *checkpoint, const struct by_stored_tensor *source,
                 struct baryon_error *err);
/* Bytes that were not put are zeros. */
int by_gguf_finish(struct by_gguf_writer *writer, struct baryon_error *err);
void by_gguf_abort(struct by_gguf_writer *writer);

#endif
