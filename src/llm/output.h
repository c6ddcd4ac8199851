/*
 * The folder that a quantization or its reversal writes: tensors by a thread of its own while the
 * next ones are computed, config.json, and the files beside the weights.
 */
#ifndef BY_LLM_OUTPUT_H
#define BY_LLM_OUTPUT_H

#include "base/thread.h"
#include "llm/opened.h"
#include "llm/quantize.h"
#include "llm/store/safetensors_write.h"

/* Bytes of one tensor, or of several that were computed together. */
struct by_llm_bundle {
    size_t first, count;               /* tensors of the plan */
    uint64_t at;                       /* of the first byte; 0 where whole tensors are written */
    uint8_t *bytes[BY_LLM_FIELDS_MAX]; /* from by_alloc(); NULL: they are written already */
    size_t sizes[BY_LLM_FIELDS_MAX];
    const struct by_checkpoint *checkpoint; /* that `copied` is in */
    const struct by_stored_tensor *copied;  /* instead of bytes; NULL: none */
};

/* Memory of a bundle that was written, for the next one: its pages need not be given again. */
struct by_llm_room {
    uint8_t *bytes; /* NULL: none */
    size_t size;
};

struct by_llm_output {
    struct by_safetensors_writer *writer;
    struct by_new_tensor *tensors;
    size_t count;
    struct by_task task; /* that writes `bundle` */
    struct by_llm_bundle bundle;
    struct by_llm_room rooms[BY_LLM_FIELDS_MAX];
};

/* Adds a tensor to the list; there is room. */
int by_llm_output_declare(struct by_llm_output *output, struct by_arena *arena, const char *layer,
                          const char *suffix, int64_t elem, size_t rank, const uint64_t *dims,
                          struct baryon_error *err);
int by_llm_output_open(struct by_llm_output *output, const char *path, uint64_t shard_bytes,
                       struct by_hash128 key, struct baryon_error *err);
/* Zeros for a bundle; by_free() where it is not put. NULL when memory ends. */
uint8_t *by_llm_output_room(struct by_llm_output *output, size_t size, struct baryon_error *err);
/* Takes over the bytes of the bundle, also when it fails. */
int by_llm_output_put(struct by_llm_output *output, const struct by_llm_bundle *bundle,
                      struct baryon_error *err);
/* A tensor as it is. */
int by_llm_output_copy(struct by_llm_output *output, size_t tensor,
                       const struct by_checkpoint *checkpoint,
                       const struct by_stored_tensor *stored, struct baryon_error *err);
/* A weight as floats of type `elem`, slab by slab. */
int by_llm_write_floats(struct by_llm_output *output, const struct by_llm_source *source,
                        const struct by_llm_weight *weight, size_t tensor, struct by_pool *pool,
                        int64_t elem, struct baryon_error *err);
/* Waits for what is being written. */
int by_llm_output_wait(struct by_llm_output *output, struct baryon_error *err);
void by_llm_output_close(struct by_llm_output *output);

/* config.json with another quantization_config (JSON; NULL: none), and all other files. */
int by_llm_write_beside(const char *folder, const struct by_llm_opened *opened,
                        const char *quantization, struct baryon_error *err);
/* Of names, shapes, sizes and times of the source and of a text that names all options. */
int by_llm_output_key(const struct by_checkpoint *checkpoint, const char *options,
                      struct by_hash128 *key, struct baryon_error *err);

#endif
