/*
 * Inputs of linear layers as a quantized model computes with them: rounded to a type and scaled
 * back. Scales and rounding are those of rows of weights.
 */
#ifndef BY_LLM_INPUT_H
#define BY_LLM_INPUT_H

#include "llm/scheme/rows.h"

struct by_llm_input {
    struct by_llm_spec spec; /* dtype NULL: floats stay as they are */
    /* That of the file, where by_llm_input_is_static(). */
    float scale;
    bool inverse; /* the scale that is stored divides */
    bool quark;   /* arithmetic of Quark 0.13 */
};

/* The scale comes from samples and is in the file. */
bool by_llm_input_is_static(const struct by_llm_spec *spec);
/* A static scale for values up to `peak`, as a file of that element type stores it. */
float by_llm_input_scale(const struct by_llm_spec *spec, bool inverse, int64_t stored, float peak);
/* Rows of tokens; in and out may be the same. Refuses NaN and infinities. */
int by_llm_input_round(const struct by_llm_input *input, const float *in, size_t rows,
                       size_t columns, float *out, struct baryon_error *err);

#endif
