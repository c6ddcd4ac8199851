/* What solving takes in memory, beside a limit. */
#include "llm/calibrated_internal.h"

#include "llm/ggml/parts.h"
#include "llm/memory.h"

/* Bytes of parts; of matrices and rows those of the input that takes most. tiles: of weights, where
 * these lie in a file. */
struct need {
    uint64_t weights, tiles, streams, windows, matrices, rows, packed, beside;
    const struct by_llm_weight *widest; /* a linear of that input */
};

/* Points have a factor of their own, of columns that go together. */
static bool may_be_in_points(const struct by_llm_calibrated *job, const struct by_llm_item *item)
{
    const struct by_ggml_form *form = item->blocks ? by_ggml_form(item->blocks) : NULL;
    return form && (job->look || form->points);
}

/* A linear with its input's matrices and the rows that are solved at once. */
static void look_at_linear(const struct by_llm_calibrated *job,
                           const struct by_decoder_place *place, struct need *need)
{
    if (!place->weight)
        return;
    const struct by_llm_item *item = &job->plan->items[place->weight - job->opened->source.weights];
    const uint64_t threads = by_pool_threads(job->pool);
    const size_t tile = by_decoder_tile_floats(place->weight->columns);
    need->tiles = by_llm_most(need->tiles, threads * sizeof(float) * tile);
    if (!item->method)
        return;
    const struct by_llm_solver *solver = &job->options->solver;
    const uint64_t columns = place->weight->columns;
    const uint64_t factors = may_be_in_points(job, item) ? 2 : 1;
    const uint64_t kinds = 2U + (job->held < job->windows ? 1U : 0U) +
                           (solver->options.cross != 0 ? 1U : 0U) +
                           (solver->options.start == BY_LLM_START_GPTQ ? factors : 0U);
    const uint64_t matrices = sizeof(float) * kinds * columns * columns;
    const uint64_t rows = by_llm_solving_bytes(place->weight->rows, (size_t)columns);
    const uint64_t solved = by_llm_rows_at_once(place->weight->rows, (size_t)columns);
    need->tiles = by_llm_most(need->tiles, sizeof(float) * columns * solved);
    if (matrices + rows <= need->matrices + need->rows)
        return;
    need->matrices = matrices;
    need->rows = rows;
    need->widest = place->weight;
}

/* What is solved of a layer, as it is stored, until the record has it. */
static uint64_t packed_of(const struct by_llm_calibrated *job, const struct by_decoder_place *place)
{
    if (!place->weight || job->look)
        return 0;
    const struct by_llm_item *item = &job->plan->items[place->weight - job->opened->source.weights];
    uint64_t bytes = 0;
    for (size_t i = 0; item->method && i < item->fields.count; i++)
        bytes += item->fields.at[i].bytes;
    return bytes;
}

static void look_at_layers(const struct by_llm_calibrated *job, struct need *need)
{
    for (size_t i = 0; i < job->decoder.layers; i++) {
        const struct by_decoder_layer *layer = &job->decoder.layer[i];
        uint64_t packed = 0;
        for (size_t k = 0; k < BY_PARTS; k++) {
            look_at_linear(job, &layer->parts[k], need);
            packed += packed_of(job, &layer->parts[k]);
        }
        for (size_t k = 0; layer->experts && k < 3 * job->decoder.experts; k++) {
            look_at_linear(job, &layer->experts[k], need);
            packed += packed_of(job, &layer->experts[k]);
        }
        need->packed = by_llm_most(need->packed, packed);
    }
    need->packed *= 2; /* in the record, and where it is written from */
    need->tiles = need->weights < need->tiles ? need->weights : need->tiles;
}

static struct need need_of(const struct by_llm_calibrated *job)
{
    const struct by_decoder *d = &job->decoder;
    const uint64_t runs = job->options->solver.options.cross != 0 ? 2 : 1;
    const uint64_t tokens = job->windows * job->options->length;
    const uint64_t size = by_decoder_kept_size(d), width = by_decoder_width(d);
    struct need need = {.weights = sizeof(float) * by_decoder_stage_floats(d),
                        .streams = runs * tokens * size * (d->hidden + width),
                        .windows = by_pool_threads(job->pool) *
                                   by_decoder_window_bytes(d, (size_t)job->options->length),
                        .beside = job->beside};
    /* Tokens of an expert are copied; so is what the float stream had at the gates. */
    if (d->experts)
        need.windows += runs * tokens * (sizeof(float) * d->experts + size * width) +
                        (runs - 1) * tokens * size * width;
    look_at_layers(job, &need);
    return need;
}

/* With these bytes for weights. */
static uint64_t bytes_with(const struct need *need, uint64_t weights)
{
    return BY_LLM_OVERHEAD + weights + need->windows + need->matrices + need->rows + need->packed +
           need->beside;
}

static int refuse_limit(const struct need *need, uint64_t limit, struct baryon_error *err)
{
    const uint64_t least = bytes_with(need, need->tiles);
    char all[32], given[32], tiles[32], matrices[32], rows[32], windows[32];
    by_fail(err, BARYON_ERR_NOMEM,
            "%s requires %s, --max-memory is %s: tiles of weights %s, matrices of %zu inputs %s, "
            "rows %s, windows %s",
            need->widest->layer, by_llm_megabytes(least, all), by_llm_megabytes(limit, given),
            by_llm_megabytes(need->tiles, tiles), need->widest->columns,
            by_llm_megabytes(need->matrices, matrices), by_llm_megabytes(need->rows, rows),
            by_llm_megabytes(need->windows, windows));
    return by_llm_hint_least(err, least);
}

int by_llm_streams_fit(const struct by_llm_calibrated *job, struct by_llm_lies *lies,
                       struct baryon_error *err)
{
    const uint64_t limit = job->options->max_memory;
    if (!limit)
        return 0;
    const struct need need = need_of(job);
    if (!need.widest)
        return 0;
    if (bytes_with(&need, need.tiles) > limit)
        return refuse_limit(&need, limit, err);
    if (!lies->states && bytes_with(&need, need.weights) + need.streams > limit) {
        lies->states = true;
        by_llm_tell_file(job->log, "hidden states", need.streams);
    }
    if (bytes_with(&need, need.weights) > limit) {
        lies->weights = true;
        by_llm_tell_file(job->log, "weights that share an input", need.weights);
    }
    return 0;
}
