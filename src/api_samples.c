/* The public interface: samples that a program makes. */
#include "api_samples.h"

#include "api.h"

/* Their function may forget to say why. */
static int failed(const char *what, struct baryon_error *err)
{
    if (err->code == BARYON_OK)
        return by_fail(err, BARYON_ERR_INPUT, "the program's function %s failed, without a reason",
                       what);
    return -1;
}

static int make_room(struct by_api_samples *samples, size_t count, struct baryon_error *err)
{
    if (count <= samples->room)
        return 0;
    struct by_array *arrays = by_realloc(samples->arrays, count, sizeof *arrays, err);
    if (!arrays)
        return -1;
    samples->arrays = arrays;
    samples->room = count;
    return 0;
}

static int next(void *context, const struct by_array **arrays, size_t *count, const char **name,
                struct baryon_error *err)
{
    struct by_api_samples *samples = context;
    const struct baryon_array *given = NULL;
    struct baryon_error why;
    by_err_clear(&why);
    if (samples->theirs.next(samples->theirs.context, &given, count, name, &why)) {
        failed("next", &why);
        *err = why;
        return -1;
    }
    if (!given)
        return 0;
    if (make_room(samples, *count ? *count : 1, err) < 0)
        return -1;
    for (size_t i = 0; i < *count; i++)
        if (by_api_array(&given[i], &samples->arrays[i], err) < 0)
            return by_err_in(err, "array %zu", i);
    *arrays = samples->arrays;
    return 0;
}

static int again(void *context, struct baryon_error *err)
{
    struct by_api_samples *samples = context;
    struct baryon_error why;
    by_err_clear(&why);
    if (!samples->theirs.rewind(samples->theirs.context, &why))
        return 0;
    failed("rewind", &why);
    *err = why;
    return -1;
}

int by_api_samples_open(struct by_api_samples *samples, const struct baryon_samples *theirs,
                        struct by_input_callback *callback, struct baryon_error *err)
{
    *samples = (struct by_api_samples){.theirs = {.size = sizeof samples->theirs}};
    if (by_api_options(&samples->theirs, sizeof samples->theirs, theirs, err) < 0)
        return -1;
    theirs = &samples->theirs;
    if (!theirs->next)
        return by_fail(err, BARYON_ERR_USAGE, "the samples have no function next");
    if (!theirs->count && !theirs->rewind)
        return by_fail(err, BARYON_ERR_USAGE,
                       "the samples say neither how many they are nor how to begin again");
    if (theirs->count >= BY_COUNT_UNKNOWN)
        return by_fail(err, BARYON_ERR_USAGE, "there cannot be that many samples");
    *callback = (struct by_input_callback){
        .next = next,
        .rewind = theirs->rewind ? again : NULL,
        .context = samples,
        .count = theirs->count ? (size_t)theirs->count : BY_COUNT_UNKNOWN,
        .what = theirs->name,
    };
    return 0;
}

void by_api_samples_close(struct by_api_samples *samples)
{
    by_free(samples->arrays);
    samples->arrays = NULL;
}
