/* What an evaluation takes in memory, beside a limit. */
#include "llm/eval_internal.h"

#include "llm/memory.h"

/* Bytes. tiles: of weights, where these lie in a file. */
struct need {
    uint64_t weights, tiles, heads, states, windows, logits;
};

static void add_model(const struct by_evaluating *e, const struct by_decoder *d, struct need *need)
{
    const uint64_t threads = by_pool_threads(e->pool);
    const uint64_t tokens = (uint64_t)e->windows * e->length;
    const size_t widest = by_decoder_width(d);
    need->weights = by_llm_most(need->weights, sizeof(float) * by_decoder_most_floats(d));
    need->tiles =
        by_llm_most(need->tiles, threads * sizeof(float) * by_decoder_tile_floats(widest));
    need->heads += sizeof(float) * (uint64_t)d->vocab * d->hidden;
    need->states += tokens * d->hidden * by_decoder_kept_size(d);
    need->windows = by_llm_most(need->windows, threads * (by_decoder_window_bytes(d, e->length) +
                                                          sizeof(float) * e->length * widest));
    need->logits += threads * sizeof(float) * BY_EVAL_TOKENS * (d->vocab + d->hidden);
}

/* What is in memory at once; the logits come after the layers. */
static uint64_t bytes_of(const struct need *need, bool in_file)
{
    const uint64_t weights = in_file ? need->tiles : need->weights;
    const uint64_t heads = in_file ? 0 : need->heads;
    const uint64_t last = need->logits + (in_file ? need->tiles : 0);
    return BY_LLM_OVERHEAD + heads + by_llm_most(weights + need->windows, last);
}

static int refuse_limit(const struct need *need, uint64_t limit, struct baryon_error *err)
{
    char all[32], given[32], tiles[32], windows[32], logits[32];
    const uint64_t least = bytes_of(need, true);
    by_fail(err, BARYON_ERR_NOMEM,
            "evaluation requires %s, --max-memory is %s: tiles of weights %s, windows %s, logits "
            "%s",
            by_llm_megabytes(least, all), by_llm_megabytes(limit, given),
            by_llm_megabytes(need->tiles, tiles), by_llm_megabytes(need->windows, windows),
            by_llm_megabytes(need->logits, logits));
    return by_llm_hint_least(err, least);
}

int by_eval_fit(struct by_evaluating *e, struct baryon_error *err)
{
    const uint64_t limit = e->options->max_memory;
    struct by_decoder *decoders[2] = {&e->model.decoder, &e->other.decoder};
    const size_t count = e->options->against ? 2 : 1;
    const char *folder = by_spill_folder();
    struct need need = {0};
    for (size_t i = 0; i < count; i++) {
        decoders[i]->halved = e->options->halved;
        add_model(e, decoders[i], &need);
    }
    const uint64_t most = by_llm_most(need.weights, need.heads);
    need.tiles = need.tiles < most ? need.tiles : most;
    if (!limit)
        return 0;
    if (bytes_of(&need, true) > limit)
        return refuse_limit(&need, limit, err);
    const bool spills = bytes_of(&need, false) + need.states > limit;
    const bool tiles = bytes_of(&need, false) > limit;
    if (spills)
        by_llm_tell_file(e->options->log, "hidden states", need.states);
    if (tiles)
        by_llm_tell_file(e->options->log, "weights of a layer and heads",
                         need.weights + need.heads);
    for (size_t i = 0; i < count; i++) {
        decoders[i]->spill = spills ? folder : NULL;
        decoders[i]->weight_spill = tiles ? folder : NULL;
    }
    return 0;
}
