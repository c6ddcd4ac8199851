/* Baryon: the cheapest quantization that has the quality asked for. A part of <baryon.h>. */
#ifndef BARYON_AUTO_H
#define BARYON_AUTO_H

#include "calibrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Auto
 *
 * Tries quantizations of a target, from the cheapest on, until goals are met. Settings are those
 * of `baryon auto` but the files that it writes: goal, target, effort, data and so on. Goals that
 * are missed are BARYON_ERR_GOAL, and the search with its best model is given all the same.
 *
 * For example:
 *
 *     const struct baryon_setting settings[] = {
 *         {"data", "photos"}, {"goal", "sqnr>=25"}, {"target", "cpu"}};
 *     struct baryon_auto *search = NULL;
 *     if (baryon_auto(&search, model, settings, 3, NULL, &err) && err.code != BARYON_ERR_GOAL)
 *         return -1;
 *     if (baryon_model_save(baryon_auto_model(search), "int8.onnx", NULL, &err))
 *         return -1;
 *     baryon_auto_free(search);
 */
struct baryon_auto;

struct baryon_auto_options {
    size_t size;
    const struct baryon_samples *samples; /* instead of the settings data and random; with rewind */
    baryon_progress_fn *progress;         /* of samples: when a stage begins, and after each */
    baryon_log_fn *log;                   /* for steps, notices and warnings; default: nobody */
    /* The quality of a candidate by a measure of the program's own, for goals such as "value>=0.9";
     * the model lives as long as the call. 0, or -1 with err filled, which ends the search. */
    int (*value)(void *context, struct baryon_model *model, double *value,
                 struct baryon_error *err);
    void *context; /* of all three */
    /* Path of the result: OUT.part keeps finished steps, with which an interrupted search goes on.
     * The model itself is not written. NULL: nothing is kept. */
    const char *out;
};

struct baryon_auto_summary {
    bool met;            /* the goals, on the samples that choose, and the limits */
    const char *outcome; /* in one sentence */
    const char *needs;   /* what a missed goal requires; NULL: it is met */
    const char *config;  /* for `baryon quantize --config`: the same model without a search */
    const char *json;    /* goals, splits, steps and frontier, as in `baryon auto --json` */
    uint64_t calibrate_samples, choose_samples, last_samples;
    uint64_t best; /* place of the point that is the result */
    double seconds;
};

/* A quantization that was met on the way. More members may follow in later versions. */
struct baryon_auto_point {
    const char *name, *text; /* "A8W8, per channel", what it changes */
    const char *config;
    const char *why;       /* it is not possible; NULL: it was measured */
    double chosen;         /* the first goal's value on the samples that choose */
    double last;           /* on the last ones; NaN: not measured */
    double sqnr;           /* dB, of the worst output, on the samples that choose */
    bool met;              /* all goals */
    double cost;           /* 1: all multiply-adds in 8 bits */
    double low_bits_share; /* of multiply-adds in 8 bits or less */
    uint64_t bytes;        /* about */
    double seconds;
};

BARYON_API int baryon_auto(struct baryon_auto **search, struct baryon_model *model,
                           const struct baryon_setting *settings, size_t count,
                           const struct baryon_auto_options *options, struct baryon_error *err);
BARYON_API void baryon_auto_free(struct baryon_auto *search);
/* The quantized model; the model that was searched for has to live as long. */
BARYON_API struct baryon_model *baryon_auto_model(const struct baryon_auto *search);
BARYON_API const struct baryon_auto_summary *baryon_auto_summary(const struct baryon_auto *search);
/* By place, in the order of the search; NULL after the last one. */
BARYON_API const struct baryon_auto_point *baryon_auto_point(const struct baryon_auto *search,
                                                             size_t place);

#ifdef __cplusplus
}
#endif

#endif
