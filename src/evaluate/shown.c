/* Chooses the samples that a report shows. */
#include "evaluate/shown.h"

#include "base/decibels.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 1024

/* --- Which --- */

struct ranked {
    double sqnr;
    size_t place;
};

static int by_sqnr(const void *a, const void *b)
{
    const struct ranked *one = a, *other = b;
    if (one->sqnr != other->sqnr)
        return one->sqnr < other->sqnr ? -1 : 1;
    return one->place < other->place ? -1 : 1;
}

static const char *rank_name(size_t place, size_t count)
{
    if (place == 0)
        return "worst";
    if (place + 1 == count)
        return "best";
    return place == count / 2 ? "median" : NULL;
}

/* Spread evenly, the middle one included. */
static size_t choose_sorted(const struct ranked *sorted, size_t count,
                            struct by_shown_place *places)
{
    const size_t wanted = count < BY_SHOWN_MOST ? count : BY_SHOWN_MOST;
    for (size_t i = 0; i < wanted; i++) {
        size_t place = wanted > 1 ? i * (count - 1) / (wanted - 1) : 0;
        if (wanted > 2 && i == wanted / 2)
            place = count / 2;
        places[i] = (struct by_shown_place){sorted[place].place, rank_name(place, count)};
    }
    return wanted;
}

int by_shown_choose(const double *sqnr, size_t count, struct by_shown_place places[BY_SHOWN_MOST],
                    size_t *chosen, struct baryon_error *err)
{
    struct ranked *sorted = by_alloc(count + 1, sizeof *sorted, err);
    size_t known = 0;
    if (!sorted)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (!isnan(sqnr[i]))
            sorted[known++] = (struct ranked){sqnr[i], i};
    if (known)
        qsort(sorted, known, sizeof *sorted, by_sqnr);
    *chosen = known ? choose_sorted(sorted, known, places) : 0;
    by_free(sorted);
    return 0;
}

/* --- SQNR --- */

static bool same_shape(const struct by_array *one, const struct by_array *other)
{
    return one->rank == other->rank &&
           !memcmp(one->dims, other->dims, one->rank * sizeof *one->dims);
}

/* What is not finite in the float model is nothing to come close to. */
static void add_shown_values(const double *want, const double *got, size_t count, double *signal,
                             double *noise)
{
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(want[i]))
            continue;
        *signal += want[i] * want[i];
        *noise += isfinite(got[i]) ? (want[i] - got[i]) * (want[i] - got[i]) : INFINITY;
    }
}

int by_shown_sqnr(const struct by_array *want, const struct by_array *got, double *sqnr,
                  struct baryon_error *err)
{
    double wanted[CHUNK], found[CHUNK], signal = 0, noise = 0;
    size_t count;
    *sqnr = (double)NAN;
    if (!by_elem_is_floats(want->elem) || !by_elem_is_floats(got->elem))
        return 0;
    if (!same_shape(want, got)) {
        *sqnr = 0;
        return 0;
    }
    if (by_dims_count(want->dims, want->rank, &count, err) < 0)
        return -1;
    for (size_t begin = 0; begin < count; begin += CHUNK) {
        const size_t size = count - begin < CHUNK ? count - begin : CHUNK;
        if (by_elem_to_doubles(want->elem, want->data, begin, size, wanted, err) < 0 ||
            by_elem_to_doubles(got->elem, got->data, begin, size, found, err) < 0)
            return -1;
        add_shown_values(wanted, found, size, &signal, &noise);
    }
    if (signal > 0)
        *sqnr = by_decibels(signal, noise);
    return 0;
}

int by_shown_worst(const struct by_array *want, const struct by_array *got, size_t count,
                   double *sqnr, struct baryon_error *err)
{
    *sqnr = (double)NAN;
    for (size_t i = 0; i < count; i++) {
        double one;
        if (by_shown_sqnr(&want[i], &got[i], &one, err) < 0)
            return -1;
        if (!(*sqnr <= one))
            *sqnr = isnan(one) ? *sqnr : one;
    }
    return 0;
}
