/* Windows of text through the layers, one layer's weights in memory at a time. */
#include "llm/decoder/decoder_internal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

int by_decoder_open(struct by_decoder *decoder, const struct by_llm_source *source,
                    const struct by_doc_node *config, struct baryon_error *err)
{
    *decoder = (struct by_decoder){.source = source};
    by_arena_init(&decoder->arena, 0);
    config = by_hf_text(config);
    if (!config)
        return by_fail(err, BARYON_ERR_INPUT, "config.json is missing, must be in the folder");
    return by_decoder_config(decoder, config, err) || by_decoder_ropes(decoder, config, err) ||
                   by_decoder_places(decoder, err)
               ? -1
               : 0;
}

void by_decoder_close(struct by_decoder *decoder)
{
    by_arena_release(&decoder->arena);
    *decoder = (struct by_decoder){0};
}

/* --- Windows --- */

static int embed(struct by_decoder_run *run, const uint32_t *ids, struct baryon_error *err)
{
    const struct by_decoder *d = run->decoder;
    const struct by_llm_weight *table = d->embedding.weight;
    const size_t step = 32; /* rows of codes come in such steps */
    float *rows = by_alloc((step + 1) * d->hidden, sizeof *rows, err);
    float *state = rows ? rows + step * d->hidden : NULL;
    int status = rows ? 0 : -1;
    size_t have = SIZE_MAX;
    for (size_t i = 0; !status && i < run->windows * run->length; i++) {
        const size_t first = ids[i] / step * step;
        const size_t count = table->rows - first < step ? table->rows - first : step;
        if (ids[i] >= d->vocab) {
            status =
                by_fail(err, BARYON_ERR_INPUT,
                        "token %zu has the id %" PRIu32 ", the model has %zu", i, ids[i], d->vocab);
            break;
        }
        if (first != have)
            status = by_llm_source_rows(d->source, table, first, count, rows, err);
        have = first;
        const float *row = rows + (ids[i] - first) * d->hidden;
        for (size_t k = 0; !status && k < d->hidden; k++)
            state[k] = row[k] * (float)d->embedding_scale;
        if (!status)
            by_decoder_put(d, run->states, i * d->hidden, d->hidden, state);
    }
    by_free(rows);
    return status;
}

/* Numbers for all tokens, in memory or in the file. */
static void *keep(struct by_decoder_run *run, size_t columns, struct baryon_error *err)
{
    const size_t page = 65536, size = by_decoder_kept_size(run->decoder);
    size_t tokens, count, bytes;
    uint8_t *at = NULL;
    if (by_mul_overflow(run->windows, run->length, &tokens) ||
        by_mul_overflow(tokens, columns, &count) || by_mul_overflow(count, size, &bytes)) {
        by_fail(err, BARYON_ERR_NOMEM, "%zu windows of %zu tokens are too many", run->windows,
                run->length);
        return NULL;
    }
    if (!run->decoder->spill)
        return by_alloc(count, size, err);
    const size_t widest = run->decoder->hidden + by_decoder_width(run->decoder);
    if ((!run->spill.file.bytes &&
         by_spill_open(&run->spill, run->decoder->spill, tokens * widest * size + 2 * page, err)) ||
        by_spill_add(&run->spill, bytes, &at, err))
        return NULL;
    return at;
}

void by_decoder_rest(const struct by_decoder_run *run)
{
    if (run->spill.file.bytes)
        by_mapped_done(&run->spill.file, 0, run->spill.file.size);
}

int by_decoder_begin(struct by_decoder_run *run, const struct by_decoder *decoder,
                     const uint32_t *ids, size_t windows, size_t length, struct by_pool *pool,
                     struct baryon_error *err)
{
    *run = (struct by_decoder_run){
        .decoder = decoder, .pool = pool, .windows = windows, .length = length};
    run->capacity = by_decoder_most_floats(decoder);
    run->states = keep(run, decoder->hidden, err);
    return run->states ? embed(run, ids, err) : -1;
}

