/* Which linears of a layer read the same, and what that is in both streams. */
#include "llm/calibrated_internal.h"

#include <string.h>

/* --- Who shares --- */

static void add_place(struct by_llm_streams *streams, const struct by_decoder_place *place,
                      struct by_decoder_matrix *matrix, struct by_llm_sharing *sharing)
{
    if (!place->weight || !matrix->weight)
        return;
    struct by_llm_calibrated *job = streams->job;
    struct by_llm_item *item = &job->plan->items[place->weight - job->opened->source.weights];
    if (item->scheme || item->blocks)
        sharing->places[sharing->count++] = (struct by_llm_place){item, matrix};
}

static void add_sharing(struct by_llm_streams *streams, enum by_decoder_part part,
                        struct by_llm_sharing *sharing)
{
    add_place(streams, &streams->job->decoder.layer[streams->layer].parts[part],
              &streams->rounded.loaded.parts[part], sharing);
}

static void add_expert(struct by_llm_streams *streams, size_t place, struct by_llm_sharing *sharing)
{
    add_place(streams, &streams->job->decoder.layer[streams->layer].experts[place],
              &streams->rounded.loaded.experts[place], sharing);
}

/* Linears that all tokens come to. */
static void list_plain(struct by_llm_streams *streams, enum by_decoder_input input,
                       struct by_llm_sharing *sharing)
{
    static const enum by_decoder_part rows[BY_INPUTS][BY_LLM_SHARING] = {
        [BY_INPUT_ATTENTION] = {BY_PART_Q, BY_PART_K, BY_PART_V, BY_PART_QKV, BY_PARTS},
        [BY_INPUT_O] = {BY_PART_O, BY_PARTS},
        [BY_INPUT_FEED] = {BY_PART_GATE, BY_PART_UP, BY_PART_GATE_UP, BY_PART_ROUTER,
                           BY_PART_SHARED_GATE, BY_PART_SHARED_UP, BY_PART_SHARED_ROUTER, BY_PARTS},
        [BY_INPUT_DOWN] = {BY_PART_DOWN, BY_PART_SHARED_DOWN, BY_PARTS}};
    for (size_t i = 0; rows[input][i] != BY_PARTS; i++)
        add_sharing(streams, rows[input][i], sharing);
}

/* --- Rows of windows --- */

/* Some numbers of some tokens. */
struct taking {
    size_t columns; /* of an input as it is in the stream */
    size_t first, count;
    const float *chosen; /* [windows][length][experts]; NULL: all tokens */
    size_t experts, expert;
    size_t slot; /* columns of a slot, where numbers are those of the expert's; else 0 */
};

static bool takes(const struct taking *taking, size_t token)
{
    return !taking->chosen || taking->chosen[token * taking->experts + taking->expert] > 0;
}

static size_t take_window(const struct by_decoder_run *run, const struct taking *taking,
                          const void *inputs, size_t window, uint8_t *out)
{
    const size_t size = by_decoder_kept_size(run->decoder);
    const uint8_t *from = (const uint8_t *)inputs + window * run->length * run->width * size;
    size_t count = 0;
    for (size_t t = 0; t < run->length; t++) {
        const size_t token = window * run->length + t;
        size_t first = taking->first;
        if (!takes(taking, token))
            continue;
        if (taking->slot)
            first = taking->slot *
                    by_decoder_slot(taking->chosen + token * taking->experts, taking->expert);
        memcpy(out + count++ * taking->count * size, from + (t * taking->columns + first) * size,
               taking->count * size);
    }
    return count;
}

struct taken {
    struct by_llm_input_rows *windows;
    uint8_t *x, *f; /* NULL: rows lie in the streams */
};

static void release_taken(struct taken *taken)
{
    by_free(taken->windows);
    by_free(taken->x);
    by_free(taken->f);
}

static bool is_plain(const struct taking *taking)
{
    return !taking->chosen && taking->count == taking->columns;
}

/* f: inputs of the float stream; NULL: do not count. */
static int take(struct by_llm_streams *streams, const struct taking *taking, const void *f,
                struct taken *taken, struct baryon_error *err)
{
    const struct by_decoder_run *run = &streams->rounded;
    const size_t tokens = run->windows * run->length, size = by_decoder_kept_size(run->decoder);
    const size_t stride = run->length * run->width * size;
    const bool halved = run->decoder->halved;
    *taken = (struct taken){.windows = by_alloc(run->windows, sizeof *taken->windows, err)};
    if (!taken->windows)
        return -1;
    if (!is_plain(taking)) {
        taken->x = by_alloc(tokens * taking->count, size, err);
        taken->f = f ? by_alloc(tokens * taking->count, size, err) : NULL;
        if (!taken->x || (f && !taken->f))
            return -1;
    }
    for (size_t w = 0, at = 0; w < run->windows; w++) {
        struct by_llm_input_rows *rows = &taken->windows[w];
        if (is_plain(taking)) {
            *rows = (struct by_llm_input_rows){(const uint8_t *)run->inputs + w * stride,
                                               f ? (const uint8_t *)f + w * stride : NULL,
                                               run->length, halved};
            continue;
        }
        *rows = (struct by_llm_input_rows){taken->x + at, f ? taken->f + at : NULL, 0, halved};
        rows->tokens = take_window(run, taking, run->inputs, w, taken->x + at);
        if (f)
            take_window(run, taking, f, w, taken->f + at);
        at += rows->tokens * taking->count * size;
    }
    return 0;
}

