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
struct baryon_plan;
struct baryon_quality;

struct baryon_quantize_options {
    size_t size;
    const struct baryon_samples *samples; /* instead of the settings data and random; with rewind */
    baryon_progress_fn *progress;         /* of samples: when a stage begins, and after each */
    baryon_log_fn *log;                   /* for notices and warnings; default: nobody */
    void *context;                        /* of both */
    struct baryon_plan **plan; /* what was decided, by baryon_plan_free(); NULL: not wanted */
    bool overwrite;            /* baryon_quantize_file() may replace the model's own file */
    /* The quality of the result on samples; free it with baryon_quality_free(). It stays NULL
     * without samples, and with the setting no-judge. NULL: not measured. */
    struct baryon_quality **quality;
};

/* What was done. Nodes that have nothing to quantize, such as Shape, count as neither. */
struct baryon_quantize_summary {
    size_t size; /* set by the caller, as in options */
    uint64_t quantized_nodes, float_nodes;
    /* With the mean sizes of the samples, without samples of a batch of 1. NaN: unknown, as other
     * sizes are open. */
    double multiply_adds, quantized_multiply_adds;
    uint64_t samples; /* that ranges were taken from */
    double seconds;
};

/* The model becomes the quantized one; what was asked of it before (nodes, values) may be gone.
 * One that it failed on is good for nothing but being freed. summary may be NULL. */
BARYON_API int baryon_quantize(struct baryon_model *model, const struct baryon_setting *settings,
                               size_t count, const struct baryon_quantize_options *options,
                               struct baryon_quantize_summary *summary, struct baryon_error *err);
/* Loads the file for this alone, and writes the result to out as baryon_model_save() does. An out
 * that is the model's own file, by whatever name, is refused unless options.overwrite. */
BARYON_API int baryon_quantize_file(const char *path, const char *out,
                                    const struct baryon_setting *settings, size_t count,
                                    const struct baryon_quantize_options *options,
                                    struct baryon_quantize_summary *summary,
                                    struct baryon_error *err);

/*
 * Plan
 *
 * What quantization decides about each node and each tensor, and why: a table, as `baryon plan`
 * shows it. It goes with a quantization (options.plan), or is made alone: baryon_plan_make() goes
 * as far as baryon_quantize() with the same settings, and the model is good for nothing but being
 * freed then. options.plan stays NULL there.
 */
BARYON_API int baryon_plan_make(struct baryon_plan **plan, struct baryon_model *model,
                                const struct baryon_setting *settings, size_t count,
                                const struct baryon_quantize_options *options,
                                struct baryon_error *err);
BARYON_API void baryon_plan_free(struct baryon_plan *plan);

/*
 * Quality
 *
 * How far the outputs of a quantized model are from those of the float model, on the samples
 * after those that calibration took ranges from (the setting limit), else on the last quarter of
 * them, or on those of the setting judge-data. More members may follow in later versions.
 */
struct baryon_quality_summary {
    const char *unmeasured; /* why there is no result; NULL: it was measured */
    uint64_t samples, first_sample;
    const char *which; /* "unseen", "seen" (by calibration), "others" (judge-data) */
    bool random;
    double worst;             /* SQNR of the worst output in dB; NaN: unknown */
    const char *cause, *next; /* under 20 dB, where known: what costs most, options to try */
    const char *text;         /* all in sentences, lines apart */
    double seconds;
};

struct baryon_quality_output {
    const char *name;
    double sqnr;               /* dB, at most 150; NaN: all values of the float model are 0 */
    double error;              /* standard error of that */
    uint64_t rows, same_class; /* of outputs that are classes: rows, and those that agree */
    uint64_t nonfinite;        /* values that are NaN or infinite after quantization alone */
    uint64_t reshaped;         /* samples of which the output has another shape */
};

BARYON_API void baryon_quality_free(struct baryon_quality *quality);
BARYON_API const struct baryon_quality_summary *
baryon_quality_summary(const struct baryon_quality *quality);
/* By place; NULL after the last one. */
BARYON_API const struct baryon_quality_output *
baryon_quality_output(const struct baryon_quality *quality, size_t place);

/* More members may follow in later versions in these structs. */
struct baryon_plan_node {
    const char *name, *op_type;
    const char *state; /* "quantized", "float" (it could be quantized), "other" */
    const char *why;
    double multiply_adds; /* 0: none, or unknown, as sizes are open */
};

struct baryon_plan_tensor {
    const char *name;
    const char *role;    /* "activation", "weight", "bias" */
    const char *type;    /* "int8, symmetric, power of two, per tensor" */
    const char *why;     /* what put it there */
    const char *remarks; /* what happened to it later, "" when nothing did */
    const char *shares;  /* the tensor whose parameters it has; NULL: its own */
    uint64_t scales;     /* how many; 0: none */
    double scale, last_scale;
    int64_t zero_point;
    double low, high; /* range of an activation; NaN: unknown */
    uint64_t readers;
};

/* Of the nodes of one operator; most multiply-adds first. */
struct baryon_plan_operator {
    const char *op_type;
    uint64_t nodes, quantized_nodes;
    double multiply_adds, quantized_multiply_adds;
    const char *activations, *weights, *biases; /* types, "int8/int16" when they differ; "": none */
};

/* What rounding reconstruction did. A layer that is better with nearest rounding keeps that, and so
 * do all where the whole model is. */
struct baryon_plan_rounding {
    uint64_t layers, kept_layers;
    uint64_t samples, held_out; /* that it was solved on, and that judged; 0: the same ones */
    double nearest, solved;     /* SQNR of the model's outputs in dB, of both */
    bool kept;                  /* else all weights keep nearest rounding */
    const char *text;           /* all in a sentence */
};

struct baryon_plan_stage {
    const char *name; /* "passes", "calibrate", ... */
    double seconds;
};

/* By place; NULL after the last one. */
BARYON_API const struct baryon_plan_node *baryon_plan_node(const struct baryon_plan *plan,
                                                           size_t place);
BARYON_API const struct baryon_plan_tensor *baryon_plan_tensor(const struct baryon_plan *plan,
                                                               size_t place);
BARYON_API const struct baryon_plan_operator *baryon_plan_operator(const struct baryon_plan *plan,
                                                                   size_t place);
BARYON_API const struct baryon_plan_stage *baryon_plan_stage(const struct baryon_plan *plan,
                                                             size_t place);
/* NULL: no weights were reconstructed. */
BARYON_API const struct baryon_plan_rounding *baryon_plan_rounding(const struct baryon_plan *plan);

/*
 * Presets
 *
 * What a preset stands for. Names are those that baryon_list("presets") has, in any letter case,
 * with or without _CONFIG. Values are as a configuration file has them: true, 7, minmse, ["a",
 * "b"].
 */
struct baryon_preset;

BARYON_API int baryon_preset_open(struct baryon_preset **preset, const char *name,
                                  struct baryon_error *err);
BARYON_API void baryon_preset_free(struct baryon_preset *preset);
/* Every setting that has a meaning in it, by place; NULL after the last one. */
BARYON_API const struct baryon_setting *baryon_preset_setting(const struct baryon_preset *preset,
                                                              size_t place);
/* The same by AMD Quark's names: fields of its configuration (in small letters), and those of its
 * extra options that the preset speaks of. What Quark has no word for is told by ours. */
BARYON_API const struct baryon_setting *baryon_preset_quark(const struct baryon_preset *preset,
                                                            size_t place);

#ifdef __cplusplus
}
#endif

#endif