struct stepping {
    struct by_decoder_run *run;
    size_t layer;
    const struct by_decoder_loaded *loaded;
    const struct by_blas *blas;
    enum by_decoder_input from, to; /* inputs that are computed */
};

/* Where a window's numbers are: floats in the run itself, bf16 is unpacked into the scratch. Inputs
 * are in the run between the calls of by_decoder_enter(), else in the scratch. */
static void open_window(const struct stepping *s, size_t window, struct by_decoder_work *work)
{
    const struct by_decoder_run *run = s->run;
    const struct by_decoder *d = run->decoder;
    const size_t state = window * run->length * d->hidden;
    const size_t inputs = window * run->length * run->width;
    work->window = window;
    if (run->inputs)
        work->chosen = run->chosen + window * run->length * d->experts;
    if (!d->halved) {
        work->state = (float *)run->states + state;
        work->inputs = run->inputs ? (float *)run->inputs + inputs : work->inputs;
        return;
    }
    by_decoder_get(d, run->states, state, run->length * d->hidden, work->state);
    if (run->inputs && s->from > BY_INPUT_ATTENTION)
        by_decoder_get(d, run->inputs, inputs,
                       run->length * by_decoder_input_columns(d, s->loaded, s->from - 1),
                       work->inputs);
}

static void close_window(const struct stepping *s, const struct by_decoder_work *work)
{
    const struct by_decoder_run *run = s->run;
    const struct by_decoder *d = run->decoder;
    if (!d->halved)
        return;
    by_decoder_put(d, run->states, work->window * run->length * d->hidden, run->length * d->hidden,
                   work->state);
    if (run->inputs && s->to < BY_INPUTS)
        by_decoder_put(d, run->inputs, work->window * run->length * run->width,
                       run->length * by_decoder_input_columns(d, s->loaded, s->to), work->inputs);
}

static int step_windows(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct stepping *s = context;
    const struct by_decoder_run *run = s->run;
    const struct by_decoder *d = run->decoder;
    const size_t size = by_decoder_scratch(d, run->length);
    const size_t inputs = run->inputs && !d->halved ? 0 : run->length * by_decoder_width(d);
    const size_t chosen = run->inputs ? 0 : run->length * d->experts;
    const size_t state = d->halved ? run->length * d->hidden : 0;
    (void)worker;
    struct by_decoder_work work = {.d = d,
                                   .layer = &d->layer[s->layer],
                                   .loaded = s->loaded,
                                   .blas = s->blas,
                                   .watch = run->watch,
                                   .length = run->length,
                                   .err = err};
    float *room = by_alloc(size + inputs + chosen + state, sizeof *room, err);
    work.scratch = room;
    work.inputs = room ? room + size : NULL;
    work.chosen = room ? work.inputs + inputs : NULL;
    work.state = room ? work.chosen + chosen : NULL;
    work.status = room ? 0 : -1;
    for (size_t i = begin; !work.status && i < end; i++) {
        open_window(s, i, &work);
        for (enum by_decoder_input input = s->from; input <= s->to; input++)
            by_decoder_next(&work, input);
        close_window(s, &work);
    }
    by_free(room);
    return work.status;
}

static int check_states(const struct by_decoder_run *run, struct baryon_error *err)
{
    const size_t width = run->length * run->decoder->hidden, count = run->windows * width;
    const size_t at = by_decoder_strange(run->decoder, run->states, count);
    return at == count ? 0
                       : by_fail(err, BARYON_ERR_INPUT,
                                 "window %zu has values that are NaN or infinite after this layer",
                                 at / width);
}

static int step_all(struct stepping *stepping, struct baryon_error *err)
{
    struct by_decoder_run *run = stepping->run;
    if (by_blas_open(&stepping->blas, err) ||
        by_par_for(run->pool, run->windows, 1, step_windows, stepping, err))
        return -1;
    const int status = stepping->to == BY_INPUTS ? check_states(run, err) : 0;
    by_decoder_rest(run);
    return status;
}

