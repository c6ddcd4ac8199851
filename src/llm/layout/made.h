/*
 * Tensors of a converted checkpoint: where their rows come from and what is done to
 * them. Values are made slab by slab, by all threads, in the order of the file.
 */
#ifndef BY_LLM_MADE_H
#define BY_LLM_MADE_H

#include "base/par.h"
#include "llm/ggml/codec.h"
#include "llm/store/checkpoint.h"

struct by_llm_source;
struct by_llm_weight;

struct by_made_tensor {
    const char *name;
    size_t rank;
    uint64_t dims[BY_STORED_RANK_MAX]; /* outermost first */
    const struct by_ggml_type *type;
    const struct by_stored_tensor **parts; /* stacked one after the other; NULL: values */
    size_t part_count;
    /* Of parts that are quantized, or in a stack, or in another container: their weights, whose
     * rows are floats; NULL: none is such. */
    const struct by_llm_weight **weights;
    const struct by_llm_source *source; /* of weights */
    uint64_t first_row;                 /* of the only part, where a stack is taken apart */
    const float *values;                /* instead of parts */
    uint64_t heads;                     /* rows of q and k change their order; 0: they do not */
    bool back;                          /* from GGUF's order to that of safetensors */
    float add;                          /* to each value */
    /* Of each column of each matrix of a stack, for types that weigh errors; NULL: none. */
    const float *importance;
};

/* What was lost of the values of a part. */
struct by_made_errors {
    double energy, error; /* sums of squares: of the values, of what they differ from the blocks */
};

struct by_made_list {
    struct by_made_tensor *at;
    size_t count, cap;
};

uint64_t by_made_rows(const struct by_made_tensor *made);
uint64_t by_made_width(const struct by_made_tensor *made);
uint64_t by_made_bytes(const struct by_made_tensor *made);
/* Takes the bytes of a tensor in order. */
typedef int by_made_sink(void *context, const uint8_t *bytes, size_t size,
                         struct baryon_error *err);
/* Rows [first, first + count) as floats, of a vector all of it; those of its values as they are in
 * the file where nothing is added. */
int by_made_floats(const struct by_made_tensor *made, const struct by_checkpoint *checkpoint,
                   uint64_t first, uint64_t count, float *out, struct baryon_error *err);
/* Refuses sources that cannot be decoded, and shapes that do not fit. */
int by_made_check(const struct by_made_tensor *made, struct baryon_error *err);
/* errors: of each part, or of the values; NULL: nobody asks. */
int by_made_write(const struct by_made_tensor *made, const struct by_checkpoint *checkpoint,
                  struct by_pool *pool, by_made_sink *sink, void *context,
                  struct by_made_errors *errors, struct baryon_error *err);

#endif
