/* What solving takes in memory, beside a limit. */
#include "llm/calibrated_internal.h"

#include "base/log.h"

#include <stdio.h>

#define MEGABYTE ((uint64_t)1000 * 1000)
#define OVERHEAD (64 * MEGABYTE) /* the program, its libraries, their buffers */

/* Bytes of parts; of matrices and rows those of the input that takes most. */
struct need {
    uint64_t weights, streams, windows, matrices, rows;
    const struct by_llm_weight *widest; /* a linear of that input */
};

/* A linear with its input's matrices and the rows that are solved at once. */
static void look_at_linear(const struct by_llm_calibrated *job,
                           const struct by_decoder_place *place, struct need *need)
{
    if (!place->weight)
        return;
    const struct by_llm_item *item = &job->plan->items[place->weight - job->opened->source.weights];
    if (!item->method)
        return;
    const struct by_llm_solver *solver = &job->options->solver;
    const uint64_t columns = place->weight->columns;
    const uint64_t kinds =
        2U + (job->held < job->windows ? 2U : 0U) + (solver->options.cross != 0 ? 1U : 0U);
    const uint64_t matrices = sizeof(float) * kinds * columns * columns;
    const uint64_t rows = by_llm_solving_bytes(solver, place->weight->rows, (size_t)columns);
    if (matrices + rows <= need->matrices + need->rows)
        return;
    need->matrices = matrices;
    need->rows = rows;
    need->widest = place->weight;
}

static void look_at_layers(const struct by_llm_calibrated *job, struct need *need)
{
    for (size_t i = 0; i < job->decoder.layers; i++) {
        const struct by_decoder_layer *layer = &job->decoder.layer[i];
        for (size_t k = 0; k < BY_PARTS; k++)
            look_at_linear(job, &layer->parts[k], need);
        for (size_t k = 0; layer->experts && k < 3 * job->decoder.experts; k++)
            look_at_linear(job, &layer->experts[k], need);
    }
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
                                   by_decoder_window_bytes(d, (size_t)job->options->length)};
    /* Tokens of an expert are copied; so is what the float stream had at the gates. */
    if (d->experts)
        need.windows += runs * tokens * (sizeof(float) * d->experts + size * width) +
                        (runs - 1) * tokens * size * width;
    look_at_layers(job, &need);
    return need;
}

static uint64_t least_of(const struct need *need)
{
    return OVERHEAD + need->weights + need->windows + need->matrices + need->rows;
}

/* "12.3 MB" */
static const char *megabytes(uint64_t bytes, char *text, size_t size)
{
    snprintf(text, size, "%.1f MB", (double)bytes / (double)MEGABYTE);
    return text;
}

static int refuse(const struct need *need, uint64_t limit, struct baryon_error *err)
{
    char all[32], given[32], weights[32], matrices[32], rows[32], windows[32];
    by_fail(err, BARYON_ERR_NOMEM,
            "%s requires %s, --max-memory is %s: weights that share an input %s, matrices of %zu "
            "inputs %s, rows %s, windows %s",
            need->widest->layer, megabytes(least_of(need), all, sizeof all),
            megabytes(limit, given, sizeof given),
            megabytes(need->weights, weights, sizeof weights), need->widest->columns,
            megabytes(need->matrices, matrices, sizeof matrices),
            megabytes(need->rows, rows, sizeof rows),
            megabytes(need->windows, windows, sizeof windows));
    return by_err_hint(err, "the least that does is --max-memory %lluMB",
                       (unsigned long long)((least_of(need) + MEGABYTE - 1) / MEGABYTE));
}

int by_llm_streams_fit(const struct by_llm_calibrated *job, bool *spills, struct baryon_error *err)
{
    const uint64_t limit = job->options->max_memory;
    char streams[32];
    if (!limit)
        return 0;
    const struct need need = need_of(job);
    if (!need.widest)
        return 0;
    if (least_of(&need) > limit)
        return refuse(&need, limit, err);
    if (!*spills && least_of(&need) + need.streams > limit) {
        *spills = true;
        by_log(job->log, BY_LOG_NOTICE, "hidden states, %s, lie in a file: --max-memory",
               megabytes(need.streams, streams, sizeof streams));
    }
    return 0;
}
