/*
 * Quantization as a whole:
 *
 *   load -> exclude -> passes -> place -> equalize -> calibrate -> parameters -> refine
 *   -> lower -> save -> report
 */
#ifndef BY_QUANTIZE_H
#define BY_QUANTIZE_H

#include "calibrate.h"
#include "quant/plan.h"

struct by_quantize_options {
    const struct by_recipe *recipe;
    const char *data;  /* samples as by_input_open() takes them; NULL where none are needed */
    const char *stats; /* statistics of an earlier run instead of samples; NULL: none */
    struct by_calibrate_options calibrate;
    const char *dump_passes; /* folder; NULL: none */
    const struct by_log *log;
};

/* Seconds by stage, and figures for the report. */
struct by_stage_time {
    const char *stage;
    double seconds;
};
struct by_quantize_report {
    struct by_stage_time stages[16];
    size_t stage_count;
    uint64_t samples;
    uint64_t bytes_before, bytes_after;
};

/* Up to the parameters: what `baryon plan` shows. The model is edited by passes. */
int by_quantize_plan(struct by_quant_plan **plan, struct baryon_model *model,
                     const struct by_quantize_options *options, struct by_quantize_report *report,
                     struct baryon_error *err);
/* The rest: the model becomes the quantized one. */
int by_quantize_finish(struct by_quant_plan *plan, const struct by_quantize_options *options,
                       struct by_quantize_report *report, struct baryon_error *err);

#endif
