/*
 * Quantization as a whole:
 *
 *   refuse -> exclude -> passes -> place -> equalize -> calibrate -> parameters -> refine -> biases
 *   -> lower
 *
 * Loading, saving and reporting are the caller's.
 */
#ifndef BY_QUANTIZE_H
#define BY_QUANTIZE_H

#include "base/par.h"
#include "calibrate.h"
#include "onnx/frame.h"
#include "pass/pass.h"
#include "quant/plan.h"

struct by_quantize_options {
    const struct by_recipe *recipe;
    const char *data;  /* samples as by_input_open() takes them; NULL where none are needed */
    const char *stats; /* statistics of an earlier run instead of samples; NULL: none */
    struct by_calibrate_options
        calibrate;            /* of samples, session, progress; not what is looked at */
    const char *folder;       /* for temporary files; NULL: the system's */
    const char *checkpoint;   /* of solved layers, taken up by the same run; NULL: none */
    bool keeps_float;         /* as it is before biases make up for anything */
    const char *dump_passes;  /* folder for the model after each pass; NULL: none */
    const struct by_log *log; /* may be NULL */
};

#define BY_STAGES_MAX 16

/* One layer whose rounding was solved: SQNR of what it gives, on samples kept aside. */
struct by_solved_layer {
    const char *name;
    uint64_t rows; /* that its samples have */
    size_t columns;
    double nearest, solved; /* dB */
    bool kept;
};

struct by_solved {
    struct by_solved_layer *layers;
    size_t count;          /* 0: nothing was to be solved */
    size_t train, judging; /* samples */
    bool aside;            /* others judge than those it was solved on */
    double before, after;  /* SQNR of the model's outputs on those that judge */
    bool kept;             /* else all was taken back */
};

/* Seconds by stage, and figures for the report. */
struct by_quantize_report {
    struct {
        const char *stage;
        double seconds;
    } stages[BY_STAGES_MAX];
    size_t stage_count;
    struct by_calibrate_report calibration; /* all zero when there was none */
    struct by_solved solved;
};

/* A model on its way; it is edited from the beginning. */
struct by_quantization {
    struct baryon_model *model;
    const struct by_quantize_options *options;
    struct by_origins *origins;
    struct by_quant_plan *plan;
    struct by_quantize_options settled; /* options, and their recipe, as they are for the model */
    struct by_recipe recipe;
    struct by_frame exact;      /* the model before passes that simulate hardware; or empty */
    struct by_frame floats;     /* what options->keeps_float asks for; or empty */
    struct by_hash128 original; /* of the model as it came, where options->stats is given */
    struct by_stats *begun;     /* of the first samples, as equalization left it; or NULL */
    struct by_stats *stats;     /* NULL: none needed */
    bool corrects;              /* biases, as asked for or as samples said */
    struct by_pool *pool;
    struct by_quantize_report report;
};

/*
 * Everything up to the final parameters: what `baryon plan` shows. The model must be linked
 * and inferred. Whatever comes out, by_quantization_close() goes with it.
 */
int by_quantization_open(struct by_quantization *quantization, struct baryon_model *model,
                         const struct by_quantize_options *options, struct baryon_error *err);
/* The model becomes the quantized one. Once. */
int by_quantization_lower(struct by_quantization *quantization, struct baryon_error *err);
/* Before that, for a model of so many bytes that is to be written to `out`: from some size on
 * new weights stand in a nameless file beside it until they are saved; where there can be none,
 * in memory. */
void by_quantization_spill(struct by_quantization *quantization, const char *out, uint64_t bytes);
/* The checkpoint is of no use any more: when the model was saved. */
void by_quantize_clean(const struct by_quantize_options *options);
void by_quantization_close(struct by_quantization *quantization);

/* Samples that ranges come from. */
uint64_t by_quantization_samples(const struct by_quantization *quantization);

/* True when some activations become integers, by ranges. */
bool by_recipe_has_ranges(const struct by_recipe *recipe);
/* True when the recipe needs samples or statistics. */
bool by_recipe_needs_data(const struct by_recipe *recipe);

#endif
