/* Attention of one window: heads that share keys and values, rotary positions, windows, caps. */
#include "llm/decoder/decoder_internal.h"

#include <math.h>

/* Heads of a token stand behind each other; tokens are `stride` floats apart. */
struct heads {
    float *at;
    size_t stride, count;
};

/* Halves of a head turn together: element i with element i + pairs. */
static void rotate(const struct by_decoder *d, const struct by_decoder_rope *rope,
                   const struct heads *heads, size_t length)
{
    for (size_t t = 0; t < length; t++)
        for (size_t i = 0; i < rope->pairs; i++) {
            const float angle = (float)t * rope->frequencies[i];
            const float c = cosf(angle) * rope->attention, s = sinf(angle) * rope->attention;
            for (size_t h = 0; h < heads->count; h++) {
                float *head = heads->at + t * heads->stride + h * d->head_dim;
                const float one = head[i], other = head[i + rope->pairs];
                head[i] = one * c - other * s;
                head[i + rope->pairs] = other * c + one * s;
            }
        }
}

static void norm_heads(const struct by_decoder *d, const struct by_decoder_matrix *norm,
                       const struct heads *heads, size_t length)
{
    for (size_t t = 0; norm->weight && t < length; t++) {
        float *row = heads->at + t * heads->stride;
        by_decoder_norm(d, norm->weight, row, heads->count, d->head_dim, row);
    }
}

/* Scores of a token with those it sees, [first, last], to weights; the others get 0. */
static void soften(float *scores, size_t length, size_t first, size_t last, double cap)
{
    float greatest = -INFINITY, sum = 0;
    for (size_t i = first; i <= last; i++) {
        if (cap > 0)
            scores[i] = (float)cap * tanhf(scores[i] / (float)cap);
        greatest = scores[i] > greatest ? scores[i] : greatest;
    }
    for (size_t i = first; i <= last; i++) {
        scores[i] = expf(scores[i] - greatest);
        sum += scores[i];
    }
    for (size_t i = 0; i < length; i++)
        scores[i] = i >= first && i <= last ? scores[i] / sum : 0;
}

static void attend(const struct by_decoder_work *work, const float *q, const float *k,
                   const float *v, size_t stride, float *scores, float *out)
{
    const struct by_decoder *d = work->d;
    const int length = (int)work->length, dim = (int)d->head_dim, step = (int)stride;
    const size_t window = (size_t)work->layer->window;
    work->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, length, length, dim,
                      (float)d->attention_scale, q, step, k, step, 0, scores, length);
    for (size_t t = 0; t < work->length; t++)
        soften(scores + t * work->length, work->length, window && t >= window ? t - window + 1 : 0,
               t, d->attention_cap);
    work->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, length, dim, length, 1,
                      scores, length, v, step, 0, out, (int)(d->heads * d->head_dim));
}

/* Queries, keys and values of all tokens, behind each other in one row a token. */
static void project(struct by_decoder_work *work, const float *in, float *qkv, size_t stride)
{
    const struct by_decoder_matrix *parts = work->loaded->parts;
    size_t at = 0;
    if (parts[BY_PART_QKV].weight) {
        by_decoder_multiply(work, &parts[BY_PART_QKV], in, work->length, qkv);
        return;
    }
    for (size_t i = BY_PART_Q; i <= BY_PART_V; i++) {
        const struct by_decoder_matrix *matrix = &parts[i];
        const int rows = (int)matrix->rows, columns = (int)matrix->columns;
        work->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, (int)work->length,
                          rows, columns, 1, in, columns, matrix->weight, columns, 0, qkv + at,
                          (int)stride);
        for (size_t t = 0; matrix->bias && t < work->length; t++)
            for (size_t k = 0; k < matrix->rows; k++)
                qkv[t * stride + at + k] += matrix->bias[k];
        at += matrix->rows;
    }
}

void by_decoder_attention(struct by_decoder_work *work)
{
    const struct by_decoder *d = work->d;
    const size_t all = d->heads * d->head_dim, few = d->kv_heads * d->head_dim;
    const size_t stride = all + 2 * few;
    float *qkv = by_decoder_take(work, work->length * stride);
    float *scores = by_decoder_take(work, work->length * work->length);
    project(work, work->inputs, qkv, stride);
    const struct heads q = {qkv, stride, d->heads}, k = {qkv + all, stride, d->kv_heads};
    norm_heads(d, &work->loaded->parts[BY_PART_Q_NORM], &q, work->length);
    norm_heads(d, &work->loaded->parts[BY_PART_K_NORM], &k, work->length);
    rotate(d, &d->ropes[work->layer->rope], &q, work->length);
    rotate(d, &d->ropes[work->layer->rope], &k, work->length);
    for (size_t h = 0; h < d->heads; h++) {
        const size_t shared = h / (d->heads / d->kv_heads) * d->head_dim;
        attend(work, qkv + h * d->head_dim, k.at + shared, k.at + few + shared, stride, scores,
               work->inputs + h * d->head_dim);
    }
}
