/* Baryon: checkpoints of language models. A part of <baryon.h>. */
#ifndef BARYON_LLM_H
#define BARYON_LLM_H

#include "calibrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Language models
 *
 * Folders of safetensors as transformers has them, and GGUF files: no model is built, one slab of a
 * tensor is in memory at a time. Settings are those of the commands `baryon llm quantize`,
 * `dequantize`, `convert` and `export`, but `out`. For example:
 *
 *     const struct baryon_setting settings[] = {{"scheme", "int4_wo_128"}, {"layout", "awq"}};
 *     if (baryon_llm_quantize("Qwen3-0.6B", "Qwen3-int4", settings, 2, NULL, NULL, &err))
 *         return -1;
 */
struct baryon_llm_options {
    size_t size;
    baryon_log_fn *log; /* for notices; default: nobody */
    void *context;
};

struct baryon_llm_summary {
    size_t size;                  /* set by the caller, as in options */
    uint64_t tensors;             /* quantized, or dequantized; converted: written; exported:
                                   * by MatMulNBits */
    uint64_t weights, others;     /* values in them, and in all others; 0 after a conversion */
    uint64_t bytes_in, bytes_out; /* of tensors */
    double signal, error;         /* sums of squares: values, and what codes are off by */
    double minmax_error;          /* the same with whole ranges; 0: there was no search */
};

BARYON_API int baryon_llm_quantize(const char *model, const char *out,
                                   const struct baryon_setting *settings, size_t count,
                                   const struct baryon_llm_options *options,
                                   struct baryon_llm_summary *summary, struct baryon_error *err);
BARYON_API int baryon_llm_dequantize(const char *model, const char *out,
                                     const struct baryon_setting *settings, size_t count,
                                     const struct baryon_llm_options *options,
                                     struct baryon_llm_summary *summary, struct baryon_error *err);
BARYON_API int baryon_llm_convert(const char *model, const char *out,
                                  const struct baryon_setting *settings, size_t count,
                                  const struct baryon_llm_options *options,
                                  struct baryon_llm_summary *summary, struct baryon_error *err);
BARYON_API int baryon_llm_export(const char *model, const char *out,
                                 const struct baryon_setting *settings, size_t count,
                                 const struct baryon_llm_options *options,
                                 struct baryon_llm_summary *summary, struct baryon_error *err);

/*
 * Types for each layer under a budget; settings are those of `baryon llm auto`, but `out`. json:
 * its report, to be freed with baryon_bytes_free(). A goal that is missed is BARYON_ERR_GOAL; the
 * model and the report are given all the same.
 */
BARYON_API int baryon_llm_auto(const char *model, const char *out,
                               const struct baryon_setting *settings, size_t count,
                               const struct baryon_llm_options *options, void **json, size_t *size,
                               struct baryon_error *err);

/*
 * Perplexity of a model on texts, and divergence from another; settings are those of `baryon llm
 * eval`: text, against. json: what it prints with --json, to be freed with baryon_bytes_free().
 */
BARYON_API int baryon_llm_evaluate(const char *model, const struct baryon_setting *settings,
                                   size_t count, const struct baryon_llm_options *options,
                                   void **json, size_t *size, struct baryon_error *err);

/* What the commands print with --json, to be freed with baryon_bytes_free(). tensors: with a list
 * of all tensors. threads 0: all processors. */
BARYON_API int baryon_llm_inspect(const char *model, bool tensors, void **json, size_t *size,
                                  struct baryon_error *err);
BARYON_API int baryon_llm_compare(const char *a, const char *b, unsigned threads, void **json,
                                  size_t *size, struct baryon_error *err);

/*
 * Weights of a checkpoint
 *
 * Names and shapes are those of the model that is not quantized. Files are mapped: a tensor is read
 * when its values are asked for.
 */
struct baryon_llm;

struct baryon_llm_weight {
    const char *name;
    const char *type;   /* of a value: "BF16", "Q4_K", "uint4", "fp4_e2m1" */
    const char *layout; /* "quark", "awq", "gguf", "mxfp4", ...; NULL: not quantized */
    int rank;
    const int64_t *dims;
    size_t rows, columns; /* of codes: all dimensions but the last, the last */
    size_t groups;        /* scales of a row; 0: codes and scales are not to be had apart */
    bool zero_points;     /* codes have them */
    size_t parts;         /* arrays that it consists of in the file */
    /* Blocks of GGUF files: values and bytes of one, float16 scales in it and the byte where they
     * begin. 0: the weight has none. */
    size_t block, block_bytes, halves, halves_at;
};

/* folder_names: of a GGUF file, weights as a folder of transformers has them: names, order of rows,
 * an expert each; otherwise as the file has them. */
BARYON_API int baryon_llm_open(struct baryon_llm **llm, const char *model, bool folder_names,
                               struct baryon_error *err);
BARYON_API void baryon_llm_close(struct baryon_llm *llm);
/* In the order of the files; NULL after the last one. */
BARYON_API const struct baryon_llm_weight *baryon_llm_weight_at(const struct baryon_llm *llm,
                                                                size_t place);
BARYON_API const struct baryon_llm_weight *baryon_llm_find(const struct baryon_llm *llm,
                                                           const char *name);
/* As they are in the file, mapped: codes first, then scales and the like. The name is that of the
 * tensor there; blocks of GGUF are bytes [rows, bytes of a row]. */
BARYON_API const struct baryon_array *baryon_llm_part(const struct baryon_llm *llm,
                                                      const char *name, size_t place);
/* All values as floats; count: how many there are. */
BARYON_API int baryon_llm_values(const struct baryon_llm *llm, const char *name, float *out,
                                 size_t count, struct baryon_error *err);
/* Codes [rows, columns]: integers as numbers, small floats as their bits. */
BARYON_API int baryon_llm_codes(const struct baryon_llm *llm, const char *name, int16_t *out,
                                size_t count, struct baryon_error *err);
/* Scales [rows, groups], what a decoded code is multiplied with; zero_points (may be NULL): what is
 * taken off an integer code first. */
BARYON_API int baryon_llm_scales(const struct baryon_llm *llm, const char *name, float *out,
                                 int32_t *zero_points, size_t count, struct baryon_error *err);
/* The group of each column: that of its place, but where a file says otherwise (GPTQ's g_idx). */
BARYON_API int baryon_llm_groups(const struct baryon_llm *llm, const char *name, int32_t *out,
                                 size_t count, struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
