/* Baryon: quantizing a model. A part of <baryon.h>. */
#ifndef BARYON_QUANTIZE_H
#define BARYON_QUANTIZE_H

#include "calibrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Quantize
 *
 * Makes numbers of smaller types out of a model's floats. Settings are those of `baryon
 * quantize` that say what is done, not where things are written: a preset, samples or
 * statistics, types, exclusions, rules. Rules of whole maps (nodes, op_types, tensors) are told
 * as "node", "op-type" and "tensor", or in a file that "config" names. Of "exclude-between"
 * the starts and the ends have a blank between them.
 *
 * For example:
 *
 *     const struct baryon_setting settings[] = {
 *         {"preset", "XINT8"}, {"data", "photos"}, {"prep", "imagenet"}, {"exclude", "head"}};
 *     if (baryon_model_load(&model, "model.onnx", NULL, &err) ||
 *         baryon_quantize(model, settings, 4, NULL, NULL, &err) ||
 *         baryon_model_save(model, "model_int8.onnx", NULL, &err))
 *         return -1;
 */
struct baryon_quantize_options {
    size_t size;
    const struct baryon_samples *samples; /* instead of the settings data and random; with rewind */
    baryon_progress_fn *progress;         /* of samples: when a stage begins, and after each */
    baryon_log_fn *log;                   /* for notices and warnings; default: nobody */
    void *context;                        /* of both */
};

/* What was done. Nodes that have nothing to quantize, such as Shape, count as neither. */
struct baryon_quantize_summary {
    size_t size; /* set by the caller, as in options */
    uint64_t quantized_nodes, float_nodes;
    /* With the mean sizes of the samples; what stays open counts as 1. */
    double multiply_adds, quantized_multiply_adds;
    uint64_t samples; /* that ranges were taken from */
    double seconds;
};

/* The model becomes the quantized one; what was asked of it before (nodes, values) may be gone.
 * One that it failed on is good for nothing but being freed. summary may be NULL. */
BARYON_API int baryon_quantize(struct baryon_model *model, const struct baryon_setting *settings,
                               size_t count, const struct baryon_quantize_options *options,
                               struct baryon_quantize_summary *summary, struct baryon_error *err);
/* Loads the file for this alone, and writes the result to out as baryon_model_save() does. */
BARYON_API int baryon_quantize_file(const char *path, const char *out,
                                    const struct baryon_setting *settings, size_t count,
                                    const struct baryon_quantize_options *options,
                                    struct baryon_quantize_summary *summary,
                                    struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
