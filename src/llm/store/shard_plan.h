/*
 * Which tensor is where in a folder of safetensors files that will be written.
 */
#ifndef BY_LLM_STORE_SHARD_PLAN_H
#define BY_LLM_STORE_SHARD_PLAN_H

#include "base/str.h"
#include "llm/store/safetensors_write.h"

struct by_shard {
    char name[64];
    size_t first, count; /* in by_shard_plan.order */
    uint64_t bytes;      /* of tensors */
};

struct by_shard_plan {
    struct by_shard *shards;
    size_t shard_count;
    size_t *order;    /* of the tensors, file by file, as they lie there */
    size_t *shard_of; /* each tensor */
    uint64_t *offset; /* each tensor, from the first one's place in its file */
    uint64_t *bytes;  /* each tensor */
    uint64_t total;
};

int by_shard_plan_make(struct by_shard_plan *shards, const struct by_safetensors_plan *plan,
                       struct baryon_error *err);
void by_shard_plan_release(struct by_shard_plan *shards);
/* Length and JSON, padded to 8 bytes. */
int by_shard_header(struct by_str *header, const struct by_shard_plan *shards, size_t shard,
                    const struct by_safetensors_plan *plan, struct baryon_error *err);
/* model.safetensors.index.json as transformers writes it. */
int by_shard_index(struct by_str *index, const struct by_shard_plan *shards,
                   const struct by_safetensors_plan *plan, struct baryon_error *err);

#endif
