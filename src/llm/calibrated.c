/* Texts, windows, and the layers of a decoder one after the other. */
#include "llm/calibrated_internal.h"

#include "llm/eval_text.h"
#include "llm/ids.h"

#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* Of so many windows one is held out. */
#define HELD_STEP 4

/* --- Windows --- */

/* Spread evenly over the texts; those that are held out come last. */
static int cut_texts(struct by_llm_calibrated *job, struct baryon_error *err)
{
    const size_t length = (size_t)job->options->length;
    struct by_token_ids all = job->ids;
    const size_t whole = all.count / length;
    const bool in_rows = by_llm_ids_given(&job->options->texts); /* windows are as they are given */
    size_t count = whole, place = 0;
    if (!count) {
        by_fail(err, BARYON_ERR_INPUT, "the texts have %zu tokens, must have at least %zu",
                all.count, length);
        return by_err_hint(err, "give more text, or a smaller --length");
    }
    if (job->options->windows && job->options->windows < count)
        count = (size_t)job->options->windows;
    const size_t held = count / HELD_STEP;
    job->ids = (struct by_token_ids){0};
    job->ids.ids = by_alloc(count * length, sizeof *job->ids.ids, err);
    for (size_t pass = 0; job->ids.ids && pass < 2; pass++)
        for (size_t i = 0; i < count; i++) {
            const bool is_held = i % HELD_STEP == HELD_STEP - 1;
            const size_t first = in_rows ? whole * (2 * i + 1) / (2 * count) * length
                                         : (all.count - length) * (2 * i + 1) / (2 * count);
            if (is_held == (pass == 1))
                memcpy(job->ids.ids + place++ * length, all.ids + first, length * sizeof *all.ids);
        }
    by_token_ids_release(&all);
    job->windows = count;
    job->held = count - held;
    job->ids.count = count * length;
    return job->ids.ids ? 0 : -1;
}

/* --- What is solved --- */

struct by_llm_target by_llm_item_target(const struct by_llm_item *item)
{
    return (struct by_llm_target){.tensor = item->scheme ? &item->tensor : NULL,
                                  .blocks = item->blocks,
                                  .columns = item->weight->columns};
}

static void mark(struct by_llm_calibrated *job, const struct by_decoder_place *place)
{
    if (!place->weight)
        return;
    struct by_llm_item *item = &job->plan->items[place->weight - job->opened->source.weights];
    const struct by_llm_target target = by_llm_item_target(item);
    if (item->scheme || item->blocks)
        item->method = by_llm_target_solves(&target) ? job->options->solver.method->name : "rtn";
}

static void mark_all(struct by_llm_calibrated *job)
{
    for (size_t i = 0; i < job->decoder.layers; i++) {
        const struct by_decoder_layer *layer = &job->decoder.layer[i];
        for (size_t k = 0; k < BY_PARTS; k++)
            mark(job, &layer->parts[k]);
        for (size_t k = 0; layer->experts && k < 3 * job->decoder.experts; k++)
            mark(job, &layer->experts[k]);
    }
}

int by_llm_calibrated_read(struct by_llm_calibrated *job, struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = job->options;
    if (by_decoder_open(&job->decoder, &job->opened->source, job->opened->checkpoint->config, err))
        return -1;
    job->decoder.halved = options->halved;
    if (by_llm_text_ids(&job->ids, job->opened, &options->texts, (size_t)options->length,
                        job->decoder.vocab, err) ||
        cut_texts(job, err))
        return -1;
    return 0;
}

int by_llm_calibrated_open(struct by_llm_calibrated *job, struct baryon_error *err)
{
    if (by_llm_calibrated_read(job, err))
        return -1;
    mark_all(job);
    return 0;
}

