/* One layer of one window: norms, attention, feed-forward, residuals. */
#include "llm/decoder/decoder_internal.h"

#include <math.h>

static size_t rows_of(const struct by_decoder_place *place)
{
    return place->weight ? place->weight->rows : 0;
}

static size_t wider(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Outputs of the widest gate, of a feed-forward part, of experts and of what all tokens take. */
struct inner {
    size_t plain, expert, shared;
};

static struct inner greatest_inner(const struct by_decoder *d)
{
    struct inner inner = {0};
    for (size_t i = 0; i < d->layers; i++) {
        const struct by_decoder_layer *layer = &d->layer[i];
        inner.plain = wider(inner.plain, rows_of(&layer->parts[BY_PART_GATE]));
        inner.plain = wider(inner.plain, rows_of(&layer->parts[BY_PART_GATE_UP]) / 2);
        inner.shared = wider(inner.shared, rows_of(&layer->parts[BY_PART_SHARED_GATE]));
        for (size_t k = 0; layer->experts && k < d->experts; k++)
            inner.expert = wider(inner.expert, rows_of(&layer->experts[3 * k]));
    }
    return inner;
}

size_t by_decoder_width(const struct by_decoder *d)
{
    const struct inner inner = greatest_inner(d);
    const size_t feed = wider(inner.plain, d->top_k * inner.expert + inner.shared);
    return wider(wider(d->hidden, d->heads * d->head_dim), feed);
}

static size_t columns_rounded(const struct by_decoder_place *place)
{
    return place->input ? place->weight->columns : 0;
}

/* Columns of the widest input that is rounded, by one linear at a time. */
static size_t greatest_rounded(const struct by_decoder *d)
{
    size_t most = 0;
    for (size_t i = 0; i < d->layers; i++) {
        const struct by_decoder_layer *layer = &d->layer[i];
        for (size_t k = 0; k < BY_PARTS; k++)
            most = wider(most, columns_rounded(&layer->parts[k]));
        for (size_t k = 0; layer->experts && k < 3 * d->experts; k++)
            most = wider(most, columns_rounded(&layer->experts[k]));
    }
    return most;
}

/* Room that a window takes in a layer, in floats: see the calls of by_decoder_take(). */
size_t by_decoder_scratch(const struct by_decoder *d, size_t length)
{
    const struct inner inner = greatest_inner(d);
    const size_t wide = (d->heads + 2 * d->kv_heads) * d->head_dim;
    const size_t most = wider(inner.plain, wider(inner.expert, inner.shared));
    const size_t attention = length * (wide + BY_DECODER_BLOCK);
    const size_t feed = length * (2 * most + 3 * d->hidden + 2);
    return wider(attention, feed) + length * greatest_rounded(d);
}

size_t by_decoder_window_bytes(const struct by_decoder *d, size_t length)
{
    const size_t halved = d->halved ? length * (d->hidden + by_decoder_width(d)) : 0;
    return sizeof(float) * (by_decoder_scratch(d, length) + halved);
}

float *by_decoder_take(struct by_decoder_work *work, size_t count)
{
    float *taken = work->scratch + work->used;
    work->used += count;
    return taken;
}

/* The inputs as the matrix takes them: in, or rounded in memory that is taken. */
static const float *inputs_of(struct by_decoder_work *work, const struct by_decoder_matrix *matrix,
                              const float *in, size_t tokens)
{
    const struct by_llm_input *input = matrix->place->input;
    if (!input || work->status)
        return in;
    float *rounded = by_decoder_take(work, tokens * matrix->columns);
    work->status = by_llm_input_round(input, in, tokens, matrix->columns, rounded, work->err)
                       ? by_err_in(work->err, "%s", matrix->place->weight->layer)
                       : 0;
    return work->status ? in : rounded;
}

static bool is_finite(const float *rows, size_t count, size_t columns, size_t stride)
{
    if (stride == columns)
        return by_llm_strange(rows, count * columns) == count * columns;
    for (size_t i = 0; i < count; i++)
        if (by_llm_strange(rows + i * stride, columns) < columns)
            return false;
    return true;
}

/* Says which linear layer it is that makes values that are not finite, or gets them. */
static int check_product(const struct by_decoder_work *work, const struct by_decoder_matrix *matrix,
                         const float *in, size_t tokens, const float *out, size_t stride)
{
    if (is_finite(out, tokens, matrix->rows, stride))
        return 0;
    const bool given = !is_finite(in, tokens, matrix->columns, matrix->columns);
    return by_fail(work->err, BARYON_ERR_INPUT,
                   "window %zu: an %s of %s is NaN or infinite, must be finite", work->window,
                   given ? "input" : "output", matrix->place->weight->layer);
}

void by_decoder_multiply(struct by_decoder_work *work, const struct by_decoder_matrix *matrix,
                         const float *in, size_t tokens, float *out, size_t stride)
{
    const struct by_decoder_watch *watch = work->watch;
    const size_t kept = work->used;
    by_decoder_product(work->blas, work->loaded->spill,
                       &(struct by_decoder_product){.weight = matrix->weight,
                                                    .in = inputs_of(work, matrix, in, tokens),
                                                    .out = out,
                                                    .rows = matrix->rows,
                                                    .columns = matrix->columns,
                                                    .tokens = tokens,
                                                    .stride = stride});
    work->used = kept;
    for (size_t t = 0; matrix->bias && t < tokens; t++)
        for (size_t i = 0; i < matrix->rows; i++)
            out[t * stride + i] += matrix->bias[i];
    if (!work->status)
        work->status = check_product(work, matrix, in, tokens, out, stride);
    if (watch && !work->status)
        work->status = watch->linear(watch->context, work->window, matrix->place, in, tokens, out,
                                     stride, work->err);
}

void by_decoder_norm(const struct by_decoder *d, const float *weight, const float *in, size_t count,
                     size_t width, float *out)
{
    const float more = d->centred ? 1 : 0;
    for (size_t t = 0; t < count; t++, in += width, out += width) {
        double squares = 0;
        for (size_t i = 0; i < width; i++)
            squares += (double)in[i] * (double)in[i];
        const float factor = (float)(1 / sqrt(squares / (double)width + d->eps));
        for (size_t i = 0; i < width; i++)
            out[i] = in[i] * factor * (weight[i] + more);
    }
}

/* Adds a part's result to the state; sandwich norms come before that. */
static void add_result(const struct by_decoder_work *work, const struct by_decoder_matrix *norm,
                       float *result)
{
    if (norm)
        by_decoder_norm(work->d, norm->weight, result, work->length, work->d->hidden, result);
    for (size_t i = 0; i < work->length * work->d->hidden; i++)
        work->state[i] += result[i];
}

static bool has_sandwich(const struct by_decoder_work *work)
{
    return work->loaded->parts[BY_PART_NORM_BEFORE_FFN].weight != NULL;
}

static void norm_state(const struct by_decoder_work *work, enum by_decoder_part part)
{
    by_decoder_norm(work->d, work->loaded->parts[part].weight, work->state, work->length,
                    work->d->hidden, work->inputs);
}

static void leave_attention(struct by_decoder_work *work)
{
    float *out = by_decoder_take(work, work->length * work->d->hidden);
    const struct by_decoder_matrix *parts = work->loaded->parts;
    by_decoder_multiply(work, &parts[BY_PART_O], work->inputs, work->length, out, work->d->hidden);
    add_result(work, has_sandwich(work) ? &parts[BY_PART_NORM_MIDDLE] : NULL, out);
}

static void leave_feed_forward(struct by_decoder_work *work)
{
    float *out = by_decoder_take(work, work->length * work->d->hidden);
    const struct by_decoder_matrix *norm = &work->loaded->parts[BY_PART_NORM_AFTER_FFN];
    by_decoder_down(work, out);
    add_result(work, norm->weight ? norm : NULL, out);
}

void by_decoder_next(struct by_decoder_work *work, enum by_decoder_input input)
{
    work->used = 0;
    switch (input) {
    case BY_INPUT_ATTENTION:
        norm_state(work, BY_PART_NORM_IN);
        break;
    case BY_INPUT_O:
        by_decoder_attention(work);
        break;
    case BY_INPUT_FEED:
        leave_attention(work);
        norm_state(work, has_sandwich(work) ? BY_PART_NORM_BEFORE_FFN : BY_PART_NORM_MIDDLE);
        if (work->layer->experts)
            by_decoder_route(work);
        break;
    case BY_INPUT_DOWN:
        by_decoder_gates(work);
        break;
    case BY_INPUTS:
        leave_feed_forward(work);
        break;
    }
}

size_t by_decoder_slot_columns(const struct by_decoder *decoder,
                               const struct by_decoder_loaded *loaded)
{
    size_t widest = 0;
    for (size_t i = 0; loaded->experts && i < decoder->experts; i++)
        widest = wider(widest, loaded->experts[3 * i + 2].columns);
    return widest;
}

size_t by_decoder_input_columns(const struct by_decoder *decoder,
                                const struct by_decoder_loaded *loaded, enum by_decoder_input input)
{
    const struct by_decoder_matrix *parts = loaded->parts;
    switch (input) {
    case BY_INPUT_O:
        return parts[BY_PART_O].columns;
    case BY_INPUT_DOWN:
        return loaded->experts ? decoder->top_k * by_decoder_slot_columns(decoder, loaded) +
                                     parts[BY_PART_SHARED_DOWN].columns
                               : parts[BY_PART_DOWN].columns;
    default:
        return decoder->hidden;
    }
}
