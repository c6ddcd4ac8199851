/*
 * Quantization schemes of language models: which type weights and inputs of linear layers get, and
 * which scales. A scheme is a row; to add one, a row in schemes.c.
 */
#ifndef BY_LLM_SCHEME_H
#define BY_LLM_SCHEME_H

#include "dtype/dtype.h"

/* How many values of a weight [out, in] share a scale. */
enum by_llm_grain {
    BY_LLM_TENSOR,
    BY_LLM_CHANNEL, /* a row: one output */
    BY_LLM_GROUP,   /* neighbours in a row */
};

enum by_llm_scale_type {
    BY_LLM_SCALE_NONE,  /* a cast, or a block format of dtype */
    BY_LLM_SCALE_MODEL, /* a float of the type that the layout wants */
    BY_LLM_SCALE_F32,
    BY_LLM_SCALE_E8M0,
    BY_LLM_SCALE_E4M3,
    BY_LLM_SCALE_E5M3, /* unsigned */
};

struct by_llm_spec {
    const struct by_dtype *dtype; /* NULL: not quantized */
    enum by_llm_grain grain;
    size_t group; /* of BY_LLM_GROUP */
    enum by_llm_scale_type scale;
    bool asymmetric; /* has a zero point */
    bool global;     /* scales of groups are multiples of a float32 scale of the tensor */
    bool dynamic;    /* of inputs: scales are found while the model runs */
    bool over_fp8;   /* the weights are rounded to fp8_e4m3 with a scale of the tensor first */
};

struct by_llm_scheme {
    const char *name, *alias; /* alias NULL: none */
    const char *help;
    struct by_llm_spec weight, input;
};

/* What keys and values are kept as. */
enum by_llm_kept { BY_LLM_KEPT_FLOAT, BY_LLM_KEPT_FP8, BY_LLM_KEPT_INT8 };
/* NULL: floats. */
const struct by_dtype *by_llm_kept_type(enum by_llm_kept kept);

const struct by_llm_scheme *by_llm_schemes(size_t *count);
/* By name or alias; when it is unknown, err names the nearest. */
const struct by_llm_scheme *by_llm_scheme_find(const char *name, struct baryon_error *err);

/* Formats that only occur here: no row of by_dtypes(). */
extern const struct by_dtype by_llm_int3, by_llm_fp8_e5m3;

bool by_llm_spec_is_int(const struct by_llm_spec *spec);
/* Elements are multiples of a scale that the group, row or tensor has. */
bool by_llm_spec_is_scaled(const struct by_llm_spec *spec);
/* Bits of a weight with its share of scales and zero points; scale_bits: of a scale of type
 * BY_LLM_SCALE_MODEL. */
double by_llm_spec_bits(const struct by_llm_spec *spec, size_t columns, unsigned scale_bits);

#endif
