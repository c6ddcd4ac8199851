/*
 * GGUF files as a layout. Their schemes are llama-quantize's mixtures, blocks hold codes and scales
 * together, and names are others: src/llm/quantize_gguf.c makes them, not the fields of a layout.
 */
#include "llm/layout/fields.h"

static int gguf_accepts(const struct by_llm_scheme *scheme, struct baryon_error *err)
{
    return by_fail(err, BARYON_ERR_USAGE, "layout gguf has no place for scheme %s", scheme->name);
}

const struct by_llm_layout by_llm_layout_gguf = {
    .name = "gguf",
    .help = "a GGUF file for llama.cpp; schemes are its types: q4_k_m, q8_0, iq4_xs",
    .accepts = gguf_accepts,
};
