/*
 * GGUF's architectures: which model becomes which, names of tensors both ways, and
 * what is done to values on the way. Metadata from config.json and back.
 */
#ifndef BY_LLM_ARCH_H
#define BY_LLM_ARCH_H

#include "llm/family/family.h"
#include "llm/family/meta.h"

#include "base/str.h"

/* Which rows of the table of names an architecture uses. */
enum by_gguf_style {
    BY_STYLE_PLAIN = 1,    /* separate gate and up, a norm before each half */
    BY_STYLE_FUSED = 2,    /* qkv_proj and gate_up_proj */
    BY_STYLE_SANDWICH = 4, /* norms before and after each half */
    BY_STYLE_MIXTRAL = 8,  /* block_sparse_moe */
    BY_STYLE_MOE = 16,     /* mlp.experts */
};

struct by_gguf_arch {
    const char *name;         /* general.architecture */
    const char *models;       /* words: the model_type of config.json that become this */
    const char *model_type;   /* what it becomes in config.json */
    const char *architecture; /* class of transformers */
    unsigned styles;
    bool permute;  /* rows of q and k are in another order: pairs of rotary embeddings */
    bool plus_one; /* norms are stored less one in safetensors */
};

/* NULL: none. The second finds the row by GGUF's name; experts tells Mixtral from Llama. */
const struct by_gguf_arch *by_gguf_arch_of_model(const char *model_type);
const struct by_gguf_arch *by_gguf_arch_named(const char *name, bool experts);
/* All names, for messages. */
void by_gguf_arch_list(char *buf, size_t size);

#define BY_ARCH_NAME_MAX 128

/*
 * The name of a tensor in the other container. `expert` is -1 or the number of a single expert,
 * whose tensors are stacked in GGUF. False: no row has it.
 */
bool by_gguf_name_of(const struct by_gguf_arch *arch, const char *name, char out[BY_ARCH_NAME_MAX],
                     int64_t *expert);
bool by_gguf_name_back(const struct by_gguf_arch *arch, const char *name, int64_t expert,
                       char out[BY_ARCH_NAME_MAX]);
/* A stack of experts by its name in GGUF. */
bool by_gguf_name_is_stack(const char *name);

/*
 * Row r of a matrix of q or k in GGUF is this row in safetensors; heads divide the rows.
 * by_gguf_row_back() is its inverse.
 */
uint64_t by_gguf_row_of(uint64_t row, uint64_t rows, uint64_t heads);
uint64_t by_gguf_row_back(uint64_t row, uint64_t rows, uint64_t heads);

/* Keys of the architecture from the decoder's part of config.json. */
int by_meta_of_config(struct by_meta *meta, const struct by_gguf_arch *arch,
                      const struct by_doc_node *config, struct baryon_error *err);
/*
 * config.json of a GGUF file. type: "bfloat16" or "float32"; tied: it has no output.weight;
 * bias: attn_q has one; factors: rope_freqs.weight, count of them, or NULL.
 */
struct by_config_facts {
    const char *type;
    bool tied, bias;
    uint64_t vocab;
    const float *factors;
    size_t count;
};
int by_config_of_meta(struct by_str *out, const struct by_meta *meta,
                      const struct by_gguf_arch *arch, const struct by_config_facts *facts,
                      struct baryon_error *err);

/*
 * Factors by which rotary frequencies are divided (rope_freqs.weight), Llama 3's scaling.
 * count 0: config.json has no such scaling. They live in the arena.
 */
int by_rope_factors(struct by_arena *arena, const struct by_doc_node *config, const float **factors,
                    size_t *count, struct baryon_error *err);
/* Lists of Phi-3's long contexts: "long_factor", "short_factor". */
int by_rope_list(struct by_arena *arena, const struct by_doc_node *config, const char *key,
                 const float **factors, size_t *count, struct baryon_error *err);

#endif
