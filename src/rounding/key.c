/* What a checkpoint is of: the models, with all that calibration and the plan's settings made of
 * them, how they are run, and the samples. */
#include "rounding/rounding_internal.h"
#include "stats/stats.h"

static int add_sample(struct by_hasher *hasher, const struct by_rounding_run *run,
                      const struct by_parked *arrays, size_t count, struct baryon_error *err)
{
    struct by_unpark_room room = {0};
    struct by_array array;
    int status = 0;
    for (size_t i = 0; status == 0 && i < count; i++) {
        status = by_unpark(run->depot, &arrays[i], &room, &array, err);
        if (status < 0 || array.elem == BY_ELEM_STRING)
            continue;
        by_hasher_text(hasher, array.name);
        by_hasher_number(hasher, array.rank);
        for (size_t axis = 0; axis < array.rank; axis++)
            by_hasher_number(hasher, (uint64_t)array.dims[axis]);
        by_hasher_add(hasher, array.data, array.size);
    }
    by_unpark_room_release(&room);
    return status;
}

static int add_model(struct by_hasher *hasher, struct baryon_model *model, struct baryon_error *err)
{
    struct by_hash128 hash;
    if (by_model_content_hash(model, &hash, err) < 0)
        return -1;
    by_hasher_add(hasher, &hash, sizeof hash);
    return 0;
}

static void add_settings(struct by_hasher *hasher, const struct by_rounding_run *run)
{
    const struct by_session_options *session = &run->q->options->calibrate.session;
    by_hasher_number(hasher, run->recipe.rounding_on_float);
    by_hasher_number(hasher, run->recipe.rounding_scales);
    by_hasher_number(hasher, (uint64_t)session->optimization);
    by_hasher_number(hasher, session->deterministic);
    for (size_t i = 0; i < session->provider_count; i++)
        by_hasher_text(hasher, session->providers[i]);
}

int by_rounding_key(void *context, struct by_hasher *hasher, struct baryon_error *err)
{
    const struct by_rounding_run *run = context;
    size_t count;
    add_settings(hasher, run);
    int status = add_model(hasher, run->reference, err);
    if (status == 0)
        status = add_model(hasher, run->copy.model, err);
    for (size_t i = 0; status == 0 && i < by_judge_kept(run->judge); i++) {
        const struct by_parked *arrays = by_judge_parked(run->judge, i, &count);
        status = add_sample(hasher, run, arrays, count, err);
    }
    return status;
}
