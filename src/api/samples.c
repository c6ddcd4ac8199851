/* The public interface: samples that a program makes. */
#include "api/samples.h"

#include "api/api.h"

#include <inttypes.h>
#include <string.h>

#define KEPT_IN_MEMORY (UINT64_C(64) << 20)
#define KEPT           (UINT64_C(4) << 30) /* by default */

/* Their function may forget to say why. */
static int failed(const char *what, const struct baryon_error *why, struct baryon_error *err)
{
    if (why->code == BARYON_OK)
        return by_fail(err, BARYON_ERR_INPUT, "the callback %s failed without an error message",
                       what);
    *err = *why;
    return -1;
}

static int make_sample_room(struct by_api_samples *samples, size_t count, struct baryon_error *err)
{
    if (count <= samples->room)
        return 0;
    struct by_array *arrays = by_realloc(samples->arrays, count, sizeof *arrays, err);
    if (!arrays)
        return -1;
    samples->arrays = arrays;
    struct by_unpark_room *rooms = by_realloc(samples->rooms, count, sizeof *rooms, err);
    if (!rooms)
        return -1;
    samples->rooms = rooms;
    memset(rooms + samples->room, 0, (count - samples->room) * sizeof *rooms);
    samples->room = count;
    return 0;
}

/* --- Samples that are kept --- */

static void drop_kept(struct by_api_samples *samples)
{
    for (size_t i = 0; i < samples->kept.count; i++)
        for (size_t k = 0; k < samples->kept.at[i].count; k++)
            by_park_drop(samples->depot, &samples->kept.at[i].arrays[k]);
    samples->kept.count = samples->kept.cap = 0;
    samples->kept.at = NULL;
    by_depot_close(samples->depot);
    samples->depot = NULL;
    by_arena_release(&samples->arena);
}

static int refuse_again(const struct by_api_samples *samples, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "the samples are needed again, can be read only once, and are larger than the %" PRIu64
            " bytes that are cached",
            samples->theirs.keep);
    return by_err_hint(err,
                       "provide rewind, set a limit, or calibrate once and give the statistics");
}

/* There is no room for this one. Those that are not counted are needed again for sure. */
static int give_up(struct by_api_samples *samples, struct baryon_error *err)
{
    if (!samples->theirs.rewind && !samples->theirs.count)
        return refuse_again(samples, err);
    drop_kept(samples);
    return 0;
}

/* An array is counted as soon as it waits, so that it is dropped whatever happens next. */
static int keep_arrays(struct by_api_samples *samples, struct by_api_sample *sample, size_t count,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = samples->arrays[i].name;
        struct by_parked *parked = &sample->arrays[i];
        if (by_park(samples->depot, &samples->arrays[i], false, parked, err) < 0)
            return -1;
        sample->count++;
        if (name && !(parked->array.name = by_arena_text(&samples->arena, name, strlen(name), err)))
            return -1;
    }
    return 0;
}

static int keep_sample_arrays(struct by_api_samples *samples, size_t count, const char *name,
                              struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        samples->bytes += samples->arrays[i].size;
    if (samples->bytes > samples->theirs.keep)
        return give_up(samples, err);
    if (by_list_reserve(&samples->arena, &samples->kept, 1, sizeof *samples->kept.at, err) < 0)
        return -1;
    struct by_api_sample *sample = &samples->kept.at[samples->kept.count];
    *sample = (struct by_api_sample){
        .arrays = by_arena_alloc(&samples->arena, count, sizeof *sample->arrays, err)};
    if (!sample->arrays ||
        (name && !(sample->name = by_arena_text(&samples->arena, name, strlen(name), err))))
        return -1;
    samples->kept.count++;
    return keep_arrays(samples, sample, count, err);
}

static int give_kept(struct by_api_samples *samples, const struct by_array **arrays, size_t *count,
                     const char **name, struct baryon_error *err)
{
    const struct by_api_sample *sample = &samples->kept.at[samples->next++];
    for (size_t i = 0; i < sample->count; i++)
        if (by_unpark(samples->depot, &sample->arrays[i], &samples->rooms[i], &samples->arrays[i],
                      err) < 0)
            return -1;
    *arrays = samples->arrays;
    *count = sample->count;
    *name = sample->name;
    return 0;
}

/* --- Calls --- */

static int give_theirs(struct by_api_samples *samples, const struct by_array **arrays,
                       size_t *count, const char **name, struct baryon_error *err)
{
    const struct baryon_array *given = NULL;
    struct baryon_error why;
    by_err_clear(&why);
    if (samples->theirs.next(samples->theirs.context, &given, count, name, &why))
        return failed("next", &why, err);
    if (!given) {
        samples->ended = samples->depot;
        return 0;
    }
    if (make_sample_room(samples, *count ? *count : 1, err) < 0)
        return -1;
    for (size_t i = 0; i < *count; i++)
        if (by_api_array(&given[i], &samples->arrays[i], err) < 0)
            return by_err_in(err, "array %zu", i);
    if (samples->depot && keep_sample_arrays(samples, *count, *name, err) < 0)
        return -1;
    *arrays = samples->arrays;
    samples->next++;
    return 0;
}

static int next(void *context, const struct by_array **arrays, size_t *count, const char **name,
                struct baryon_error *err)
{
    struct by_api_samples *samples = context;
    if (samples->depot && samples->next < samples->kept.count)
        return give_kept(samples, arrays, count, name, err);
    if (samples->ended && samples->depot)
        return 0;
    return give_theirs(samples, arrays, count, name, err);
}

static int again(void *context, struct baryon_error *err)
{
    struct by_api_samples *samples = context;
    struct baryon_error why;
    samples->next = 0;
    if (samples->depot)
        return 0;
    if (!samples->theirs.rewind)
        return refuse_again(samples, err);
    by_err_clear(&why);
    return samples->theirs.rewind(samples->theirs.context, &why) ? failed("rewind", &why, err) : 0;
}

static int begin_keeping(struct by_api_samples *samples, struct baryon_error *err)
{
    struct baryon_samples *theirs = &samples->theirs;
    theirs->keep = theirs->keep ? theirs->keep : KEPT;
    if (theirs->count && theirs->rewind)
        return 0;
    return by_depot_open(&samples->depot, &(struct by_depot_options){.budget = KEPT_IN_MEMORY},
                         err);
}

int by_api_samples_open(struct by_api_samples *samples, const struct baryon_samples *theirs,
                        struct by_input_callback *callback, struct baryon_error *err)
{
    *samples = (struct by_api_samples){.theirs = {.size = sizeof samples->theirs}};
    by_arena_init(&samples->arena, 0);
    if (by_api_options(&samples->theirs, sizeof samples->theirs, theirs, err) < 0)
        return -1;
    theirs = &samples->theirs;
    if (!theirs->next)
        return by_fail(err, BARYON_ERR_USAGE, "the samples have no callback next");
    if (theirs->count >= BY_COUNT_UNKNOWN)
        return by_fail(err, BARYON_ERR_USAGE, "the number of samples is too large");
    *callback = (struct by_input_callback){
        .next = next,
        .rewind = again,
        .context = samples,
        .count = theirs->count ? (size_t)theirs->count : BY_COUNT_UNKNOWN,
        .what = theirs->name,
    };
    return begin_keeping(samples, err);
}

void by_api_samples_close(struct by_api_samples *samples)
{
    drop_kept(samples);
    for (size_t i = 0; i < samples->room; i++)
        by_unpark_room_release(&samples->rooms[i]);
    by_free(samples->rooms);
    by_free(samples->arrays);
    *samples = (struct by_api_samples){.next = 0};
}
