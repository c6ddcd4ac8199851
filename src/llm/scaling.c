/* Which channels of a decoder's layers can be scaled, and what is known of them. */
#include "llm/scaling.h"

#include "llm/scaling_fold.h"
#include "llm/scaling_judge.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#define TOKENS 256 /* that are kept of an input */

struct by_llm_scaled {
    struct by_arena arena;
};

/* What samples say of an input. */
struct seen {
    size_t columns;
    float *peaks, *means, *tokens; /* means: sums until they are read */
    double *sums;                  /* [windows][columns] */
};

struct scaling {
    struct by_llm_calibrated *job;
    struct by_llm_scaled *scaled;
    struct by_decoder_run run;
    size_t layer;
    size_t stride, token_count; /* of kept tokens: each stride-th of all */
    struct seen seen[BY_INPUTS];
    pthread_mutex_t lock; /* of peaks */
    uint64_t taken, asked;
    double before, after;
};

/* --- Samples --- */

/* The first linear that reads an input speaks for it. */
static bool input_of(const struct by_decoder_layer *layer, const struct by_decoder_place *place,
                     enum by_decoder_input *input)
{
    static const struct {
        enum by_decoder_part part;
        enum by_decoder_input input;
    } rows[] = {{BY_PART_Q, BY_INPUT_ATTENTION},  {BY_PART_QKV, BY_INPUT_ATTENTION},
                {BY_PART_O, BY_INPUT_O},          {BY_PART_GATE, BY_INPUT_FEED},
                {BY_PART_GATE_UP, BY_INPUT_FEED}, {BY_PART_DOWN, BY_INPUT_DOWN}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (place == &layer->parts[rows[i].part]) {
            *input = rows[i].input;
            return true;
        }
    return false;
}

static void keep_tokens(struct scaling *s, struct seen *seen, size_t window, const float *in,
                        size_t tokens)
{
    const size_t before = window * tokens;
    for (size_t t = (s->stride - before % s->stride) % s->stride; t < tokens; t += s->stride) {
        const size_t place = (before + t) / s->stride;
        if (place < s->token_count)
            memcpy(seen->tokens + place * seen->columns, in + t * seen->columns,
                   seen->columns * sizeof *in);
    }
}

static int see_linear(void *context, size_t window, const struct by_decoder_place *place,
                      const float *in, size_t tokens, const float *out, size_t stride,
                      struct baryon_error *err)
{
    struct scaling *s = context;
    enum by_decoder_input input;
    (void)out, (void)stride;
    if (!input_of(&s->job->decoder.layer[s->layer], place, &input))
        return 0;
    struct seen *seen = &s->seen[input];
    const size_t columns = seen->columns;
    double *sums = seen->sums + window * columns;
    float *peaks = by_alloc_zero(columns, sizeof *peaks, err);
    if (!peaks)
        return -1;
    memset(sums, 0, columns * sizeof *sums);
    for (size_t t = 0; t < tokens; t++)
        for (size_t i = 0; i < columns; i++) {
            const float size = fabsf(in[t * columns + i]);
            peaks[i] = fmaxf(peaks[i], size);
            sums[i] += (double)size;
        }
    keep_tokens(s, seen, window, in, tokens);
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < columns; i++)
        seen->peaks[i] = fmaxf(seen->peaks[i], peaks[i]);
    pthread_mutex_unlock(&s->lock);
    by_free(peaks);
    return 0;
}

static int open_seen(struct scaling *s, enum by_decoder_input input, size_t columns,
                     struct baryon_error *err)
{
    struct seen *seen = &s->seen[input];
    seen->columns = columns;
    seen->peaks = by_alloc_zero(columns * (2 + s->token_count), sizeof *seen->peaks, err);
    seen->sums = by_alloc(columns * s->job->windows, sizeof *seen->sums, err);
    if (!seen->peaks || !seen->sums)
        return -1;
    seen->means = seen->peaks + columns;
    seen->tokens = seen->means + columns;
    return 0;
}

static void close_seen(struct scaling *s)
{
    for (size_t i = 0; i < BY_INPUTS; i++) {
        by_free(s->seen[i].peaks);
        by_free(s->seen[i].sums);
        s->seen[i] = (struct seen){0};
    }
}