int by_decoder_step(struct by_decoder_run *run, size_t layer, struct baryon_error *err)
{
    return by_decoder_load(run, layer, err) || by_decoder_pass(run, layer, &run->loaded, err) ? -1
                                                                                              : 0;
}

int by_decoder_pass(struct by_decoder_run *run, size_t layer,
                    const struct by_decoder_loaded *loaded, struct baryon_error *err)
{
    struct stepping stepping = {run, layer, loaded, NULL, BY_INPUT_ATTENTION, BY_INPUTS};
    return step_all(&stepping, err) ? by_err_in(err, "layer %zu", layer) : 0;
}

int by_decoder_enter(struct by_decoder_run *run, size_t layer,
                     const struct by_decoder_loaded *loaded, enum by_decoder_input input,
                     struct baryon_error *err)
{
    struct stepping stepping = {run, layer, loaded, NULL, input, input};
    const size_t tokens = run->windows * run->length;
    if (!run->inputs) {
        run->width = by_decoder_width(run->decoder);
        run->inputs = keep(run, run->width, err);
        run->chosen = by_alloc_zero(tokens * run->decoder->experts + 1, sizeof *run->chosen, err);
        if (!run->inputs || !run->chosen)
            return -1;
    }
    return step_all(&stepping, err) ? by_err_in(err, "layer %zu", layer) : 0;
}

int by_decoder_finish(struct by_decoder_run *run, struct baryon_error *err)
{
    const struct by_decoder *d = run->decoder;
    by_decoder_free(run, run->loaded.values);
    run->loaded.values = NULL;
    run->head = by_decoder_room(run, d->vocab * d->hidden, err);
    run->norm = run->head ? by_alloc(d->hidden, sizeof *run->norm, err) : NULL;
    return run->norm && !by_decoder_read(run, d->head.weight, run->head, err) &&
                   !by_decoder_read(run, d->norm.weight, run->norm, err)
               ? 0
               : -1;
}

int by_decoder_logits(const struct by_decoder_run *run, size_t window, size_t first, size_t count,
                      float *logits, struct baryon_error *err)
{
    const struct by_decoder *d = run->decoder;
    const struct by_blas *blas;
    if (by_blas_open(&blas, err))
        return -1;
    float *in = by_alloc(count * d->hidden, sizeof *in, err);
    if (!in)
        return -1;
    by_decoder_get(d, run->states, (window * run->length + first) * d->hidden, count * d->hidden,
                   in);
    by_decoder_norm(d, run->norm, in, count, d->hidden, in);
    if (d->head.input && by_llm_input_round(d->head.input, in, count, d->hidden, in, err)) {
        by_free(in);
        return by_err_in(err, "%s", d->head.weight->layer);
    }
    by_decoder_product(blas, run->loaded.spill,
                       &(struct by_decoder_product){.weight = run->head,
                                                    .in = in,
                                                    .out = logits,
                                                    .rows = d->vocab,
                                                    .columns = d->hidden,
                                                    .tokens = count,
                                                    .stride = d->vocab});
    const float cap = (float)d->logit_cap;
    for (size_t i = 0; cap > 0 && i < count * d->vocab; i++)
        logits[i] = cap * tanhf(logits[i] / cap);
    by_free(in);
    return 0;
}

void by_decoder_end(struct by_decoder_run *run)
{
    if (!run->spill.file.bytes) {
        by_free(run->states);
        by_free(run->inputs);
    }
    by_spill_close(&run->spill);
    by_decoder_free(run, run->loaded.values);
    by_decoder_free(run, run->head);
    by_spill_close(&run->weights);
    by_free(run->loaded.experts);
    by_free(run->chosen);
    by_free(run->norm);
    *run = (struct by_decoder_run){0};
}
