/* Parts of the usual forms, for the lists of layouts. */
#ifndef BY_LLM_FIELDS_H
#define BY_LLM_FIELDS_H

#include "llm/layout/layout.h"

extern const struct by_llm_layout by_llm_layout_quark, by_llm_layout_compressed, by_llm_layout_awq,
    by_llm_layout_gptq, by_llm_layout_fp8, by_llm_layout_json, by_llm_layout_gguf;

/* The order of AWQ's kernels. */
extern const uint8_t by_llm_awq_order[8];

struct by_llm_field *by_llm_field_add(struct by_llm_fields *fields, const char *suffix,
                                      enum by_llm_field_kind kind, int64_t elem);
/* Codes, scales or zero points in words of a form. */
struct by_llm_field *by_llm_field_words(struct by_llm_fields *fields, const char *suffix,
                                        enum by_llm_field_kind kind, int64_t elem,
                                        const struct by_llm_form *form);
/* One value; rank 0 or 1. */
struct by_llm_field *by_llm_field_scalar(struct by_llm_fields *fields, const char *suffix,
                                         int64_t elem, size_t rank);
/* Scales of a tensor as a matrix [rows, groups] or, turned, [groups, rows]. */
struct by_llm_field *by_llm_field_scales(struct by_llm_fields *fields, const char *suffix,
                                         int64_t elem, const struct by_llm_tensor *tensor,
                                         size_t rows, bool turned);
/* The element type that scales of a spec are stored as. */
int64_t by_llm_scale_elem(const struct by_llm_tensor *tensor);
/* Fills in the bytes of all; refuses sizes beyond memory. */
int by_llm_fields_size(struct by_llm_fields *fields, struct baryon_error *err);

/* The scale of static inputs, where the tensor has them; rank 0 or 1. */
void by_llm_field_input(struct by_llm_fields *fields, const struct by_llm_tensor *tensor,
                        const char *suffix, size_t rank);
/* A value of a file: float32, fp16 or bf16. */
float by_llm_load_float(int64_t elem, const uint8_t *at);

int by_llm_layout_refuse(const char *layout, const struct by_llm_scheme *scheme,
                         const char *accepted, struct baryon_error *err);
/* "key": ["a", "b"] */
void by_llm_config_names(struct by_json *json, const char *key, const char *const *names,
                         size_t count);

#endif
