/*
 * Types of stored tensors: plain elements and blocks of elements, of safetensors and GGUF in one
 * table.
 */
#ifndef BY_LLM_STORE_TYPES_H
#define BY_LLM_STORE_TYPES_H

#include "array/elem.h"

struct by_stored_type {
    const char *name;  /* "BF16", "Q4_K"; the word of the container */
    enum by_elem elem; /* BY_ELEM_UNDEFINED: blocks with a layout of their own */
    unsigned block;    /* elements that lie together, 1: plain ones of whole bytes */
    unsigned bytes;    /* of a block */
    int ggml;          /* number in GGUF files, -1: none */
    bool safetensors;  /* a dtype of safetensors files */
};

/* Rows in the order of the table; NULL ends it. */
const struct by_stored_type *by_stored_type_at(size_t index);
/* NULL: no such type there. */
const struct by_stored_type *by_stored_type_by_name(const char *name);
const struct by_stored_type *by_stored_type_by_ggml(uint32_t number);
const struct by_stored_type *by_stored_type_by_elem(enum by_elem elem);
double by_stored_bits(const struct by_stored_type *type);
/* Bytes of so many elements; false: they do not fill whole blocks, or the number overflows. */
bool by_stored_bytes(const struct by_stored_type *type, uint64_t elements, uint64_t *bytes);

#endif