static void take_means(struct scaling *s, struct seen *seen)
{
    const double tokens = (double)(s->job->windows * s->run.length);
    for (size_t i = 0; i < seen->columns; i++) {
        double sum = 0;
        for (size_t w = 0; w < s->job->windows; w++)
            sum += seen->sums[w * seen->columns + i];
        seen->means[i] = (float)(sum / tokens);
    }
}

/* --- Pairs --- */

/* Who gives an input, and who reads it. */
struct pair {
    enum by_decoder_input input;
    const struct by_decoder_place *norm;  /* that gives it; NULL: a linear */
    const struct by_decoder_place *giver; /* whose rows from first_row on are it */
    size_t first_row, rows;
    enum by_decoder_part readers[3];
    size_t reader_count;
};

static struct by_llm_weight *own_weight(struct scaling *s, const struct by_llm_weight *weight)
{
    struct by_llm_source *source = &s->job->opened->source;
    return &source->weights[weight - source->weights];
}

static const struct by_llm_item *item_of(const struct scaling *s,
                                         const struct by_decoder_place *place)
{
    return &s->job->plan->items[place->weight - s->job->opened->source.weights];
}

/* Those that are quantized; false: none is. */
static bool list_linears(const struct scaling *s, const struct pair *pair,
                         struct by_llm_scaling_problem *problem)
{
    static const struct by_llm_spec none = {0};
    const struct by_decoder_layer *layer = &s->job->decoder.layer[s->layer];
    problem->input = &none;
    for (size_t i = 0; i < pair->reader_count; i++) {
        const struct by_decoder_place *place = &layer->parts[pair->readers[i]];
        const struct by_decoder_matrix *matrix = &s->run.loaded.parts[pair->readers[i]];
        const struct by_llm_item *item = item_of(s, place);
        if (!item->scheme || !by_llm_spec_is_scaled(item->tensor.spec))
            continue;
        problem->linears[problem->count++] =
            (struct by_llm_scaling_linear){matrix->weight, matrix->rows, &item->tensor};
        problem->input = &item->scheme->input;
    }
    return problem->count > 0;
}

static int fold_norm(struct scaling *s, const struct pair *pair, const float *inverse,
                     struct baryon_error *err)
{
    struct by_llm_scale_edit *edit =
        by_llm_scale_edit(own_weight(s, pair->norm->weight), &s->scaled->arena, err);
    if (!edit)
        return -1;
    edit->columns = inverse;
    edit->centre = s->job->decoder.centred ? 1 : 0;
    return 0;
}

/* rows: a factor for each row after first_row. */
static int fold_giver(struct scaling *s, const struct pair *pair, const float *rows,
                      struct baryon_error *err)
{
    const struct by_decoder_place *giver = pair->giver;
    struct by_arena *arena = &s->scaled->arena;
    struct by_llm_scale_edit *edit = by_llm_scale_edit(own_weight(s, giver->weight), arena, err);
    if (!edit)
        return -1;
    edit->rows = rows;
    edit->first_row = pair->first_row;
    if (!giver->bias)
        return 0;
    const size_t count = pair->first_row + pair->rows;
    float *columns = by_arena_alloc(arena, count, sizeof *columns, err);
    struct by_llm_scale_edit *bias =
        columns ? by_llm_scale_edit(own_weight(s, giver->bias), arena, err) : NULL;
    if (!bias)
        return -1;
    for (size_t i = 0; i < count; i++)
        columns[i] = i < pair->first_row ? 1 : rows[i - pair->first_row];
    bias->columns = columns;
    return 0;
}

static int fold(struct scaling *s, const struct pair *pair,
                const struct by_llm_scaling_problem *problem, const float *scales,
                struct baryon_error *err)
{
    const struct by_decoder_layer *layer = &s->job->decoder.layer[s->layer];
    const size_t columns = problem->columns, span = problem->repeat * problem->group;
    float *inverse = by_arena_alloc(&s->scaled->arena, columns, sizeof *inverse, err);
    if (!inverse)
        return -1;
    /* One for each row of the giver: of columns with the same scale the first. */
    for (size_t i = 0; i < columns / problem->repeat; i++)
        inverse[i] = 1 / scales[i / problem->group * span + i % problem->group];
    if (pair->norm ? fold_norm(s, pair, inverse, err) : fold_giver(s, pair, inverse, err))
        return -1;
    for (size_t i = 0; i < pair->reader_count; i++) {
        struct by_llm_scale_edit *edit = by_llm_scale_edit(
            own_weight(s, layer->parts[pair->readers[i]].weight), &s->scaled->arena, err);
        if (!edit)
            return -1;
        edit->columns = scales;
    }
    return 0;
}

