/* Lists the measures of `baryon evaluate`. */
#include "metric/metric.h"

#include "base/str.h"

#include <string.h>

const struct by_choice by_channel_place_names[] = {
    {"auto", BY_CHANNELS_AUTO, "last if there are at most 4 channels, else first"},
    {"first", BY_CHANNELS_FIRST, "before rows and columns, as in NCHW"},
    {"last", BY_CHANNELS_LAST, "after rows and columns, as in NHWC"},
    {0},
};

static const struct by_metric metrics[] = {
    {.name = "cosine",
     .help = "cosine of the angle between the arrays; 1: same direction",
     .higher = true,
     .measure = by_metric_cosine},
    {.name = "l2", .help = "Euclidean distance", .measure = by_metric_l2},
    {.name = "psnr",
     .help = "peak signal-to-noise ratio in dB: peak over root mean squared error",
     .higher = true,
     .measure = by_metric_psnr},
    {.name = "ssim",
     .help = "structural similarity in Gaussian windows; 1: equal",
     .higher = true,
     .measure = by_metric_ssim},
    {.name = "sqnr",
     .help = "signal-to-quantization-noise ratio in dB: energy of the baseline over that of the "
             "difference",
     .higher = true,
     .pooled = true,
     .measure = by_metric_sqnr,
     .finish = by_metric_decibels},
    {.name = "max-error", .help = "largest absolute difference", .measure = by_metric_max_error},
    {.name = "kl",
     .help =
         "Kullback-Leibler divergence from the baseline in nats, of rows that are distributions",
     .pooled = true,
     .asks = "two axes, rows and classes, and rows that add to 1",
     .applies = by_metric_is_distribution,
     .measure = by_metric_kl},
    {.name = "top1",
     .help = "share of rows with the same top class in both",
     .higher = true,
     .pooled = true,
     .asks = "two axes, rows and classes",
     .applies = by_metric_is_classes,
     .measure = by_metric_top1},
    {.name = "top5",
     .help = "share of rows with the baseline's top class among the five top classes of the result",
     .higher = true,
     .pooled = true,
     .asks = "two axes, rows and more than five classes",
     .applies = by_metric_is_classes5,
     .measure = by_metric_top5},
    {.name = "accuracy",
     .help = "share of rows whose top class is the label",
     .higher = true,
     .pooled = true,
     .asks = "two axes, rows and classes, and a label for each row",
     .applies = by_metric_has_labels,
     .measure = by_metric_accuracy},
    {.name = "accuracy5",
     .help = "share of rows with the label among the five top classes",
     .higher = true,
     .pooled = true,
     .asks = "two axes, rows and more than five classes, and a label for each row",
     .applies = by_metric_has_labels5,
     .measure = by_metric_accuracy5},
    {.name = "baseline-accuracy",
     .help = "accuracy of the baseline",
     .higher = true,
     .pooled = true,
     .asks = "two axes, rows and classes, and a label for each row",
     .applies = by_metric_has_labels,
     .measure = by_metric_baseline_accuracy},
    {.name = "baseline-accuracy5",
     .help = "accuracy5 of the baseline",
     .higher = true,
     .pooled = true,
     .asks = "two axes, rows and more than five classes, and a label for each row",
     .applies = by_metric_has_labels5,
     .measure = by_metric_baseline_accuracy5},
};

static const struct by_metric compat[] = {
    {.name = "cosine", .higher = true, .measure = by_metric_cosine_compat},
    {.name = "psnr", .higher = true, .measure = by_metric_psnr_compat},
    {.name = "ssim", .higher = true, .measure = by_metric_ssim_compat},
};

#define COUNT (sizeof metrics / sizeof *metrics)

const struct by_metric *by_metrics(size_t *count)
{
    *count = COUNT;
    return metrics;
}

const struct by_metric *by_metrics_compat(size_t *count)
{
    *count = sizeof compat / sizeof *compat;
    return compat;
}

const struct by_metric *by_metric_find(const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *names[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(metrics[i].name, name))
            return &metrics[i];
        names[i] = metrics[i].name;
    }
    by_fail(err, BARYON_ERR_USAGE, "unknown measure %s", by_quote(quoted, name));
    const char *near = by_nearest(name, names, COUNT);
    if (near)
        by_err_hint(err, "did you mean '%s'?", near);
    else
        by_err_hint(err, "'baryon list metrics' lists them");
    return NULL;
}
