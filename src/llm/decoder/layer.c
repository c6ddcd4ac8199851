/* One layer of one window: norms, attention, feed-forward, residuals. */
#include "llm/decoder/decoder_internal.h"

#include <math.h>

static size_t greatest_rows(size_t rows, const struct by_decoder_place *place)
{
    return place->weight && place->weight->rows > rows ? place->weight->rows : rows;
}

/* Room that a window takes in a layer, in floats: see the calls of by_decoder_take(). */
size_t by_decoder_scratch(const struct by_decoder *d, size_t length)
{
    size_t inner = 0, wide = (d->heads + 2 * d->kv_heads) * d->head_dim;
    for (size_t i = 0; i < d->layers; i++) {
        const struct by_decoder_layer *layer = &d->layer[i];
        inner = greatest_rows(inner, &layer->parts[BY_PART_GATE]);
        inner = greatest_rows(inner, &layer->parts[BY_PART_GATE_UP]);
        inner = greatest_rows(inner, &layer->parts[BY_PART_SHARED_GATE]);
        for (size_t k = 0; layer->experts && k < d->experts; k++)
            inner = greatest_rows(inner, &layer->experts[3 * k]);
    }
    const size_t attention = length * (wide + d->heads * d->head_dim) + length * length;
    const size_t feed = length * (2 * inner + 2 * d->hidden + d->experts + 2);
    return 2 * length * d->hidden + (attention > feed ? attention : feed);
}

float *by_decoder_take(struct by_decoder_work *work, size_t count)
{
    float *taken = work->scratch + work->used;
    work->used += count;
    return taken;
}

void by_decoder_multiply(const struct by_decoder_work *work, const struct by_decoder_matrix *matrix,
                         const float *in, size_t tokens, float *out)
{
    const int rows = (int)matrix->rows, columns = (int)matrix->columns;
    work->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)tokens, rows,
                      columns, 1, in, columns, matrix->weight, columns, 0, out, rows);
    for (size_t t = 0; matrix->bias && t < tokens; t++)
        for (size_t i = 0; i < matrix->rows; i++)
            out[t * matrix->rows + i] += matrix->bias[i];
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

void by_decoder_layer(struct by_decoder_work *work)
{
    const struct by_decoder *d = work->d;
    const struct by_decoder_matrix *parts = work->loaded->parts;
    const bool sandwich = parts[BY_PART_NORM_BEFORE_FFN].weight != NULL;
    work->used = 0;
    float *in = by_decoder_take(work, work->length * d->hidden);
    float *out = by_decoder_take(work, work->length * d->hidden);
    const size_t kept = work->used;
    by_decoder_norm(d, parts[BY_PART_NORM_IN].weight, work->state, work->length, d->hidden, in);
    by_decoder_attention(work, in, out);
    add_result(work, sandwich ? &parts[BY_PART_NORM_MIDDLE] : NULL, out);
    work->used = kept;
    by_decoder_norm(d, parts[sandwich ? BY_PART_NORM_BEFORE_FFN : BY_PART_NORM_MIDDLE].weight,
                    work->state, work->length, d->hidden, in);
    by_decoder_feed_forward(work, in, out);
    add_result(work, parts[BY_PART_NORM_AFTER_FFN].weight ? &parts[BY_PART_NORM_AFTER_FFN] : NULL,
               out);
}
