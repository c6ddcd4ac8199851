/*
 * Compares the tensors of one sample in the float and quantized models. Sums go into lanes that
 * depend on the place alone, those of a tensor are added exactly: so threads and the order of
 * samples make no difference.
 */
#include "engine/twin_internal.h"

#include <math.h>
#include <string.h>

#define CHUNK 1024
#define LANES 8

/* --- One chunk --- */

struct sums {
    double signal[LANES], noise[LANES], shift[LANES], peak[LANES];
};

static double join_lane_sums(const double *lanes)
{
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
           ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static double greatest(const double *lanes)
{
    double most = lanes[0];
    for (size_t i = 1; i < LANES; i++)
        most = lanes[i] > most ? lanes[i] : most;
    return most;
}

static void compare_with_exact(struct sums *sums, const float *want, const float *got, size_t count)
{
    for (size_t i = 0; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const double difference = (double)got[i + k] - (double)want[i + k];
            const double size = fabs(difference);
            sums->noise[k] += difference * difference;
            sums->shift[k] += difference;
            sums->peak[k] = size > sums->peak[k] ? size : sums->peak[k];
        }
    for (size_t i = count - count % LANES; i < count; i++) {
        const double difference = (double)got[i] - (double)want[i];
        sums->noise[i % LANES] += difference * difference;
        sums->shift[i % LANES] += difference;
        sums->peak[i % LANES] = fmax(sums->peak[i % LANES], fabs(difference));
    }
}

static void measure_signal(struct sums *sums, const float *values, size_t count)
{
    for (size_t i = 0; i + LANES <= count; i += LANES)
        for (size_t k = 0; k < LANES; k++)
            sums->signal[k] += (double)values[i + k] * (double)values[i + k];
    for (size_t i = count - count % LANES; i < count; i++)
        sums->signal[i % LANES] += (double)values[i] * (double)values[i];
}

/* What is not finite, in either, is zero in both; how many. */
static uint64_t clean(float *one, float *other, size_t count)
{
    uint64_t lost = 0;
    for (size_t i = 0; i < count; i++) {
        if (isfinite(one[i]) && (!other || isfinite(other[i])))
            continue;
        one[i] = 0;
        if (other)
            other[i] = 0;
        lost++;
    }
    return lost;
}

/* --- One tensor --- */

static int count_of(const struct by_array *array, size_t *count, struct baryon_error *err)
{
    return by_dims_count(array->dims, array->rank, count, err);
}

static int take_floats(const struct by_array *array, size_t begin, size_t count, float *out,
                       struct baryon_error *err)
{
    if (array->elem != BY_ELEM_FLOAT)
        return by_elem_to_floats(array->elem, array->data, begin, count, out, err);
    memcpy(out, (const float *)array->data + begin, count * sizeof *out);
    return 0;
}

struct other {
    struct by_twin_sums sums; /* noise and shift are set at the end */
    struct sums lanes;
};

static int compare_tensor(struct other *other, const struct by_array *want,
                          const struct by_array *got, size_t count, struct baryon_error *err)
{
    float wanted[CHUNK], found[CHUNK];
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t size = count - begin < CHUNK ? count - begin : CHUNK;
        if (take_floats(want, begin, size, wanted, err) < 0 ||
            take_floats(got, begin, size, found, err) < 0)
            return -1;
        if (!by_floats_are_finite(wanted, size) || !by_floats_are_finite(found, size))
            other->sums.lost += clean(wanted, found, size);
        compare_with_exact(&other->lanes, wanted, found, size);
    }
    return 0;
}

struct value {
    struct sums lanes;
    uint64_t count;
    float min, max, top;
    size_t index;
};

static void see(struct value *value, const float *values, size_t begin, size_t count)
{
    float min = values[0], max = values[0];
    for (size_t i = 0; i < count; i++) {
        min = values[i] < min ? values[i] : min;
        max = values[i] > max ? values[i] : max;
    }
    value->min = min < value->min ? min : value->min;
    value->max = max > value->max ? max : value->max;
    if (!(fabsf(min) > value->top || fabsf(max) > value->top))
        return;
    for (size_t i = 0; i < count; i++)
        if (fabsf(values[i]) > value->top) {
            value->top = fabsf(values[i]);
            value->index = begin + i;
        }
}

static int measure_tensor(struct value *value, const struct by_array *array, size_t count,
                          struct baryon_error *err)
{
    float values[CHUNK];
    value->min = INFINITY;
    value->max = -INFINITY;
    value->top = -1;
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t size = count - begin < CHUNK ? count - begin : CHUNK;
        if (take_floats(array, begin, size, values, err) < 0)
            return -1;
        value->count += size;
        if (!by_floats_are_finite(values, size))
            value->count -= clean(values, NULL, size);
        measure_signal(&value->lanes, values, size);
        see(value, values, begin, size);
    }
    return 0;
}

/* --- All of it --- */

/* Sums of finite floats in double are finite. */
static void add_value(struct by_twin_set *set, const struct value *value,
                      const struct by_array *array, uint64_t sample)
{
    if (!value->count)
        return;
    by_exact_add(&set->signal, join_lane_sums(value->lanes.signal));
    if (!set->count || value->min < set->min)
        set->min = value->min;
    if (!set->count || value->max > set->max)
        set->max = value->max;
    if (!set->count || value->top > set->top || (value->top == set->top && sample < set->sample)) {
        set->top = value->top;
        set->sample = sample;
        set->index = value->index;
        set->rank = array->rank;
        memcpy(set->dims, array->dims, array->rank * sizeof *set->dims);
    }
    set->count += value->count;
}

static void add_other(struct by_twin_sums *sums, const struct other *other)
{
    const double peak = greatest(other->lanes.peak);
    by_exact_add(&sums->noise, join_lane_sums(other->lanes.noise));
    by_exact_add(&sums->shift, join_lane_sums(other->lanes.shift));
    sums->peak = peak > sums->peak ? peak : sums->peak;
    sums->lost += other->sums.lost;
}

static bool same_shape(const struct by_array *one, const struct by_array *other)
{
    return one->rank == other->rank &&
           !memcmp(one->dims, other->dims, one->rank * sizeof *one->dims);
}

int by_twin_look(void *context, const struct by_tap_look *look, struct baryon_error *err)
{
    struct by_twin_set *set = context;
    const struct by_array *want = &look->values[set->exact];
    struct value value = {.count = 0};
    struct other others[BY_TWIN_SIDES] = {{.sums = {.peak = 0}}};
    size_t count;
    if (count_of(want, &count, err) < 0 || measure_tensor(&value, want, count, err) < 0)
        return -1;
    for (size_t i = 0, place = 0; i < look->count; i++) {
        if (i == set->exact)
            continue;
        struct other *other = &others[place++];
        if (!same_shape(want, &look->values[i]))
            other->sums.lost += count;
        else if (compare_tensor(other, want, &look->values[i], count, err) < 0)
            return -1;
    }
    pthread_mutex_lock(&set->lock);
    add_value(set, &value, want, look->sample);
    for (size_t i = 0; i < set->others; i++)
        add_other(&set->sums[i], &others[i]);
    pthread_mutex_unlock(&set->lock);
    return 0;
}