void by_llm_calibrated_name(const struct by_llm_calibrated *job, struct by_str *text)
{
    const struct by_llm_solver *solver = &job->options->solver;
    const struct by_llm_method_options *own = &solver->options;
    const struct by_token_ids *ids = &job->ids;
    char hash[33];
    by_str_printf(text, " limited %s %.17g %.17g %.17g %d %u %u %d %zu %zu %s",
                  solver->method->name, own->shrink, own->damping, own->cross, own->start,
                  own->sweeps, own->fits, own->in_order, job->windows, (size_t)job->options->length,
                  by_hash128_text(by_hash128(ids->ids, ids->count * sizeof *ids->ids), hash));
    if (job->options->halved)
        by_str_puts(text, " bf16");
}

void by_llm_calibrated_close(struct by_llm_calibrated *job)
{
    by_token_ids_release(&job->ids);
    by_decoder_close(&job->decoder);
    by_arena_release(&job->arena);
}

/* --- Layers --- */

static float *values_in(const struct by_decoder_place *place,
                        const struct by_decoder_matrix *matrix, const struct by_llm_weight *weight)
{
    if (place->weight == weight)
        return matrix->weight;
    return place->bias == weight ? matrix->bias : NULL;
}

float *by_llm_streams_values(struct by_llm_streams *streams, const struct by_llm_weight *weight)
{
    const struct by_decoder *d = &streams->job->decoder;
    const struct by_decoder_layer *layer = &d->layer[streams->layer];
    const struct by_decoder_loaded *loaded = &streams->rounded.loaded;
    float *values = NULL;
    for (size_t i = 0; i < BY_PARTS && !values; i++)
        values = values_in(&layer->parts[i], &loaded->parts[i], weight);
    for (size_t i = 0; layer->experts && i < 3 * d->experts && !values; i++)
        values = values_in(&layer->experts[i], &loaded->experts[i], weight);
    return values;
}

static int enter_input(struct by_llm_streams *streams, struct by_decoder_run *run,
                       enum by_decoder_input input, struct baryon_error *err)
{
    return by_decoder_enter(run, streams->layer, &streams->rounded.loaded, input, err);
}

static int check_tile(const struct by_llm_streams *streams, const struct by_decoder_place *place,
                      struct by_decoder_matrix *matrix, size_t first, size_t rows,
                      struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const size_t count = rows * matrix->columns;
    float *values = matrix->weight + first * matrix->columns;
    const size_t at = by_llm_strange(values, count);
    if (at == count)
        return 0;
    if (streams->job->options->allow_nonfinite) {
        for (size_t i = 0; i < rows; i++)
            by_llm_clean_row(values + i * matrix->columns, matrix->columns);
        return 0;
    }
    by_fail(err, BARYON_ERR_INPUT, "%s[%zu, %zu] is %g, must be finite",
            by_quote(quoted, place->weight->name), first + at / matrix->columns,
            at % matrix->columns, (double)values[at]);
    return by_err_hint(err, "--allow-nonfinite quantizes it as 0 or the row's limit");
}

static int check_weight(const struct by_llm_streams *streams, const struct by_decoder_place *place,
                        struct by_decoder_matrix *matrix, struct baryon_error *err)
{
    const size_t all = matrix->weight ? matrix->rows : 0;
    const size_t step = all ? by_decoder_tile_rows(matrix->columns) : 1;
    for (size_t first = 0; first < all; first += step) {
        const size_t rows = all - first < step ? all - first : step;
        if (check_tile(streams, place, matrix, first, rows, err))
            return -1;
        by_decoder_done(streams->rounded.loaded.spill, matrix->weight + first * matrix->columns,
                        rows * matrix->columns);
    }
    return 0;
}

static int check_weights(struct by_llm_streams *streams, struct baryon_error *err)
{
    const struct by_decoder *d = &streams->job->decoder;
    const struct by_decoder_layer *layer = &d->layer[streams->layer];
    struct by_decoder_loaded *loaded = &streams->rounded.loaded;
    for (size_t i = 0; i < BY_PARTS; i++)
        if (check_weight(streams, &layer->parts[i], &loaded->parts[i], err))
            return -1;
    for (size_t i = 0; layer->experts && i < 3 * d->experts; i++)
        if (check_weight(streams, &layer->experts[i], &loaded->experts[i], err))
            return -1;
    return 0;
}

