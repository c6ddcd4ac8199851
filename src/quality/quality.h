/*
 * The quality of a quantized model as it was written: SQNR of its outputs, and agreement of
 * classes, on samples of which as few as needed run.
 *
 *   begin -> (quantize up to the plan) -> keep -> (emit, write) -> measure
 *
 * Samples: those after the ones that calibration took, where there are any; else the last quarter
 * of these, which rounding reconstruction holds out, too. Both models run sample by sample, side by
 * side in sessions of one thread, and nothing is kept but sums: figures do not depend on threads.
 */
#ifndef BY_QUALITY_H
#define BY_QUALITY_H

#include "evaluate/shown.h"
#include "metric/metric.h"
#include "sensitivity/sensitivity.h"
#include "trial/draft.h"

#define BY_QUALITY_MOST   24   /* samples */
#define BY_QUALITY_GOOD   20.0 /* dB: below, the cause is looked for */
#define BY_QUALITY_USABLE 10.0 /* dB: below, there is a warning */

/* Who gets figures of layers and tensors, or why there are none; get NULL: nobody. */
struct by_quality_details {
    int (*get)(void *context, const struct by_sensitivity *found, const char *why_not,
               struct baryon_error *err);
    void *context;
};

struct by_quality_options {
    bool off;
    bool others; /* the samples are not those that calibration takes */
    bool named;  /* --judge-data; else calibration takes none */
    const char *data;
    const struct by_input_callback *samples;
    struct by_input_options input;
    /* For a report: figures of layers and tensors, on the model as it was before emission, and some
     * of the samples. */
    struct by_quality_details details;
    struct by_show show;
};

enum by_quality_samples {
    BY_QUALITY_UNSEEN, /* not used by the quantization */
    BY_QUALITY_SEEN,   /* calibration took ranges from them */
    BY_QUALITY_OTHERS, /* of --judge-data */
};

struct by_quality_output {
    const char *name;
    double sqnr;         /* dB; NaN: all values are 0 in the float model */
    double error;        /* standard error of that, dB; infinite with one sample */
    uint64_t rows, same; /* rows of classes, and those whose top class is the same */
    uint64_t nonfinite;  /* values that are NaN or infinite in the written model alone */
    uint64_t reshaped;   /* samples whose output has another shape there */
    bool selected_from;  /* no output: what outputs are selected from, which have no figures */
};

struct by_quality {
    struct by_arena arena;
    bool asked;             /* else nothing else is set */
    const char *unmeasured; /* why; NULL: it was measured */
    bool failed;            /* it should have been */
    uint64_t samples, first;
    enum by_quality_samples which;
    bool random;
    struct by_quality_output *outputs;
    size_t count;
    double worst;             /* SQNR of the worst output; NaN: there is none */
    const char *cause, *next; /* below BY_QUALITY_GOOD, where known; else NULL */
    double seconds;
};

/* What has to stay from before the model is edited. All zero: nothing is measured. */
struct by_quality_run {
    const struct by_quality_options *options;
    struct by_frame reference; /* the model as it came */
    struct by_frame frame;     /* before emission */
    struct by_draft draft;     /* of that, with the plan; without a plan no cause is looked for */
};

/* Before by_quantization_open(), with the options that it gets. Whatever comes out,
 * by_quality_end() goes with it. */
int by_quality_begin(struct by_quality_run *run, struct baryon_model *model,
                     const struct by_quality_options *options, struct by_quantize_options *quantize,
                     struct baryon_error *err);
/* After it, before by_quantization_lower(). */
int by_quality_keep(struct by_quality_run *run, const struct by_quantization *q,
                    struct baryon_error *err);
void by_quality_end(struct by_quality_run *run);

/* The written model: a file, or what stays in memory. */
struct by_quality_written {
    const char *path;           /* NULL: it stays in memory */
    struct baryon_model *model; /* the same */
    struct by_session
        *session; /* that by_quality_session_of() says, which is taken over, or NULL */
};

/* The session that a check after writing opens serves for measuring, too. */
bool by_quality_takes_session(const struct by_session_options *options,
                              const struct baryon_model *written);
/* q is as by_quantization_lower() left it. What keeps it from measuring is in the result; it fails
 * with BARYON_ERR_CANCELLED alone, or where memory for the result is missing. */
int by_quality_measure(struct by_quality *quality, const struct by_quality_run *run,
                       const struct by_quantization *q, const struct by_quality_written *written,
                       struct baryon_error *err);
void by_quality_release(struct by_quality *quality);

/* "unseen", "seen", "others" */
const char *by_quality_which(const struct by_quality *quality);
/* The result in sentences, lines apart by '\n'; warnings go to the log. */
void by_quality_text(const struct by_quality *quality, struct by_str *text);
void by_quality_warn(const struct by_quality *quality, const struct by_log *log);

#endif
