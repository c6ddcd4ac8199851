/* What config.json of a quantized checkpoint says: the layout, and the spec of each layer. */
#ifndef BY_LLM_DIALECT_H
#define BY_LLM_DIALECT_H

#include "base/doc.h"
#include "llm/layout/layout.h"

struct by_llm_rule {
    const char *pattern; /* as by_llm_match() has it */
    struct by_llm_spec spec;
};

struct by_llm_dialect {
    const char *method;                 /* "gptq", ...; NULL: not quantized */
    const struct by_llm_layout *layout; /* NULL: blocks of fp8, stacks in MXFP4 */
    struct by_llm_spec spec;            /* dtype NULL: only layers with a rule */
    struct by_llm_rule *rules;          /* the first that matches counts */
    size_t rule_count;
    uint64_t block[2];    /* of fp8 with a scale for each block of rows and columns; 0: none */
    bool zeros_as_stored; /* GPTQ's second format */
    bool naturally;       /* Quark's int4 without reordering */
};

/* config: of the model; NULL: there is none. */
int by_llm_dialect_read(struct by_llm_dialect *dialect, struct by_arena *arena,
                        const struct by_doc_node *config, struct baryon_error *err);
/* NULL: the layer is not quantized as far as config.json says. */
const struct by_llm_spec *by_llm_dialect_spec(const struct by_llm_dialect *dialect,
                                              const char *layer);

#endif
