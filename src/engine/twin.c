/* Runs a float model and its quantized models in one session and compares their tensors. */
#include "engine/twin_internal.h"

#include <string.h>

/* --- Sets --- */

static int name_value(struct by_twin *twin, struct by_twin_set *set, size_t place,
                      const struct baryon_value *value, struct baryon_error *err)
{
    set->names[place] = by_arena_text(&twin->arena, value->name, strlen(value->name), err);
    return set->names[place] ? 0 : -1;
}

/* Where the others are computed from the model's value, that one is only read, and comes last. */
static int make_set(struct by_twin *twin, struct by_twin_set *set, const struct by_twin_want *want,
                    size_t side_count, struct baryon_error *err)
{
    size_t place = want->derived ? 0 : 1;
    for (size_t i = 0; i < side_count; i++) {
        if (!want->others[i])
            continue;
        set->sides[set->others++] = i;
        if (name_value(twin, set, place++, want->others[i], err) < 0)
            return -1;
    }
    if (!set->others)
        return by_fail(err, BARYON_ERR_INTERNAL, "'%s' has no tensor to compare with",
                       want->value->name);
    set->exact = want->derived ? place : 0;
    return name_value(twin, set, set->exact, want->value, err);
}

static int make_sets(struct by_twin *twin, const struct by_twin_want *wants, size_t count,
                     size_t side_count, struct baryon_error *err)
{
    twin->sets = by_alloc_zero(count + 1, sizeof *twin->sets, err);
    if (!twin->sets)
        return -1;
    for (; twin->set_count < count; twin->set_count++) {
        struct by_twin_set *set = &twin->sets[twin->set_count];
        pthread_mutex_init(&set->lock, NULL);
        if (make_set(twin, set, &wants[twin->set_count], side_count, err) < 0) {
            pthread_mutex_destroy(&set->lock);
            return -1;
        }
    }
    return 0;
}

/* --- Opening --- */

static int open_taps(struct by_twin *twin, struct baryon_model *joined,
                     const struct by_session_options *options, struct baryon_error *err)
{
    struct by_session_options alone = *options;
    struct by_tap *taps = by_alloc_zero(twin->set_count + 1, sizeof *taps, err);
    if (!taps)
        return -1;
    alone.threads = 1;
    alone.branches = alone.cuts = 0;
    for (size_t i = 0; i < twin->set_count; i++) {
        struct by_twin_set *set = &twin->sets[i];
        taps[i] = (struct by_tap){.values = set->names,
                                  .value_count = set->others + 1,
                                  .hands = set->exact ? set->others : set->others + 1,
                                  .look = by_twin_look,
                                  .context = set};
    }
    const int status =
        by_tapped_open(&twin->tapped, joined, taps, twin->set_count, &alone, err) ? -1 : 0;
    by_free(taps);
    return status;
}

static int join_twin_sides(struct baryon_model *exact, const struct by_twin_side *sides,
                           size_t count, struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (by_twin_join(exact, &sides[i], i, err) < 0)
            return -1;
    return 0;
}

/* Names of the wants are those that their values have after the joining. */
static int open_twin(struct by_twin *twin, struct baryon_model *exact,
                     const struct by_twin_side *sides, size_t side_count,
                     const struct by_twin_want *wants, size_t want_count,
                     const struct by_session_options *options, struct baryon_error *err)
{
    if (side_count > BY_TWIN_SIDES)
        return by_fail(err, BARYON_ERR_INTERNAL, "%zu sides of a twin, must be at most %d",
                       side_count, BY_TWIN_SIDES);
    if (by_model_settle(exact, err) < 0 || join_twin_sides(exact, sides, side_count, err) < 0 ||
        make_sets(twin, wants, want_count, side_count, err) < 0 ||
        by_twin_cut(exact, twin->sets, twin->set_count, err) < 0)
        return -1;
    return open_taps(twin, exact, options, err);
}