static int gather(struct by_llm_streams *streams, const struct by_llm_sharing *sharing,
                  const struct taking *taking, const void *f, struct by_llm_inputs *inputs,
                  struct baryon_error *err)
{
    const struct by_llm_calibrated *job = streams->job;
    struct taken taken;
    int status = take(streams, taking, f, &taken, err);
    if (!status)
        status = by_llm_inputs_gather(inputs, taking->count, taken.windows, job->windows, job->held,
                                      job->pool, err);
    release_taken(&taken);
    by_decoder_rest(&streams->rounded);
    by_decoder_rest(&streams->exact);
    return status ? by_err_in(err, "%s", sharing->places[0].item->weight->layer) : 0;
}

/* --- Experts --- */

static int solve_expert(struct by_llm_streams *streams, enum by_decoder_input input, size_t expert,
                        struct baryon_error *err)
{
    const struct by_decoder *d = &streams->job->decoder;
    const struct by_decoder_matrix *down = &streams->rounded.loaded.experts[3 * expert + 2];
    struct by_llm_sharing sharing = {.count = 0};
    struct by_llm_inputs inputs = {0};
    struct taking taking = {
        .columns = by_decoder_input_columns(d, &streams->rounded.loaded, input),
        .count = input == BY_INPUT_DOWN ? down->columns : d->hidden,
        .chosen = streams->rounded.chosen,
        .experts = d->experts,
        .expert = expert,
        .slot = input == BY_INPUT_DOWN ? by_decoder_slot_columns(d, &streams->rounded.loaded) : 0,
    };
    if (input == BY_INPUT_FEED) {
        add_expert(streams, 3 * expert, &sharing);
        add_expert(streams, 3 * expert + 1, &sharing);
    } else {
        add_expert(streams, 3 * expert + 2, &sharing);
    }
    if (!sharing.count)
        return 0;
    const int status = gather(streams, &sharing, &taking,
                              input == BY_INPUT_FEED ? streams->kept : NULL, &inputs, err) ||
                       by_llm_sharing_solve(streams, &sharing, &inputs, err);
    by_llm_inputs_release(&inputs);
    return status ? -1 : 0;
}

/* What the float stream had at the input of gates, which experts are solved on one by one. */
static int keep_exact(struct by_llm_streams *streams, struct baryon_error *err)
{
    const struct by_decoder_run *exact = &streams->exact;
    const size_t count = exact->windows * exact->length * exact->width;
    const size_t size = by_decoder_kept_size(exact->decoder);
    if (!streams->kept && !(streams->kept = by_alloc(count, size, err)))
        return -1;
    memcpy(streams->kept, exact->inputs, count * size);
    return 0;
}

/* --- All --- */

static struct taking plain_taking(const struct by_llm_streams *streams, enum by_decoder_input input)
{
    const struct by_decoder_loaded *loaded = &streams->rounded.loaded;
    const size_t columns = by_decoder_input_columns(&streams->job->decoder, loaded, input);
    struct taking taking = {.columns = columns, .count = columns};
    if (loaded->experts && input == BY_INPUT_DOWN) {
        taking.count = loaded->parts[BY_PART_SHARED_DOWN].columns;
        taking.first = columns - taking.count;
    }
    return taking;
}

int by_llm_streams_solve(struct by_llm_streams *streams, enum by_decoder_input input,
                         struct baryon_error *err)
{
    const struct by_llm_calibrated *job = streams->job;
    const bool drifts = streams->drifts;
    const bool has_experts = streams->rounded.loaded.experts && input >= BY_INPUT_FEED;
    struct by_llm_sharing sharing = {.count = 0};
    struct by_llm_inputs inputs = {0};
    list_plain(streams, input, &sharing);
    const struct taking taking = plain_taking(streams, input);
    int status = sharing.count ? gather(streams, &sharing, &taking,
                                        drifts ? streams->exact.inputs : NULL, &inputs, err)
                               : 0;
    if (!status && has_experts && drifts && input == BY_INPUT_FEED)
        status = keep_exact(streams, err);
    if (!status && drifts)
        status = by_decoder_enter(&streams->exact, streams->layer, &streams->rounded.loaded,
                                  input + 1, err);
    if (!status && sharing.count)
        status = by_llm_sharing_solve(streams, &sharing, &inputs, err);
    by_llm_inputs_release(&inputs);
    for (size_t i = 0; has_experts && i < job->decoder.experts && !status; i++)
        status = solve_expert(streams, input, i, err);
    return status ? -1 : 0;
}
