/* Hashes the model, settings and samples that statistics belong to. */
#include "calibrate/key.h"

#include "base/text.h"

/* Raised when a sketch or moments of the same samples come out as other bytes than before. */
#define METHOD 2

/* What decides which values are computed, and what is noted of them. */
static void add_settings(struct by_hasher *hasher, const struct by_calibrate_plan *plan,
                         const struct by_calibrate_options *options)
{
    const struct by_session_options *session = &options->session;
    by_hasher_number(hasher, METHOD);
    by_hasher_number(hasher, options->targets);
    by_hasher_number(hasher, options->per_channel);
    by_hasher_number(hasher, options->means);
    by_hasher_number(hasher, options->moments);
    by_hasher_number(hasher, (uint64_t)session->optimization);
    by_hasher_number(hasher, session->deterministic);
    by_hasher_number(hasher, session->provider_count);
    for (size_t i = 0; i < session->provider_count; i++)
        by_hasher_text(hasher, session->providers[i]);
    by_hasher_number(hasher, plan->target_count);
    for (size_t i = 0; i < plan->target_count; i++)
        by_hasher_text(hasher, plan->targets[i].name);
    by_hasher_number(hasher, plan->layer_count);
    for (size_t i = 0; i < plan->layer_count; i++)
        by_hasher_text(hasher, plan->layers[i].name);
    for (size_t i = 0; i < options->vote_count; i++) {
        by_hasher_number(hasher, (uint64_t)options->votes[i].least);
        by_hasher_number(hasher, (uint64_t)options->votes[i].most);
    }
}

/* All but the hash of the samples. */
static int start_key(struct by_stats_key *key, struct baryon_model *model,
                     const struct by_calibrate_plan *plan,
                     const struct by_calibrate_options *options, struct baryon_error *err)
{
    struct by_hasher *hasher;
    *key = (struct by_stats_key){0};
    if (by_model_content_hash(model, &key->model, err) < 0 || by_hasher_open(&hasher, err) < 0)
        return -1;
    add_settings(hasher, plan, options);
    key->settings = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return 0;
}

int by_calibrate_key(struct by_stats_key *key, struct baryon_model *model,
                     const struct by_calibrate_plan *plan, const struct by_input *input,
                     const struct by_calibrate_options *options, struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (start_key(key, model, plan, options, err) < 0 || by_hasher_open(&hasher, err) < 0)
        return -1;
    const int status = by_input_identify(input, hasher, err);
    key->data = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return status;
}

int by_calibrate_key_alone(struct by_stats_key *key, struct baryon_model *model,
                           const struct by_calibrate_options *options, struct baryon_error *err)
{
    struct by_calibrate_plan plan;
    int status = by_calibrate_plan_make(&plan, model->graph, options, err);
    if (status == 0)
        status = start_key(key, model, &plan, options, err);
    by_calibrate_plan_release(&plan);
    return status;
}

static void add_word(struct by_text *text, const char *word)
{
    by_text_add(text, "%s%s", text->used ? ", " : "", word);
}

const char *by_calibrate_describe(const struct by_calibrate_options *options, char *buf,
                                  size_t size)
{
    struct by_text text;
    by_text_init(&text, buf, size);
    if (options->targets == BY_TARGETS_ALL)
        add_word(&text, "all tensors");
    if (options->per_channel)
        add_word(&text, "per channel");
    if (options->moments)
        add_word(&text, "moments");
    if (options->vote_count)
        add_word(&text, "votes");
    return buf;
}

static void add_strings(struct by_hasher *hasher, const struct by_array *array)
{
    const char *const *texts = array->data;
    for (size_t i = 0; i < array->size / sizeof *texts; i++)
        by_hasher_text(hasher, texts[i]);
}

int by_sample_hash(struct by_hash128 *hash, const struct by_array *arrays, size_t count,
                   uint64_t sample, struct baryon_error *err)
{
    struct by_hasher *hasher;
    if (by_hasher_open(&hasher, err) < 0)
        return -1;
    by_hasher_number(hasher, sample);
    for (size_t i = 0; i < count; i++) {
        by_hasher_text(hasher, arrays[i].name);
        by_hasher_number(hasher, (uint64_t)arrays[i].elem);
        by_hasher_number(hasher, arrays[i].rank);
        for (size_t axis = 0; axis < arrays[i].rank; axis++)
            by_hasher_number(hasher, (uint64_t)arrays[i].dims[axis]);
        if (arrays[i].elem == BY_ELEM_STRING)
            add_strings(hasher, &arrays[i]);
        else
            by_hasher_add(hasher, arrays[i].data, arrays[i].size);
    }
    *hash = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return 0;
}
