/*
 * Which tensor is where in a GGUF file that will be written, or in its parts, and their headers.
 */
#ifndef BY_LLM_STORE_GGUF_SPLIT_H
#define BY_LLM_STORE_GGUF_SPLIT_H

#include "llm/store/gguf_write.h"

/* More do not fit into the numbers of a part. */
#define BY_GGUF_PARTS_MAX 65535u

struct by_gguf_file {
    size_t first, count; /* tensors */
    struct by_str header;
    uint64_t size; /* of the file */
};

struct by_gguf_split {
    struct by_gguf_file *files;
    size_t file_count;
    size_t *file_of; /* each tensor */
    uint64_t *place; /* each tensor: offset in its file */
    uint64_t *bytes; /* each tensor */
    uint64_t total;  /* bytes of all tensors */
};

int by_gguf_split_make(struct by_gguf_split *split, const struct by_gguf_plan *plan,
                       struct baryon_error *err);
void by_gguf_split_release(struct by_gguf_split *split);
/* The name of a file, from that of the output: "m.gguf", or "m-00002-of-00003.gguf". */
int by_gguf_split_name(const struct by_gguf_split *split, size_t file, const char *output,
                       char *buf, size_t size, struct baryon_error *err);

#endif
