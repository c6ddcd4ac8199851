/* What config.json of a quantized checkpoint says: the layout, and the spec of each layer. */
#ifndef BY_LLM_DIALECT_H
#define BY_LLM_DIALECT_H

#include "base/doc.h"
#include "llm/layout/layout.h"

struct by_llm_rule {
    const char *pattern; /* as by_llm_match() has it */
    struct by_llm_spec spec;
    const struct by_doc_node *input;    /* what it says of inputs; NULL: nothing */
    const struct by_llm_scheme *scheme; /* instead of `input`; NULL: none */
};

struct by_llm_dialect {
    const char *method;                 /* "gptq", ...; NULL: not quantized */
    const struct by_llm_layout *layout; /* NULL: blocks of fp8, stacks in MXFP4 */
    struct by_llm_spec spec;            /* dtype NULL: only layers with a rule */
    const struct by_doc_node *input;    /* as in a rule */
    const struct by_llm_scheme *scheme; /* as in a rule */
    struct by_llm_rule *rules;          /* the first that matches counts */
    size_t rule_count;
    uint64_t block[2];    /* of fp8 with a scale for each block of rows and columns; 0: none */
    bool zeros_as_stored; /* GPTQ's second format */
    bool static_inputs;   /* of our own layout */
    const struct by_dtype *cache; /* of keys and values; NULL: floats, or as the scales say */
    bool naturally;               /* Quark's int4 without reordering */
    const struct by_doc_node *rotations; /* of inputs while the model runs; see online.h */
};

/* config: of the model; NULL: there is none. */
int by_llm_dialect_read(struct by_llm_dialect *dialect, struct by_arena *arena,
                        const struct by_doc_node *config, struct baryon_error *err);
/* NULL: the layer is not quantized as far as config.json says. */
const struct by_llm_spec *by_llm_dialect_spec(const struct by_llm_dialect *dialect,
                                              const char *layer);
/* How the inputs of a quantized layer are quantized; spec->dtype NULL: they stay floats. Refuses
 * what it cannot read. */
int by_llm_dialect_input(const struct by_llm_dialect *dialect, const char *layer,
                         struct by_llm_spec *spec, struct baryon_error *err);

#endif
