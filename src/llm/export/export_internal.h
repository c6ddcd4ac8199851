/*
 * What the parts of the export share.
 *
 *   export.c         the folder: model, configuration, tokenizer
 *   export_graph.c   the nodes of a decoder
 *   export_weight.c  its constants: integers in blocks, floats
 *   export_node.c    nodes and small constants
 *   export_genai.c   genai_config.json
 */
#ifndef BY_LLM_EXPORT_INTERNAL_H
#define BY_LLM_EXPORT_INTERNAL_H

#include "ir/graph.h"
#include "llm/decoder/decoder.h"
#include "llm/export/export.h"
#include "llm/opened.h"

#define BY_EXPORT_MICROSOFT "com.microsoft"
#define BY_EXPORT_NAME_MAX  256

struct by_export {
    const struct by_llm_export_options *options;
    struct by_llm_opened *opened;
    const struct by_decoder *decoder;
    struct by_llm_exported *result;
    struct by_pool *pool;
    struct baryon_model *model;
    struct baryon_graph *graph;
    size_t context;
    /* Values that all layers read. */
    struct baryon_value *lengths, *total; /* of keys: of each text less one, of all */
    struct baryon_value *cos[2], *sin[2]; /* as decoder->ropes */
};

/* --- Nodes: the first output, NULL after a failure --- */

/* Inputs that are NULL are left out. Node and output are called NAME. */
struct baryon_value *by_export_node(struct by_export *e, const char *op_type, const char *domain,
                                    const char *name, struct baryon_value *const *inputs,
                                    size_t count, struct baryon_error *err);
/* Operators of ONNX; an input that is NULL failed before. */
struct baryon_value *by_export_unary(struct by_export *e, const char *op_type, const char *name,
                                     struct baryon_value *in, struct baryon_error *err);
struct baryon_value *by_export_binary(struct by_export *e, const char *op_type, const char *name,
                                      struct baryon_value *a, struct baryon_value *b,
                                      struct baryon_error *err);
struct baryon_value *by_export_ints(struct by_export *e, const char *name, const int64_t *values,
                                    size_t count, struct baryon_error *err);
/* A number without dimensions. */
struct baryon_value *by_export_number(struct by_export *e, const char *name, double value,
                                      struct baryon_error *err);
/* Zeros that the caller fills at by_export_room(). */
struct baryon_value *by_export_constant(struct by_export *e, const char *name, int64_t elem,
                                        const int64_t *dims, size_t rank, struct baryon_error *err);
static inline uint8_t *by_export_room(const struct baryon_value *value)
{
    return (uint8_t *)(uintptr_t)value->initializer->raw_data.data;
}

/* --- Weights --- */

/* A vector as float32, each value more by `add`. */
struct baryon_value *by_export_vector(struct by_export *e, const struct by_llm_weight *weight,
                                      const char *name, float add, struct baryon_error *err);
/* A matrix [rows, columns] of the type that it is stored as: float32, float16 or bfloat16. */
struct baryon_value *by_export_matrix(struct by_export *e, const struct by_llm_weight *weight,
                                      const char *name, struct baryon_error *err);
/* in * weight' + bias. */
struct baryon_value *by_export_linear(struct by_export *e, const struct by_decoder_place *place,
                                      const char *name, struct baryon_value *in,
                                      struct baryon_error *err);
/* The same of a matrix that is a constant already. */
struct baryon_value *by_export_product(struct by_export *e, struct baryon_value *matrix,
                                       const char *name, struct baryon_value *in,
                                       struct baryon_error *err);

/* --- Whole --- */

int by_export_graph(struct by_export *e, struct baryon_error *err);
int by_export_genai(const struct by_export *e, struct by_str *text, struct baryon_error *err);

#endif
