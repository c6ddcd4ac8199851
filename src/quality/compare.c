/* Adds up how far one output of the written model is from that of the float model. */
#include "quality/quality_internal.h"

#include <string.h>

#define CHUNK 1024

static bool same_dims(const struct by_array *one, const struct by_array *other)
{
    return one->rank == other->rank &&
           !memcmp(one->dims, other->dims, one->rank * sizeof *one->dims);
}

/* What is not finite in the float model is nothing to come close to. */
static void drop_nonfinite(double *want, double *got, size_t count, struct by_quality_sums *sums)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(want[i])) {
            want[i] = got[i] = 0;
        } else if (!isfinite(got[i])) {
            sums->nonfinite++;
            sums->noise = INFINITY;
            got[i] = want[i];
        }
    }
}

static int add_sqnr(const struct by_array *want, const struct by_array *got, size_t count,
                    struct by_quality_sums *sums, struct baryon_error *err)
{
    double wanted[CHUNK], found[CHUNK];
    struct by_fraction part;
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t size = count - begin < CHUNK ? count - begin : CHUNK;
        if (by_elem_to_doubles(want->elem, want->data, begin, size, wanted, err) < 0 ||
            by_elem_to_doubles(got->elem, got->data, begin, size, found, err) < 0)
            return -1;
        drop_nonfinite(wanted, found, size, sums);
        const struct by_compared pair = {.baseline = wanted, .result = found, .count = size};
        if (by_metric_sqnr(&pair, &part, err) < 0)
            return -1;
        sums->signal += part.over;
        sums->noise += part.under;
    }
    return 0;
}

/* Row by row, since there may be many. */
static int add_classes(const struct by_array *want, const struct by_array *got, size_t rows,
                       size_t classes, struct by_quality_sums *sums, struct baryon_error *err)
{
    const int64_t dims[1] = {(int64_t)classes};
    double *wanted = by_alloc(2 * classes, sizeof *wanted, err);
    double *found = wanted ? wanted + classes : NULL;
    const struct by_compared pair = {
        .baseline = wanted, .result = found, .count = classes, .rank = 1, .dims = dims};
    int status = wanted ? 0 : -1;
    for (size_t i = 0; status == 0 && i < rows; i++) {
        struct by_fraction same = {0};
        if (by_elem_to_doubles(want->elem, want->data, i * classes, classes, wanted, err) < 0 ||
            by_elem_to_doubles(got->elem, got->data, i * classes, classes, found, err) < 0)
            status = -1;
        else
            status = by_metric_top1(&pair, &same, err);
        sums->same += same.over > 0;
        sums->rows++;
    }
    by_free(wanted);
    return status;
}

int by_quality_compare(const struct by_array *want, const struct by_array *got,
                       struct by_quality_sums *sums, struct baryon_error *err)
{
    size_t rows, classes;
    struct by_compared shape = {.rank = want->rank, .dims = want->dims};
    *sums = (struct by_quality_sums){0};
    if (!same_dims(want, got)) {
        sums->noise = INFINITY;
        sums->reshaped = true;
        return 0;
    }
    if (by_dims_count(want->dims, want->rank, &shape.count, err) < 0 ||
        add_sqnr(want, got, shape.count, sums, err) < 0)
        return -1;
    if (!shape.count || !by_metric_is_classes(&shape))
        return 0;
    by_metric_rows(&shape, &rows, &classes);
    return add_classes(want, got, rows, classes, sums, err);
}

/* --- Over samples --- */

static struct by_gain sqnr_of(const struct by_quality_sums *sums, size_t samples, size_t stride)
{
    struct by_judgement each[BY_QUALITY_MOST], none[BY_QUALITY_MOST];
    memset(each, 0, sizeof each);
    memset(none, 0, sizeof none);
    for (size_t i = 0; i < samples; i++) {
        each[i].count = 1;
        each[i].outputs[0].signal = sums[i * stride].signal;
        each[i].outputs[0].noise = sums[i * stride].noise;
    }
    return by_judge_gain(each, none, samples); /* the gain over 0 dB */
}

void by_quality_add_up(const struct by_quality_sums *sums, size_t samples, size_t stride,
                       struct by_quality_output *output)
{
    const struct by_gain sqnr = sqnr_of(sums, samples, stride);
    double signal = 0, noise = 0;
    output->rows = output->same = output->nonfinite = output->reshaped = 0;
    for (size_t i = 0; i < samples; i++) {
        const struct by_quality_sums *one = &sums[i * stride];
        signal += one->signal;
        noise += one->noise;
        output->rows += one->rows;
        output->same += one->same;
        output->nonfinite += one->nonfinite;
        output->reshaped += one->reshaped;
    }
    const bool silent = signal <= 0 && noise > 0 && !output->nonfinite && !output->reshaped;
    output->sqnr = silent ? (double)NAN : sqnr.decibels;
    output->error = silent ? 0 : sqnr.error;
}