/* Weights that share an input: `exact` goes one input further with the float ones, then they are
 * solved, or taken from the record, and `rounded` follows. */
static int run_stage(struct by_llm_streams *streams, enum by_decoder_input stage, bool resuming,
                     struct baryon_error *err)
{
    struct by_decoder_run *exact = streams->drifts ? &streams->exact : NULL;
    if (by_decoder_load_stage(&streams->rounded, streams->layer, stage, err) ||
        check_weights(streams, err))
        return -1;
    if (stage == BY_INPUT_ATTENTION && ((exact && enter_input(streams, exact, stage, err)) ||
                                        enter_input(streams, &streams->rounded, stage, err)))
        return -1;
    if (resuming)
        return (exact && enter_input(streams, exact, stage + 1, err)) ||
                       by_llm_streams_resume(streams, err) ||
                       enter_input(streams, &streams->rounded, stage + 1, err)
                   ? -1
                   : 0;
    const struct by_llm_calibrated *job = streams->job;
    const bool known = job->look && job->known && job->known(job->context, streams->layer);
    return (!known && by_llm_streams_solve(streams, stage, err)) ||
                   enter_input(streams, &streams->rounded, stage + 1, err)
               ? -1
               : 0;
}

static int run_layer(struct by_llm_streams *streams, bool *resuming, struct baryon_error *err)
{
    const struct by_llm_calibrated *job = streams->job;
    if (*resuming && by_llm_streams_peek(streams, resuming, err))
        return -1;
    for (enum by_decoder_input stage = BY_INPUT_ATTENTION; stage < BY_INPUTS; stage++)
        if (run_stage(streams, stage, *resuming, err))
            return -1;
    if (*resuming)
        return by_llm_streams_resumed(streams, err);
    return job->look ? job->looked(job->context, streams->layer, err)
                     : by_llm_streams_record(streams, err);
}

static int run_layers(struct by_llm_streams *streams, struct baryon_error *err)
{
    struct by_llm_calibrated *job = streams->job;
    const struct by_llm_quantize_options *options = job->options;
    const size_t length = (size_t)options->length;
    bool resuming = !job->look;
    streams->drifts = options->solver.options.cross != 0;
    if ((streams->drifts && by_decoder_begin(&streams->exact, &job->decoder, job->ids.ids,
                                             job->windows, length, job->pool, err)) ||
        by_decoder_begin(&streams->rounded, &job->decoder, job->ids.ids, job->windows, length,
                         job->pool, err))
        return -1;
    for (streams->layer = 0; streams->layer < job->decoder.layers; streams->layer++) {
        if (options->progress)
            options->progress(options->context, streams->layer, job->decoder.layers);
        if (run_layer(streams, &resuming, err))
            return -1;
    }
    return 0;
}

int by_llm_calibrated_run(struct by_llm_calibrated *job, struct by_hash128 key,
                          struct baryon_error *err)
{
    struct by_llm_streams streams = {.job = job};
    char folder[PATH_MAX];
    struct by_llm_lies lies = {.states = job->options->spills};
    if (by_llm_streams_fit(job, &lies, err))
        return -1;
    by_str_init(&streams.record);
    snprintf(folder, sizeof folder, "%s", job->journal ? job->journal : ".");
    const char *beside = dirname(folder);
    job->decoder.spill = lies.states ? beside : NULL;
    job->decoder.weight_spill = lies.weights ? beside : NULL;
    const int status = (!job->look && by_llm_streams_open_journal(&streams, key, err)) ||
                       run_layers(&streams, err);
    by_journal_close(streams.journal);
    by_str_release(&streams.record);
    by_decoder_end(&streams.exact);
    by_decoder_end(&streams.rounded);
    by_free(streams.kept);
    job->decoder.spill = job->decoder.weight_spill = NULL;
    return status ? -1 : 0;
}
