/*
 * Measures of how far a result is from the one that was wanted, one row each; one file a family.
 *
 * A measure looks at one pair of arrays at a time (a file and its counterpart, an output of one
 * sample) and gives a fraction or a number. Over all pairs there is a mean and a worst one; of
 * measures that are pooled the mean is that of all fractions together.
 *
 *   cosine     angle between the arrays; both zero: 1, one of them: 0
 *   l2         Euclidean norm of the difference
 *   psnr       20 log10(peak) - 10 log10(mean squared error), infinite for equal arrays
 *   ssim       mean structural similarity, see ssim.c
 *   sqnr       energy of the baseline over that of the difference, dB, pooled
 *   max-error  greatest absolute difference
 *   kl         Kullback-Leibler divergence in nats, of rows that are distributions, pooled
 *   top1, top5 share of rows whose greatest value is among the result's greatest ones, pooled
 *   accuracy, accuracy5, baseline-accuracy, baseline-accuracy5
 *              the same for labels, pooled
 *
 * To add one: a function in the file of its family, a row in metrics.c.
 */
#ifndef BY_METRIC_H
#define BY_METRIC_H

#include "base/choice.h"
#include "base/mem.h"

enum by_channel_place { BY_CHANNELS_AUTO, BY_CHANNELS_FIRST, BY_CHANNELS_LAST };
extern const struct by_choice by_channel_place_names[];

/* Two arrays of one shape, finite unless `compat`. */
struct by_compared {
    const double *baseline, *result;
    const double *unrounded; /* the result as it came; with `compat` both are float32 */
    size_t count, rank;
    const int64_t *dims;
    double peak;                 /* greatest possible difference of two values; above 0 */
    enum by_channel_place where; /* channels, of pictures */
    bool logits;                 /* rows are scores, distributions come by softmax */
    const int64_t *labels;       /* one a row; NULL: none */
    struct by_arena *arena;      /* for work, released after every pair */
};

/* A value is over / under, or over alone where a measure is not pooled. */
struct by_fraction {
    double over, under;
};

struct by_metric {
    const char *name, *help;
    const char *asks; /* what pairs have to be where it does not apply to all */
    bool higher;      /* is better */
    bool pooled;
    bool (*applies)(const struct by_compared *pair); /* NULL: to all pairs */
    int (*measure)(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err);
    double (*finish)(struct by_fraction value); /* of pooled ones; NULL: the quotient */
};

/* In the order of reports. */
const struct by_metric *by_metrics(size_t *count);
/* By the definitions of Quark's tool: those that differ from ours, by the same names. */
const struct by_metric *by_metrics_compat(size_t *count);
const struct by_metric *by_metric_find(const char *name, struct baryon_error *err);

/* The functions, by family. */
int by_metric_cosine(const struct by_compared *pair, struct by_fraction *value,
                     struct baryon_error *err);
int by_metric_l2(const struct by_compared *pair, struct by_fraction *value,
                 struct baryon_error *err);
int by_metric_max_error(const struct by_compared *pair, struct by_fraction *value,
                        struct baryon_error *err);
int by_metric_sqnr(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err);
double by_metric_decibels(struct by_fraction value);
int by_metric_psnr(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err);
int by_metric_ssim(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err);
int by_metric_cosine_compat(const struct by_compared *pair, struct by_fraction *value,
                            struct baryon_error *err);
int by_metric_psnr_compat(const struct by_compared *pair, struct by_fraction *value,
                          struct baryon_error *err);
int by_metric_ssim_compat(const struct by_compared *pair, struct by_fraction *value,
                          struct baryon_error *err);

bool by_metric_is_classes(const struct by_compared *pair);
bool by_metric_is_classes5(const struct by_compared *pair);
bool by_metric_is_distribution(const struct by_compared *pair);
bool by_metric_has_labels(const struct by_compared *pair);
bool by_metric_has_labels5(const struct by_compared *pair);
/* Rows and classes of a pair that by_metric_is_classes(). */
void by_metric_rows(const struct by_compared *pair, size_t *rows, size_t *classes);
int by_metric_kl(const struct by_compared *pair, struct by_fraction *value,
                 struct baryon_error *err);
int by_metric_top1(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err);
int by_metric_top5(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err);
int by_metric_accuracy(const struct by_compared *pair, struct by_fraction *value,
                       struct baryon_error *err);
int by_metric_accuracy5(const struct by_compared *pair, struct by_fraction *value,
                        struct baryon_error *err);
int by_metric_baseline_accuracy(const struct by_compared *pair, struct by_fraction *value,
                                struct baryon_error *err);
int by_metric_baseline_accuracy5(const struct by_compared *pair, struct by_fraction *value,
                                 struct baryon_error *err);

#endif
