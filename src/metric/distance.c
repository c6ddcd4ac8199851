/* Measures that take all values of an array alike. */
#include "metric/metric.h"

#include <math.h>

struct products {
    double both, baseline, result; /* sums of products */
};

static struct products multiply_pair(const struct by_compared *pair)
{
    struct products sum = {0};
    for (size_t i = 0; i < pair->count; i++) {
        sum.both += pair->baseline[i] * pair->result[i];
        sum.baseline += pair->baseline[i] * pair->baseline[i];
        sum.result += pair->result[i] * pair->result[i];
    }
    return sum;
}

static double squared_error(const struct by_compared *pair, const double *result)
{
    double sum = 0;
    for (size_t i = 0; i < pair->count; i++) {
        const double error = pair->baseline[i] - result[i];
        sum += error * error;
    }
    return sum;
}

int by_metric_cosine(const struct by_compared *pair, struct by_fraction *value,
                     struct baryon_error *err)
{
    (void)err;
    const struct products sum = multiply_pair(pair);
    const double norms = sqrt(sum.baseline) * sqrt(sum.result);
    if (norms > 0)
        value->over = fmin(sum.both / norms, 1);
    else
        value->over = sum.baseline == sum.result;
    return 0;
}

/* 0 / 0 where one of them is zero. */
int by_metric_cosine_compat(const struct by_compared *pair, struct by_fraction *value,
                            struct baryon_error *err)
{
    (void)err;
    const struct products sum = multiply_pair(pair);
    value->over = sum.both / (sqrt(sum.baseline) * sqrt(sum.result));
    return 0;
}

int by_metric_l2(const struct by_compared *pair, struct by_fraction *value,
                 struct baryon_error *err)
{
    (void)err;
    value->over = sqrt(squared_error(pair, pair->result));
    return 0;
}

int by_metric_max_error(const struct by_compared *pair, struct by_fraction *value,
                        struct baryon_error *err)
{
    (void)err;
    for (size_t i = 0; i < pair->count; i++)
        value->over = fmax(value->over, fabs(pair->baseline[i] - pair->result[i]));
    return 0;
}

int by_metric_sqnr(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err)
{
    (void)err;
    *value = (struct by_fraction){multiply_pair(pair).baseline, squared_error(pair, pair->result)};
    return 0;
}

double by_metric_decibels(struct by_fraction value)
{
    return value.under > 0 ? 10 * log10(value.over / value.under) : INFINITY;
}

static double peak_ratio(double peak, double error)
{
    return 20 * log10(peak) - 10 * log10(error);
}

int by_metric_psnr(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err)
{
    (void)err;
    const double error = squared_error(pair, pair->result) / (double)pair->count;
    value->over = error > 0 ? peak_ratio(pair->peak, error) : INFINITY;
    return 0;
}

/* Its peak is the baseline's greatest value, and nothing is below 1e-10. */
int by_metric_psnr_compat(const struct by_compared *pair, struct by_fraction *value,
                          struct baryon_error *err)
{
    (void)err;
    const double error = squared_error(pair, pair->unrounded) / (double)pair->count;
    double peak = pair->baseline[0];
    for (size_t i = 1; i < pair->count; i++)
        if (!(peak >= pair->baseline[i]))
            peak = pair->baseline[i];
    value->over = peak_ratio(peak > 0 ? peak : 1e-10, error == 0 ? 1e-10 : error);
    return 0;
}
