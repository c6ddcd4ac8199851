/*
 * A model beside models that were made of it, in one session on the same sample: what a value is
 * in one and in the others is seen at the same time, and nothing is stored.
 *
 * The others stand under other names beside the model, with the same inputs. An other may be
 * local: each of its nodes reads what the model has, not what went wrong before it, so that every
 * error in it is of one place. Nodes that nothing wanted needs are left out.
 *
 * Tensors are looked at on their edges (engine/tap.h) and live no longer than that, but for one
 * that others are computed from: it waits for them. A sample takes the memory of a run of each
 * model, and weights that are not shared are there once for each.
 *
 * What comes out does not depend on the order of samples, nor on threads.
 */
#ifndef BY_TWIN_H
#define BY_TWIN_H

#include "base/par.h"
#include "engine/session.h"
#include "ir/graph.h"

#define BY_TWIN_SIDES 4

struct by_twin_side {
    struct baryon_model *model;
    struct baryon_value **same; /* by value->index of the model: what stands for it here, or NULL */
    size_t same_count;
    bool local;
};

/* model: a copy of `exact` that is as it was copied; it may be edited afterwards. Both are linked
 * and settled. Whatever comes out, by_twin_side_close() goes with it; the model stays. */
int by_twin_side_open(struct by_twin_side *side, const struct baryon_model *exact,
                      struct baryon_model *model, bool local, struct baryon_error *err);
void by_twin_side_close(struct by_twin_side *side);

/* A value, of a float type, and what it is compared with. */
struct by_twin_want {
    const struct baryon_value *value;                 /* of the model */
    const struct baryon_value *others[BY_TWIN_SIDES]; /* NULL: not of this one */
    bool derived; /* some of the others are computed from the value itself */
};

struct by_twin;

/* Main graphs' values, none a constant. The models are used up: they can only be freed, and may
 * be. options: one thread, whatever they say, since samples run side by side. */
int by_twin_open(struct by_twin **twin, struct baryon_model *exact,
                 const struct by_twin_side *sides, size_t side_count,
                 const struct by_twin_want *wants, size_t want_count,
                 const struct by_session_options *options, struct baryon_error *err);
void by_twin_close(struct by_twin *twin);

/* inputs[i]: those of sample i, by name. Adds to what was seen. */
int by_twin_run(struct by_twin *twin, struct by_pool *pool, const struct by_array *const *inputs,
                size_t input_count, size_t samples, struct baryon_error *err);

/* How far a value is from the model's, over all samples. */
struct by_twin_error {
    double noise;  /* energy of the difference */
    double shift;  /* mean of the difference */
    double peak;   /* greatest magnitude of it */
    uint64_t lost; /* values that were not finite, or in a tensor of another shape; not in these */
};

/* What a value is in the model: finite values. */
struct by_twin_value {
    uint64_t count;
    double signal; /* energy */
    double min, max;
    /* Where the greatest magnitude is: of the first sample that has it, the first element. */
    uint64_t sample;
    size_t rank;
    int64_t at[BY_RANK_MAX];
};

void by_twin_value(const struct by_twin *twin, size_t want, struct by_twin_value *value);
/* Of a side that the want has. */
void by_twin_error(const struct by_twin *twin, size_t want, size_t side,
                   struct by_twin_error *error);

#endif