/* AWQ's search for ranges: squared errors of a column count as much as its inputs' squares. */
static int weigh_columns(struct scaling *s, const struct pair *pair, const float *scales,
                         struct baryon_error *err)
{
    const struct by_decoder_layer *layer = &s->job->decoder.layer[s->layer];
    const struct seen *seen = &s->seen[pair->input];
    float *importance = by_arena_alloc(&s->scaled->arena, seen->columns, sizeof *importance, err);
    double sum = 0;
    if (!importance)
        return -1;
    for (size_t i = 0; i < seen->columns; i++) {
        double square = 0;
        for (size_t t = 0; t < s->token_count; t++) {
            const double x = (double)seen->tokens[t * seen->columns + i] / (double)scales[i];
            square += x * x;
        }
        importance[i] = (float)square;
        sum += square / (double)seen->columns;
    }
    for (size_t i = 0; i < seen->columns; i++)
        importance[i] = sum > 0 ? (float)((double)importance[i] / sum) + 1e-6f : 1;
    for (size_t i = 0; i < pair->reader_count; i++) {
        struct by_llm_item *item =
            &s->job->plan
                 ->items[layer->parts[pair->readers[i]].weight - s->job->opened->source.weights];
        if (item->scheme)
            item->tensor.importance = importance;
    }
    return 0;
}

static int scale_pair(struct scaling *s, const struct pair *pair, size_t repeat,
                      struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = s->job->options;
    struct seen *seen = &s->seen[pair->input];
    struct by_llm_scaling_choice choice;
    struct by_llm_scaling_problem problem = {
        .columns = seen->columns,
        .repeat = repeat,
        .group = repeat > 1 ? s->job->decoder.head_dim : seen->columns,
        .peaks = seen->peaks,
        .means = seen->means,
        .tokens = seen->tokens,
        .token_count = s->token_count,
        .smooth = options->scaling == BY_LLM_SCALING_SMOOTH,
        .alpha = options->alpha,
    };
    if (!list_linears(s, pair, &problem))
        return 0;
    take_means(s, seen);
    float *scales = by_arena_alloc(&s->scaled->arena, seen->columns, sizeof *scales, err);
    if (!scales || by_llm_scaling_choose(&problem, s->job->pool, scales, &choice, err))
        return -1;
    s->asked++;
    s->taken += choice.taken;
    s->before += choice.before;
    s->after += choice.after;
    if (!problem.smooth && weigh_columns(s, pair, scales, err))
        return -1;
    return choice.taken ? fold(s, pair, &problem, scales, err) : 0;
}

static int scale_attention(struct scaling *s, const struct by_decoder_layer *layer,
                           struct baryon_error *err)
{
    const struct by_decoder *d = &s->job->decoder;
    const bool fused = layer->parts[BY_PART_QKV].weight != NULL;
    const struct pair in = {
        .input = BY_INPUT_ATTENTION,
        .norm = &layer->parts[BY_PART_NORM_IN],
        .readers = {fused ? BY_PART_QKV : BY_PART_Q, BY_PART_K, BY_PART_V},
        .reader_count = fused ? 1 : 3,
    };
    const struct pair values = {
        .input = BY_INPUT_O,
        .giver = &layer->parts[fused ? BY_PART_QKV : BY_PART_V],
        .first_row = fused ? (d->heads + d->kv_heads) * d->head_dim : 0,
        .rows = d->kv_heads * d->head_dim,
        .readers = {BY_PART_O},
        .reader_count = 1,
    };
    return scale_pair(s, &in, 1, err) || scale_pair(s, &values, d->heads / d->kv_heads, err) ? -1
                                                                                             : 0;
}

