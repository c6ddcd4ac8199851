/* What the steps of lowering share. */
#ifndef BY_LOWER_INTERNAL_H
#define BY_LOWER_INTERNAL_H

#include "ir/tensor.h"
#include "quant/lower.h"

/* What stands in the graph for a row; NULL: not yet. */
struct by_lowered {
    struct baryon_value *scale, *zero;      /* of rows that own their parameters */
    struct baryon_value *integers;          /* of constants */
    struct baryon_value *first, *quantized; /* of activations: first: what reads the value itself */
};

struct by_lowering {
    struct by_quant_plan *plan;
    const struct by_recipe *recipe;
    struct baryon_model *model;
    struct baryon_graph *graph;
    struct by_pool *pool;
    const char *domain; /* of QuantizeLinear and DequantizeLinear */
    struct by_lowered *at;
    struct baryon_value *limits[BY_ELEM_COUNT][2]; /* of float types, where values are clipped */
};

int by_lower_open(struct by_lowering *lowering, struct by_quant_plan *plan, struct by_pool *pool,
                  struct baryon_error *err);
void by_lower_close(struct by_lowering *lowering);
/* "STEM_SUFFIX", free in the model; suffix "" and number 0 leave their parts out. */
const char *by_lower_name(struct by_lowering *lowering, const char *stem, const char *suffix,
                          size_t number, struct baryon_error *err);

/* --- lower_params.c --- */
/* Scale and zero point of a row, made once for all that share them. */
/* The scale alone. */
int by_lower_scale(struct by_lowering *lowering, size_t row, struct baryon_value **scale,
                   struct baryon_error *err);
int by_lower_params(struct by_lowering *lowering, size_t row, struct baryon_value **scale,
                    struct baryon_value **zero, struct baryon_error *err);
/* Integers as ONNX packs them. */
void by_lower_pack(int64_t elem, const int64_t *integers, size_t count, uint8_t *out);

/* --- lower_constant.c --- */
/* Integers of all constants, in parallel; the float ones are only read. */
int by_lower_constants(struct by_lowering *lowering, struct baryon_error *err);

/* --- lower_pair.c --- */
int by_lower_pairs(struct by_lowering *lowering, size_t row, struct baryon_error *err);

/* --- lower_fold.c --- */
/* Leaves activations out whose work a range does. */
int by_lower_folded(struct by_lowering *lowering, struct baryon_error *err);

#endif
