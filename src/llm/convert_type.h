/*
 * The type of each tensor of a converted GGUF file.
 */
#ifndef BY_LLM_CONVERT_TYPE_H
#define BY_LLM_CONVERT_TYPE_H

#include "llm/convert_rows.h"
#include "llm/family/family.h"

/* A word of --type: what most tensors get, what some get that matter more. */
struct by_convert_mix {
    const char *name;
    enum by_ggml_number type;
    enum by_ggml_number more; /* for the head, and v and down of a part of the layers */
    uint32_t file_type;       /* llama.cpp's number of the mixture */
};

/* NULL: no such word; `list` gets all of them for the message. */
const struct by_convert_mix *by_convert_mix(const char *name);
void by_convert_mix_list(char *buf, size_t size);

/* What a type needs to know beside the shape. */
struct by_convert_place {
    enum by_llm_role role;
    uint64_t layer, layers;
    bool head; /* the head, or the embedding that is also the head */
};

/*
 * Sets made->type, from rank, dims and place. *fell_back: rows do not divide into blocks of the
 * wanted type, another one is taken, as llama-quantize does.
 */
void by_convert_type(struct by_made_tensor *made, const struct by_convert_mix *mix,
                     const struct by_convert_place *place, bool *fell_back);

#endif