static int scale_feed_forward(struct scaling *s, const struct by_decoder_layer *layer,
                              struct baryon_error *err)
{
    const bool fused = layer->parts[BY_PART_GATE_UP].weight != NULL;
    const bool sandwich = layer->parts[BY_PART_NORM_BEFORE_FFN].weight != NULL;
    const size_t inner = s->run.loaded.parts[BY_PART_DOWN].columns;
    const struct pair in = {
        .input = BY_INPUT_FEED,
        .norm = &layer->parts[sandwich ? BY_PART_NORM_BEFORE_FFN : BY_PART_NORM_MIDDLE],
        .readers = {fused ? BY_PART_GATE_UP : BY_PART_GATE, BY_PART_UP},
        .reader_count = fused ? 1 : 2,
    };
    const struct pair down = {
        .input = BY_INPUT_DOWN,
        .giver = &layer->parts[fused ? BY_PART_GATE_UP : BY_PART_UP],
        .first_row = fused ? inner : 0,
        .rows = inner,
        .readers = {BY_PART_DOWN},
        .reader_count = 1,
    };
    /* Between up and a rotation of its products no factor can be. */
    const bool rotated = layer->parts[BY_PART_DOWN].weight->rotation != NULL;
    return scale_pair(s, &in, 1, err) || (!rotated && scale_pair(s, &down, 1, err)) ? -1 : 0;
}

/* --- Layers --- */

static int open_layer(struct scaling *s, const struct by_decoder_layer *layer,
                      struct baryon_error *err)
{
    const struct by_llm_weight *down = layer->parts[BY_PART_DOWN].weight;
    const size_t hidden = s->job->decoder.hidden;
    if (open_seen(s, BY_INPUT_ATTENTION, hidden, err) ||
        open_seen(s, BY_INPUT_O, layer->parts[BY_PART_O].weight->columns, err))
        return -1;
    return !layer->experts && (open_seen(s, BY_INPUT_FEED, hidden, err) ||
                               open_seen(s, BY_INPUT_DOWN, down->columns, err))
               ? -1
               : 0;
}

/* Of layers with experts the attention alone: what experts read, a router reads, too. */
static int scale_layer(struct scaling *s, struct baryon_error *err)
{
    const struct by_decoder_layer *layer = &s->job->decoder.layer[s->layer];
    int status = open_layer(s, layer, err) || by_decoder_step(&s->run, s->layer, err) ||
                 scale_attention(s, layer, err);
    if (!status && !layer->experts)
        status = scale_feed_forward(s, layer, err);
    close_seen(s);
    return status ? -1 : 0;
}

static int run_layers(struct scaling *s, struct baryon_error *err)
{
    const struct by_llm_quantize_options *options = s->job->options;
    const struct by_decoder_watch watch = {.linear = see_linear, .context = s};
    const size_t length = (size_t)options->length, tokens = s->job->windows * length;
    s->stride = tokens / TOKENS ? tokens / TOKENS : 1;
    s->token_count = tokens / s->stride < TOKENS ? tokens / s->stride : TOKENS;
    if (by_decoder_begin(&s->run, &s->job->decoder, s->job->ids.ids, s->job->windows, length,
                         s->job->pool, err))
        return -1;
    s->run.watch = &watch;
    for (s->layer = 0; s->layer < s->job->decoder.layers; s->layer++) {
        if (options->progress)
            options->progress(options->context, s->layer, s->job->decoder.layers);
        if (scale_layer(s, err))
            return -1;
    }
    return 0;
}

int by_llm_scale(struct by_llm_scaled **scaled, struct by_llm_calibrated *job,
                 struct baryon_error *err)
{
    struct scaling s = {.job = job};
    *scaled = by_alloc_zero(1, sizeof **scaled, err);
    if (!*scaled)
        return -1;
    by_arena_init(&(*scaled)->arena, 0);
    s.scaled = *scaled;
    pthread_mutex_init(&s.lock, NULL);
    const int status = run_layers(&s, err);
    pthread_mutex_destroy(&s.lock);
    by_decoder_end(&s.run);
    if (!status && s.asked)
        by_log(job->log, BY_LOG_NOTICE,
               "channels of %llu of %llu inputs are scaled, the outputs' squared error after them "
               "is %.1f %% of what it was",
               (unsigned long long)s.taken, (unsigned long long)s.asked,
               s.before > 0 ? 100 * s.after / s.before : 100);
    return status;
}

void by_llm_scaled_close(struct by_llm_scaled *scaled)
{
    if (!scaled)
        return;
    by_arena_release(&scaled->arena);
    by_free(scaled);
}
