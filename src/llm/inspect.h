/*
 * What is in a checkpoint: architecture, parameters, bytes by kind and by type, the scheme if it is
 * quantized, and what a quantizer would take.
 */
#ifndef BY_LLM_INSPECT_H
#define BY_LLM_INSPECT_H

#include "base/json.h"
#include "llm/family/family.h"
#include "llm/store/checkpoint.h"

/* Tensors that have something in common. */
struct by_llm_total {
    const char *name;
    size_t tensors;
    uint64_t parameters, bytes;
};

struct by_llm_totals {
    struct by_llm_total *at; /* most bytes first */
    size_t count, cap;
};

struct by_llm_summary {
    struct by_family family;
    const char *architecture; /* of config.json or of the GGUF file; "" */
    const char *method;       /* "quark", "awq", "block fp8", "gguf"; NULL: not quantized */
    char scheme[96];          /* "4 bits, groups of 128"; "" */
    struct by_llm_total all;
    struct by_llm_totals kinds, types;
    struct by_llm_total linear; /* what a quantizer would take */
    struct by_llm_totals left;  /* other matrices, by the reason */
    unsigned code_bits;         /* of packed codes, 0: nothing is packed */
};

/* Memory comes from the checkpoint's arena. */
int by_llm_inspect(struct by_llm_summary *summary, struct by_checkpoint *checkpoint,
                   struct baryon_error *err);
/* As an object; tensors: with a list of them. */
void by_llm_summary_json(const struct by_llm_summary *summary,
                         const struct by_checkpoint *checkpoint, bool tensors,
                         struct by_json *json);
/* Values that a tensor stands for: codes may be packed in it; 0 for scales and the like. */
uint64_t by_llm_parameters(const struct by_llm_summary *summary,
                           const struct by_stored_tensor *tensor,
                           const struct by_tensor_role *role);
/* "q", "embedding", "scales", "vision". */
const char *by_llm_kind(const struct by_tensor_role *role);
/* The scheme that config.json or the tensors tell. */
void by_llm_find_scheme(struct by_llm_summary *summary, const struct by_checkpoint *checkpoint);

#endif
