/*
 * The report of a run as JSON: docs/design/report.md has the schema. Each function writes members
 * of the object, which the caller opens with by_report_begin() and closes with by_report_end().
 */
#ifndef BY_REPORT_H
#define BY_REPORT_H

#include "report/examples.h"
#include "report/layers.h"
#include "report/results.h"

#define BY_REPORT_VERSION 1

/* --- What is said about a quantized model's layers and tensors --- */

struct by_report_measured {
    const char *unmeasured; /* why; NULL: it was measured */
    size_t samples;
    bool held_out;
    double seconds;
    struct by_sensed_output *outputs; /* names in the arena */
    size_t output_count;
    const char *cause; /* may be NULL */
};

struct by_report_figures {
    struct by_arena arena;
    struct by_report_tensors tensors;
    struct by_report_layers layers;
    struct by_report_measured measured;
    double seconds; /* that all of this took */
};

/* Before emission. Whatever the result, by_report_figures_release() is required. */
int by_report_figures_take(struct by_report_figures *figures, const struct by_quantization *q,
                           struct baryon_error *err);
/* Why layers and tensors are not measured. */
int by_report_figures_unmeasured(struct by_report_figures *figures, const char *why,
                                 struct baryon_error *err);
/* What the twin found; cause may be NULL. */
int by_report_figures_measured(struct by_report_figures *figures, const struct by_plan_view *view,
                               const struct by_sensitivity *found, const char *cause,
                               struct baryon_error *err);
void by_report_figures_release(struct by_report_figures *figures);

/* --- The object --- */

struct by_report_head {
    const char *command, *model, *file, *repeat; /* file, repeat: NULL: none */
    const struct by_config *config;              /* options of a quantization; NULL: none */
    const char *preset, *stats, *data;           /* NULL: none */
    bool random;
};

struct by_report_outcome {
    const char *text; /* a sentence */
    const char *goal; /* "met", "missed", "none" */
    double quality;   /* dB; NaN: unknown */
    double low_bits;  /* share of multiply-adds; NaN: unknown */
};

void by_report_begin(struct by_json *json, struct by_str *text);
void by_report_head_json(const struct by_report_head *head, struct by_json *json);
void by_report_outcome_json(const struct by_report_outcome *outcome, struct by_json *json);
/* "measured", "layers", "tensors". */
void by_report_figures_json(const struct by_report_figures *figures,
                            const struct by_plan_view *view, struct by_json *json);
/* "memory", and the end of the object. */
void by_report_end(struct by_json *json);

/* What is said of a written model, in a sentence. figures may be NULL. */
void by_report_say_quality(const struct by_quality *quality,
                           const struct by_report_figures *figures, const struct by_plan_view *view,
                           struct by_str *text);

/* A command line for a POSIX shell. */
void by_report_say_command(const char *const *words, size_t count, struct by_str *text);

#endif
