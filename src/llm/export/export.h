/*
 * A decoder as an ONNX model that ONNX Runtime's processors run: MatMulNBits where weights are
 * integers, GroupQueryAttention with a cache of keys and values, and onnxruntime-genai's
 * genai_config.json beside it.
 *
 * Integers, scales and zero points are those of the checkpoint, so weights mean the same. All that
 * is computed is float32.
 */
#ifndef BY_LLM_EXPORT_H
#define BY_LLM_EXPORT_H

#include "base/log.h"

struct by_llm_export_options {
    const char *out;        /* a folder, which is made */
    int64_t accuracy_level; /* of MatMulNBits: how it rounds what it reads; 0: not at all */
    uint64_t context;       /* tokens; 0: as many as config.json says */
    unsigned threads;
};

struct by_llm_exported {
    uint64_t packed, floats; /* linear layers of integers, and others */
    uint64_t context;
    uint64_t bytes; /* of the model and its data */
};

int by_llm_export(const char *in, const struct by_llm_export_options *options, struct by_log *log,
                  struct by_llm_exported *result, struct baryon_error *err);

#endif
