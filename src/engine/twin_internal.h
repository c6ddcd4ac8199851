/*
 * What the files twin*.c share.
 *
 *   twin_model.c   the models as one
 *   twin_look.c    what is seen, added up
 *   twin.c         taps, samples, answers
 */
#ifndef BY_TWIN_INTERNAL_H
#define BY_TWIN_INTERNAL_H

#include "base/exact.h"
#include "engine/tap.h"
#include "engine/twin.h"

#include <pthread.h>

struct by_twin_sums {
    struct by_exact noise, shift;
    double peak;
    uint64_t lost;
};

/* A want, as the tap has it: values in the order of the names. */
struct by_twin_set {
    const char *names[BY_TWIN_SIDES + 1]; /* in the joined model */
    size_t sides[BY_TWIN_SIDES];          /* of the others, in their order */
    size_t others;
    size_t exact; /* place of the model's value among the names */
    pthread_mutex_t lock;
    struct by_exact signal;
    uint64_t count;
    float min, max, top; /* top: greatest magnitude */
    uint64_t sample;
    size_t index, rank; /* of the top */
    int64_t dims[BY_RANK_MAX];
    struct by_twin_sums sums[BY_TWIN_SIDES]; /* by place among the others */
};

struct by_twin {
    struct by_tapped *tapped;
    struct by_twin_set *sets;
    size_t set_count;
    struct by_arena arena; /* names */
};

/* The side's model becomes part of exact: other names, and with them those of the wants. */
int by_twin_join(struct baryon_model *exact, const struct by_twin_side *side, size_t number,
                 struct baryon_error *err);
/* exact is without outputs, and all that is not needed for those values is gone. */
int by_twin_cut(struct baryon_model *exact, const struct by_twin_set *sets, size_t count,
                struct baryon_error *err);

by_tap_fn by_twin_look;

#endif
