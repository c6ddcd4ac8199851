/*
 * How far a quantized model's results are from the float model's: of two folders of results, or
 * of two models that run on the same samples. Measures are those of metric/metric.h.
 */
#ifndef BY_EVALUATE_H
#define BY_EVALUATE_H

#include "calibrate/calibrate.h"
#include "config/config.h"
#include "evaluate/shown.h"
#include "metric/metric.h"

struct by_evaluate_settings {
    bool compat, logits;
    double peak; /* 0: by type and values */
    int channels;
    const char *labels;
    struct by_setting_texts output;
    struct by_setting_pairs min, max;
    struct by_setting_texts metrics; /* names: only these are computed; none: all */
};

/* One measure of one output. */
struct by_score {
    const struct by_metric *metric;
    const char *output; /* NULL: files of folders */
    uint64_t samples;   /* that it could be taken of */
    double mean, worst;
    char worst_sample[300];
    struct by_fraction sum;
    struct {
        struct by_fraction *at;
        size_t count, cap;
    } each; /* of the samples in order, where by_evaluation says so */
};

/* How much worse the mean is with so many standard errors more: what it becomes without one sample
 * or another tells how much hangs on single ones. In dB it is the noise that has the error. Of a
 * score that has each sample's value; 0 of fewer than two. */
double by_score_margin(const struct by_score *score, double errors);

/* --min and --max; `worst`: of the worst sample instead of the mean. */
struct by_goal {
    const struct by_metric *metric;
    bool worst, most; /* most: the bound is the greatest value allowed */
    double bound;
};

struct by_missed_goal {
    const struct by_goal *goal;
    const struct by_score *score;
};

struct by_evaluation {
    struct by_arena arena;
    struct by_evaluate_settings settings;
    const struct by_metric **metrics;
    size_t metric_count;
    bool keeps_each; /* for by_score_margin(); set by the caller after by_evaluation_open() */
    const char **outputs;
    size_t output_count;
    struct by_score *scores; /* outputs by metrics, those without samples too */
    struct by_goal *goals;
    size_t goal_count;
    struct {
        struct by_missed_goal *at;
        size_t count, cap;
    } missed;
    uint64_t samples, skipped; /* files or samples */
    char data[1024];           /* what was done to the samples of models */
};

struct by_evaluate_options {
    const struct by_evaluate_settings *settings;
    const char *data;                /* samples of models; NULL: random or the caller's */
    struct by_calibrate_options run; /* session, input, samples, progress and log are looked at */
    struct by_show show;             /* some of the samples of models, at the end */
};

/* Files of the same name, and all that the first folder has must be in the second. */
int by_evaluate_folders(struct by_evaluation **evaluation, const char *baseline, const char *result,
                        const struct by_evaluate_options *options, struct baryon_error *err);
/* The models are checked and linked; of the second's outputs those that the first has count. */
int by_evaluate_models(struct by_evaluation **evaluation, struct baryon_model *baseline,
                       struct baryon_model *result, const struct by_evaluate_options *options,
                       struct baryon_error *err);
void by_evaluation_close(struct by_evaluation *evaluation);
/* NULL after the last score that has samples. */
const struct by_score *by_evaluation_score(const struct by_evaluation *evaluation, size_t place);
/* BARYON_ERR_GOAL with the first goal that was missed; 0 when all were reached. */
int by_evaluation_judge(const struct by_evaluation *evaluation, struct baryon_error *err);

/* --- What both ways share --- */

int by_evaluation_open(struct by_evaluation **evaluation,
                       const struct by_evaluate_settings *settings, const char *const *outputs,
                       size_t output_count, struct baryon_error *err);
/* labels: one a row of the output; NULL: none. */
int by_evaluation_add(struct by_evaluation *evaluation, size_t output, const char *sample,
                      const struct by_array *baseline, const struct by_array *result,
                      const int64_t *labels, struct baryon_error *err);
/* Means, and what became of the goals. */
int by_evaluation_finish(struct by_evaluation *evaluation, struct baryon_error *err);

/* The quantized model's inputs from those of the baseline. */
struct by_fitted {
    const struct by_port *ports; /* of the quantized model */
    size_t count;
    size_t *from;            /* the baseline's input, one a port */
    struct by_array *arrays; /* of the last sample */
};

int by_fitted_open(struct by_fitted *fitted, const struct by_session *baseline,
                   const struct by_session *result, struct by_arena *arena,
                   const struct by_log *log, struct baryon_error *err);
/* Values that are converted go to the arena. */
int by_fitted_take(struct by_fitted *fitted, const struct by_array *arrays, struct by_arena *arena,
                   struct baryon_error *err);

struct by_labels {
    int64_t *at;
    size_t count;
};

/* Whole numbers of a text, apart by blanks, commas or lines, or of a .npy file. */
int by_labels_read(struct by_arena *arena, const char *path, struct by_labels *labels,
                   struct baryon_error *err);

#endif
