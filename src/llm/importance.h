/*
 * Importance matrices as llama-imatrix writes them: for each tensor of a GGUF file the mean square
 * of what each of its columns is multiplied with, for experts one after the other. Today's form is
 * a GGUF file, the older one (.dat) a list of names and numbers.
 */
#ifndef BY_LLM_IMPORTANCE_H
#define BY_LLM_IMPORTANCE_H

#include "base/hash.h"
#include "base/map.h"

struct by_llm_weighting {
    const char *name; /* of the tensor, "blk.0.attn_q.weight" */
    const float *values;
    uint64_t count;
    bool used;
};

struct by_llm_importance {
    struct by_llm_weighting *at;
    size_t count;
    struct by_map by_name;
    const char *path;    /* as it was given */
    const char *dataset; /* NULL: not known */
    uint64_t chunks;     /* of text; 0: not known */
    struct by_hash128 content;
    struct by_arena arena;
};

/* Refuses what is cut off, names twice, counts that do not fit, and values that are not finite or
 * below 0. */
int by_llm_importance_open(struct by_llm_importance **importance, const char *path,
                           struct baryon_error *err);
/* NULL: the tensor has none. */
struct by_llm_weighting *by_llm_importance_find(const struct by_llm_importance *importance,
                                                const char *name);
void by_llm_importance_close(struct by_llm_importance *importance);

#endif
