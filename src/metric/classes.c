/* Measures of rows of scores or probabilities, one a class. */
#include "metric/metric.h"

#include <math.h>

#define LEAST 1e-10 /* of a probability that is divided by */

/* Axes of size 1 after the classes, as pooling leaves them, do not count. */
void by_metric_rows(const struct by_compared *pair, size_t *rows, size_t *classes)
{
    size_t rank = pair->rank;
    while (rank > 1 && pair->dims[rank - 1] == 1)
        rank--;
    *classes = rank ? (size_t)pair->dims[rank - 1] : 1;
    *rows = rank <= 2 && *classes ? pair->count / *classes : 0;
}

bool by_metric_is_classes(const struct by_compared *pair)
{
    size_t rows, classes;
    by_metric_rows(pair, &rows, &classes);
    return rows > 0 && classes > 1;
}

bool by_metric_is_classes5(const struct by_compared *pair)
{
    size_t rows, classes;
    by_metric_rows(pair, &rows, &classes);
    return rows > 0 && classes > 5;
}

bool by_metric_has_labels(const struct by_compared *pair)
{
    return pair->labels && by_metric_is_classes(pair);
}

bool by_metric_has_labels5(const struct by_compared *pair)
{
    return pair->labels && by_metric_is_classes5(pair);
}

static bool sums_to_one(const double *row, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (row[i] < -1e-6)
            return false;
        sum += row[i];
    }
    return fabs(sum - 1) <= 1e-3;
}

bool by_metric_is_distribution(const struct by_compared *pair)
{
    size_t rows, classes;
    if (!by_metric_is_classes(pair) || pair->logits)
        return pair->logits && by_metric_is_classes(pair);
    by_metric_rows(pair, &rows, &classes);
    for (size_t i = 0; i < rows; i++)
        if (!sums_to_one(pair->baseline + i * classes, classes))
            return false;
    return true;
}

/* log of the sum of exp of all, which turns scores into logs of probabilities. */
static double log_sum(const double *row, size_t count)
{
    double most = row[0], sum = 0;
    for (size_t i = 1; i < count; i++)
        most = fmax(most, row[i]);
    for (size_t i = 0; i < count; i++)
        sum += exp(row[i] - most);
    return most + log(sum);
}

static double divergence(const double *p, const double *q, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        if (p[i] > 0)
            sum += p[i] * log(p[i] / fmax(q[i], LEAST));
    return sum;
}

static double divergence_of_logits(const double *p, const double *q, size_t count)
{
    const double all_p = log_sum(p, count), all_q = log_sum(q, count);
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += exp(p[i] - all_p) * (p[i] - all_p - (q[i] - all_q));
    return sum;
}

int by_metric_kl(const struct by_compared *pair, struct by_fraction *value,
                 struct baryon_error *err)
{
    (void)err;
    size_t rows, classes;
    by_metric_rows(pair, &rows, &classes);
    for (size_t i = 0; i < rows; i++)
        value->over += (pair->logits ? divergence_of_logits : divergence)(
            pair->baseline + i * classes, pair->result + i * classes, classes);
    value->under = (double)rows;
    return 0;
}

static size_t greatest(const double *row, size_t count)
{
    size_t at = 0;
    for (size_t i = 1; i < count; i++)
        if (row[i] > row[at])
            at = i;
    return at;
}

/* True when fewer than `most` values come before that of the class; of equal ones the first. */
static bool is_among(const double *row, size_t count, size_t class, size_t most)
{
    size_t before = 0;
    for (size_t i = 0; i < count; i++)
        before += row[i] > row[class] || (row[i] == row[class] && i < class);
    return before < most;
}

static int agree(const struct by_compared *pair, size_t most, struct by_fraction *value)
{
    size_t rows, classes;
    by_metric_rows(pair, &rows, &classes);
    for (size_t i = 0; i < rows; i++)
        value->over += is_among(pair->result + i * classes, classes,
                                greatest(pair->baseline + i * classes, classes), most);
    value->under = (double)rows;
    return 0;
}

int by_metric_top1(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err)
{
    (void)err;
    return agree(pair, 1, value);
}

int by_metric_top5(const struct by_compared *pair, struct by_fraction *value,
                   struct baryon_error *err)
{
    (void)err;
    return agree(pair, 5, value);
}

static int hit(const struct by_compared *pair, const double *values, size_t most,
               struct by_fraction *value, struct baryon_error *err)
{
    size_t rows, classes;
    by_metric_rows(pair, &rows, &classes);
    for (size_t i = 0; i < rows; i++) {
        const int64_t label = pair->labels[i];
        if (label < 0 || (uint64_t)label >= classes)
            return by_fail(err, BARYON_ERR_INPUT, "label %lld, must be less than the %zu classes",
                           (long long)label, classes);
        value->over += is_among(values + i * classes, classes, (size_t)label, most);
    }
    value->under = (double)rows;
    return 0;
}

int by_metric_accuracy(const struct by_compared *pair, struct by_fraction *value,
                       struct baryon_error *err)
{
    return hit(pair, pair->result, 1, value, err);
}

int by_metric_accuracy5(const struct by_compared *pair, struct by_fraction *value,
                        struct baryon_error *err)
{
    return hit(pair, pair->result, 5, value, err);
}

int by_metric_baseline_accuracy(const struct by_compared *pair, struct by_fraction *value,
                                struct baryon_error *err)
{
    return hit(pair, pair->baseline, 1, value, err);
}

int by_metric_baseline_accuracy5(const struct by_compared *pair, struct by_fraction *value,
                                 struct baryon_error *err)
{
    return hit(pair, pair->baseline, 5, value, err);
}
