/* Baryon: how far results are from those of another model. A part of <baryon.h>. */
#ifndef BARYON_EVALUATE_H
#define BARYON_EVALUATE_H

#include "calibrate.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Evaluate
 *
 * Compares the outputs of two models on the same samples, or two folders of results. Settings are
 * those of `baryon evaluate`; folders only have min, max, peak, channels, compat and logits. A goal
 * (min, max) that is missed is BARYON_ERR_GOAL, and the evaluation is given all the same.
 *
 * For example:
 *
 *     const struct baryon_setting settings[] = {{"data", "photos"}, {"min", "cosine=0.98"}};
 *     struct baryon_evaluation *evaluation;
 *     if (baryon_evaluate_models(&evaluation, model, quantized, settings, 2, NULL, &err) &&
 *         err.code != BARYON_ERR_GOAL)
 *         return -1;
 *     const struct baryon_score *score;
 *     for (size_t i = 0; (score = baryon_evaluation_score(evaluation, i)); i++)
 *         printf("%s %s %g\n", score->output, score->metric, score->mean);
 *     baryon_evaluation_free(evaluation);
 */
struct baryon_evaluation;

/* One measure of one output. Infinite where equal arrays make it so. More members may follow in
 * later versions. */
struct baryon_score {
    const char *output; /* NULL: files of folders */
    const char *metric; /* "cosine", "psnr", ... (`baryon list metrics`) */
    double mean, worst;
    const char *worst_sample; /* its name */
    uint64_t samples;         /* that have it */
    bool higher;              /* is better */
    bool missed;              /* a goal for it was missed */
};

struct baryon_evaluate_options {
    size_t size;
    const struct baryon_samples *samples; /* instead of the settings data and random */
    baryon_progress_fn *progress;         /* when it begins, and after every sample */
    baryon_log_fn *log;                   /* for notices and warnings; default: nobody */
    void *context;                        /* of both */
};

BARYON_API int baryon_evaluate_models(struct baryon_evaluation **evaluation,
                                      struct baryon_model *baseline, struct baryon_model *quantized,
                                      const struct baryon_setting *settings, size_t count,
                                      const struct baryon_evaluate_options *options,
                                      struct baryon_error *err);
BARYON_API int baryon_evaluate_folders(struct baryon_evaluation **evaluation, const char *baseline,
                                       const char *quantized, const struct baryon_setting *settings,
                                       size_t count, const struct baryon_evaluate_options *options,
                                       struct baryon_error *err);
BARYON_API void baryon_evaluation_free(struct baryon_evaluation *evaluation);
/* By outputs, then measures; NULL after the last one. */
BARYON_API const struct baryon_score *
baryon_evaluation_score(const struct baryon_evaluation *evaluation, size_t place);
/* Samples or files that were compared. */
BARYON_API uint64_t baryon_evaluation_samples(const struct baryon_evaluation *evaluation);

#ifdef __cplusplus
}
#endif

#endif
