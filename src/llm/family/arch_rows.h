/* Keys of GGUF beside those of config.json, used in both directions. */
#ifndef BY_LLM_ARCH_ROWS_H
#define BY_LLM_ARCH_ROWS_H

#include "llm/family/arch.h"

struct by_meta_row {
    const char *suffix; /* after "ARCHITECTURE." */
    enum by_meta_kind kind;
    const char *keys;  /* words; the first is written */
    const char *archs; /* words; NULL: all */
    bool required;
};

extern const struct by_meta_row by_meta_rows[];
extern const size_t by_meta_row_count;

/* "llama.block_count" into buf; returns it. */
const char *by_meta_key(char buf[BY_ARCH_NAME_MAX], const struct by_gguf_arch *arch,
                        const char *suffix);
/* The map of rotary parameters, of layers with full attention where there are two kinds; NULL. */
const struct by_doc_node *by_hf_rope(const struct by_doc_node *config);

#endif