int by_twin_open(struct by_twin **out, struct baryon_model *exact, const struct by_twin_side *sides,
                 size_t side_count, const struct by_twin_want *wants, size_t want_count,
                 const struct by_session_options *options, struct baryon_error *err)
{
    struct by_twin *twin = by_alloc_zero(1, sizeof *twin, err);
    *out = NULL;
    if (!twin)
        return -1;
    by_arena_init(&twin->arena, 0);
    const int status = open_twin(twin, exact, sides, side_count, wants, want_count, options, err);
    by_model_unlink(exact); /* it has nodes of the others, which may go before it */
    if (status < 0) {
        by_twin_close(twin);
        return -1;
    }
    *out = twin;
    return 0;
}

void by_twin_close(struct by_twin *twin)
{
    if (!twin)
        return;
    by_tapped_close(twin->tapped);
    for (size_t i = 0; i < twin->set_count; i++)
        pthread_mutex_destroy(&twin->sets[i].lock);
    by_free(twin->sets);
    by_arena_release(&twin->arena);
    by_free(twin);
}

/* --- Running --- */

struct running {
    struct by_twin *twin;
    const struct by_array *const *inputs;
    size_t input_count;
    struct by_tap_lane **lanes; /* by worker */
};

static int run_each(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *err)
{
    const struct running *running = context;
    for (size_t i = begin; i < end; i++)
        if (by_tap_lane_run(running->lanes[worker], running->inputs[i], running->input_count, i,
                            err))
            return -1;
    return 0;
}

int by_twin_run(struct by_twin *twin, struct by_pool *pool, const struct by_array *const *inputs,
                size_t input_count, size_t samples, struct baryon_error *err)
{
    const unsigned workers = pool ? by_pool_threads(pool) : 1;
    struct running running = {.twin = twin, .inputs = inputs, .input_count = input_count};
    running.lanes = by_alloc_zero(workers, sizeof(struct by_tap_lane *), err);
    int status = running.lanes ? 0 : -1;
    for (unsigned i = 0; status == 0 && i < workers; i++)
        status = by_tap_lane_open(&running.lanes[i], twin->tapped, NULL, err) ? -1 : 0;
    if (status == 0)
        status = by_par_for(pool, samples, 1, run_each, &running, err);
    for (unsigned i = 0; running.lanes && i < workers; i++)
        by_tap_lane_close(running.lanes[i]);
    by_free((void *)running.lanes);
    return status;
}

/* --- Answers --- */

static void find_place(struct by_twin_value *value, const struct by_twin_set *set)
{
    size_t rest = set->index;
    value->rank = set->rank;
    for (size_t i = set->rank; i-- > 0;) {
        const size_t size = set->dims[i] > 0 ? (size_t)set->dims[i] : 1;
        value->at[i] = (int64_t)(rest % size);
        rest /= size;
    }
}

void by_twin_value(const struct by_twin *twin, size_t want, struct by_twin_value *value)
{
    const struct by_twin_set *set = &twin->sets[want];
    *value = (struct by_twin_value){.count = set->count,
                                    .signal = by_exact_value(&set->signal),
                                    .min = (double)set->min,
                                    .max = (double)set->max,
                                    .sample = set->sample};
    find_place(value, set);
}

void by_twin_error(const struct by_twin *twin, size_t want, size_t side,
                   struct by_twin_error *error)
{
    const struct by_twin_set *set = &twin->sets[want];
    *error = (struct by_twin_error){.noise = 0};
    for (size_t i = 0; i < set->others; i++) {
        const struct by_twin_sums *sums = &set->sums[i];
        if (set->sides[i] != side)
            continue;
        error->noise = by_exact_value(&sums->noise);
        error->shift = set->count ? by_exact_value(&sums->shift) / (double)set->count : 0;
        error->peak = sums->peak;
        error->lost = sums->lost;
    }
}
