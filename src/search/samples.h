/*
 * What a search measures candidates on: inputs of the samples, with the float model's outputs,
 * which are computed once.
 */
#ifndef BY_AUTO_SAMPLES_H
#define BY_AUTO_SAMPLES_H

#include "base/par.h"
#include "engine/parked.h"
#include "input/input.h"
#include "onnx/frame.h"
#include "search/goals.h"
#include "search/parts.h"

struct by_auto_source {
    const char *data;                         /* as by_input_open() takes it; NULL: below */
    const struct by_input_callback *callback; /* NULL: of data, or random */
    struct by_input_options input;            /* of all samples together */
    struct by_session_options session;
    const char *labels; /* file; NULL: none */
    const char *folder; /* of what does not fit the memory; NULL: that for temporary files */
    uint64_t memory;    /* that samples may take */
};

struct by_auto_samples;

/* Splits the samples, reads them and runs the float model on them. All that is given has to live as
 * long. */
int by_auto_samples_open(struct by_auto_samples **samples, struct baryon_model *model,
                         const struct by_auto_source *source, const struct by_auto_goals *goals,
                         enum by_auto_effort effort, struct by_pool *pool, const struct by_log *log,
                         struct baryon_error *err);
void by_auto_samples_close(struct by_auto_samples *samples);

const struct by_auto_parts *by_auto_samples_parts(const struct by_auto_samples *samples);
/* Tells them from others: names and sizes of files, how they are prepared, labels. */
struct by_hash128 by_auto_samples_identity(const struct by_auto_samples *samples);
/* What was done to the data. */
const char *by_auto_samples_text(const struct by_auto_samples *samples);
/* Samples that calibrate as a source of their own, so that no candidate reads and prepares them
 * again. *callback NULL: they are random, or some were skipped, and their places count. */
int by_auto_samples_calibrate(struct by_auto_samples *samples,
                              const struct by_input_callback **callback, struct baryon_error *err);
/* Seconds of one run of the float model in one thread. */
double by_auto_samples_seconds(const struct by_auto_samples *samples);
/* Inputs of the samples that choose, or of the last ones, as a source; one at a time. */
struct by_auto_reader {
    struct by_auto_samples *samples;
    size_t place; /* of what it shows */
    size_t first, next, end;
};
int by_auto_samples_read(struct by_auto_samples *samples, enum by_auto_part part,
                         struct by_auto_reader *reader, struct by_input_callback *callback,
                         struct baryon_error *err);

struct by_auto_measured {
    double *values; /* of each goal; NaN: of the command, or no output has it */
    /* One standard error of the difference between the samples that choose and the last ones, by
     * what the samples of the part say; 0: there is none to be had. May be NULL. */
    double *margins;
    double sqnr;   /* dB, of the worst output; NaN: none has float values */
    char why[300]; /* the model is lost: ONNX Runtime refuses it, it gives NaN; "": it is not */
};

/* Of a quantized model, on the samples of a part. values and margins have room for all goals. The
 * model's session stays open: by_auto_samples_leave() comes before it is freed or changed. */
int by_auto_samples_measure(struct by_auto_samples *samples, struct baryon_model *model,
                            enum by_auto_part part, struct by_auto_measured *measured,
                            struct baryon_error *err);
void by_auto_samples_leave(struct by_auto_samples *samples);

#endif
