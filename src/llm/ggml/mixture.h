/*
 * Which type each tensor of a GGUF file gets: llama-quantize's mixtures, as a table of rules, and
 * what it falls back to where blocks do not divide a row. Pure functions of names and sizes.
 */
#ifndef BY_LLM_GGML_MIXTURE_H
#define BY_LLM_GGML_MIXTURE_H

#include "llm/ggml/types.h"

/* A mixture, by llama-quantize's name, and the number of general.file_type. */
struct by_ggml_mixture {
    const char *name; /* "Q4_K_M" */
    uint32_t file_type;
    enum by_ggml_number base; /* of what no rule is about */
};

/* Names in upper or lower case; NULL for others and past the last. */
const struct by_ggml_mixture *by_ggml_mixture_named(const char *name);
const struct by_ggml_mixture *by_ggml_mixture_at(size_t index);

/* Tensors as mixtures tell them apart, by their names in a GGUF file. */
enum by_ggml_kind {
    BY_GGML_OTHER,
    BY_GGML_OUTPUT,
    BY_GGML_TOKEN_EMBD,
    BY_GGML_ATTN_Q,
    BY_GGML_ATTN_K,
    BY_GGML_ATTN_V, /* attn_qkv and attn_kv_b too */
    BY_GGML_ATTN_OUTPUT,
    BY_GGML_FFN_UP,
    BY_GGML_FFN_GATE,
    BY_GGML_FFN_DOWN,
};

enum by_ggml_kind by_ggml_kind_of(const char *name);
/* False for vectors, norms, routers and other tensors that stay as they are. */
bool by_ggml_may_quantize(const char *name, size_t dims);

struct by_ggml_model {
    size_t layers;
    size_t attn_values; /* tensors of kind BY_GGML_ATTN_V */
    size_t experts;     /* 0 or 1: none */
    size_t heads, kv_heads;
    bool tied;       /* the embedding is the output too */
    bool falcon;     /* architecture "falcon" */
    bool is_70b;     /* 80 layers of llama (with grouped heads), qwen2, deci, olmo; 68 of jais2 */
    bool importance; /* an importance matrix is used */
};

struct by_ggml_tensor {
    const char *name;
    uint64_t width;    /* elements of a row */
    uint64_t matrices; /* more than 1: experts */
    size_t index;      /* among the tensors of its kind, in the order of layers */
    size_t layer;      /* of its name; used where there are experts */
};

/* The type of a tensor that may be quantized; *before is what the mixture wants before rows that
 * are not whole blocks make it fall back (before may be NULL). */
const struct by_ggml_type *by_ggml_choose(const struct by_ggml_mixture *mixture,
                                          const struct by_ggml_model *model,
                                          const struct by_ggml_tensor *tensor,
                                          const struct by_ggml_type **before);

/* The type itself where blocks divide the width, else a similar one of smaller blocks, else f16. */
const struct by_ggml_type *by_ggml_fallback(const struct by_ggml_type *type, uint64_t width);

#endif
