/*
 * A checkpoint as if it were not quantized: each weight as rows of floats, whatever layout it has.
 * Codes mean exactly what their layout says.
 */
#ifndef BY_LLM_SOURCE_H
#define BY_LLM_SOURCE_H

#include "llm/layout/dialect.h"
#include "llm/layout/made.h"
#include "llm/scheme/input.h"

enum by_llm_stored_as {
    BY_LLM_AS_FLOATS,
    BY_LLM_AS_OTHER,  /* integers and such that are no weights */
    BY_LLM_AS_CODES,  /* of a layout */
    BY_LLM_AS_BLOCKS, /* fp8 with a scale for each block of rows and columns */
    BY_LLM_AS_STACK,  /* experts in one tensor: see struct by_llm_stack */
    BY_LLM_AS_GGML,   /* blocks of a GGUF file, under the file's names */
    BY_LLM_AS_MADE,   /* of a GGUF file, under the names of a folder */
    BY_LLM_AS_EDITED, /* changed on the way: see struct by_llm_edit */
};

/*
 * Matrices that lie after each other in one tensor [experts, rows, columns] of floats, or in
 * MXFP4's blocks [experts, rows, groups, 16] beside scales [experts, rows, groups]. The weight is
 * some rows of some of these matrices, or of their transposes.
 */
struct by_llm_stack {
    size_t rows, columns; /* of a matrix as it is stored */
    bool turned;          /* the weight's rows are its columns */
    size_t expert;        /* the first one */
    size_t low, count;    /* rows of each that belong to the weight, after turning */
};

struct by_llm_edit;
struct by_llm_online_matrix;
struct by_llm_source;
struct by_rotation;

struct by_llm_weight {
    const char *name;  /* that of a checkpoint that is not quantized */
    const char *layer; /* without ".weight"; the same as name where that is no end of it */
    enum by_llm_stored_as as;
    size_t rank;
    uint64_t dims[BY_STORED_RANK_MAX];     /* of the floats */
    size_t rows, columns;                  /* all but the last dimension, the last */
    const struct by_stored_tensor *stored; /* the tensor, or that of the codes */
    struct by_llm_tensor tensor;           /* of codes */
    struct by_llm_fields fields;
    const struct by_stored_tensor *parts[BY_LLM_FIELDS_MAX]; /* NULL: not there */
    const struct by_stored_tensor *scales;                   /* of blocks, of a stack in MXFP4 */
    struct by_llm_stack stack;
    const struct by_made_tensor *made;
    const struct by_llm_edit *edit;
    /* Inputs are multiplied by it before, block by block; NULL: they are not. */
    const struct by_rotation *rotation;
};

/* What rows of a weight become; part of a greater struct of whoever edits. */
struct by_llm_edit {
    int (*rows)(const struct by_llm_edit *edit, const struct by_llm_source *source, size_t first,
                size_t count, float *out, struct baryon_error *err);
    struct by_llm_weight from; /* as it was */
};

struct by_llm_source {
    const struct by_checkpoint *checkpoint;
    struct by_llm_dialect dialect;
    struct by_llm_weight *weights; /* in the order of the files */
    size_t count;
    struct by_arena arena;
    struct by_llm_online_matrix *rotations; /* those of weights */
};

/* What becomes of stacked experts. */
enum by_llm_stacks {
    BY_LLM_STACKS_KEEP,  /* they are one weight of three dimensions */
    BY_LLM_STACKS_SPLIT, /* each expert has weights of its own, [outputs, inputs] */
};

/* From now on rows of the weight are those of the edit, whose `from` is filled; both stay where
 * they are. */
void by_llm_source_edit(struct by_llm_weight *weight, struct by_llm_edit *edit);
int by_llm_source_open(struct by_llm_source *source, const struct by_checkpoint *checkpoint,
                       enum by_llm_stacks stacks, struct baryon_error *err);
/* Of a GGUF file under the names of a folder; the list stays where it is. */
int by_llm_source_of_made(struct by_llm_source *source, const struct by_checkpoint *checkpoint,
                          const struct by_made_list *made, struct baryon_error *err);
void by_llm_source_close(struct by_llm_source *source);
/* Rows [first, first + count) as floats; `first` of codes is a multiple of BY_LLM_ROWS_STEP.
 * Threads may do so at once. */
int by_llm_source_rows(const struct by_llm_source *source, const struct by_llm_weight *weight,
                       size_t first, size_t count, float *out, struct baryon_error *err);
/* All values where they are floats of 16 bits, aligned and as they are in the file; else NULL. */
const uint16_t *by_llm_source_halves(const struct by_llm_source *source,
                                     const struct by_llm_weight *weight);
/* The pages of these rows are about to be read. */
void by_llm_source_need(const struct by_llm_source *source, const struct by_llm_weight *weight,
                        size_t first, size_t count);
/* The pages of these rows are given back. */
void by_llm_source_done(const struct by_llm_source *source, const struct by_llm_weight *weight,
                        size_t first, size_t count);
/* How the inputs of a layer are quantized, with the scale where it is in the file;
 * input->spec.dtype NULL: they are floats. */
int by_llm_source_input(const struct by_llm_source *source, const struct by_llm_weight *weight,
                        struct by_llm_input *input, struct baryon_error *err);
/* How keys and values are rounded. */
struct by_llm_cache {
    struct by_llm_input keys, values; /* spec.dtype NULL: they are floats */
    bool projected;                   /* as the projections give them, before norms and positions */
};
/* keys: the weight of the keys' projection, or of all three in one. Static scales alone are known.
 */
int by_llm_source_cache(const struct by_llm_source *source, const struct by_llm_weight *keys,
                        const struct by_llm_weight *values, struct by_llm_cache *cache,
                        struct baryon_error *err);
/* The bytes that it takes in the file, with scales and the like. */
uint64_t by_llm_source_bytes(const struct by_llm_weight *weight);
/* The element type that the weight would have if it were not quantized: that of its scales or
 * bf16. */
int64_t by_llm_source_elem(const struct by_llm_weight *weight);

#endif
