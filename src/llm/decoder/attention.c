/* Attention of one window: heads that share keys and values, rotary positions, windows, caps. */
#include "llm/decoder/decoder_internal.h"

#include <math.h>

/* Heads of a token stand after each other; tokens are `stride` floats apart. */
struct heads {
    float *at;
    size_t stride, count;
};

/* Halves of a head turn together: element i with element i + pairs. */
static void rotate(const struct by_decoder *d, const struct by_decoder_rope *rope,
                   const struct heads *heads, size_t length)
{
    const float *frequencies = length > rope->near ? rope->far : rope->frequencies;
    for (size_t t = 0; t < length; t++)
        for (size_t i = 0; i < rope->pairs; i++) {
            const float angle = (float)t * frequencies[i];
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
static void soften(float *scores, size_t count, size_t first, size_t last, double cap)
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
    for (size_t i = 0; i < count; i++)
        scores[i] = i >= first && i <= last ? scores[i] / sum : 0;
}

/* The first token that token t sees. */
static size_t sees_from(const struct by_decoder_work *work, size_t t)
{
    const size_t window = (size_t)work->layer->window;
    return window && t >= window ? t - window + 1 : 0;
}

/* Some tokens at a time, with all that one of them sees: scores of all pairs would grow with the
 * square of the length. */
static void attend(const struct by_decoder_work *work, const float *q, const float *k,
                   const float *v, size_t stride, float *scores, float *out)
{
    const struct by_decoder *d = work->d;
    const size_t wide = d->heads * d->head_dim;
    const int dim = (int)d->head_dim, step = (int)stride;
    for (size_t begin = 0; begin < work->length; begin += BY_DECODER_BLOCK) {
        const size_t rest = work->length - begin;
        const size_t end = begin + (rest < BY_DECODER_BLOCK ? rest : BY_DECODER_BLOCK);
        const size_t first = sees_from(work, begin), keys = end - first;
        const int tokens = (int)(end - begin);
        work->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, tokens, (int)keys,
                          dim, (float)d->attention_scale, q + begin * stride, step,
                          k + first * stride, step, 0, scores, (int)keys);
        for (size_t t = begin; t < end; t++)
            soften(scores + (t - begin) * keys, keys, sees_from(work, t) - first, t - first,
                   d->attention_cap);
        work->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_NO_TRANS, tokens, dim,
                          (int)keys, 1, scores, (int)keys, v + first * stride, step, 0,
                          out + begin * wide, (int)wide);
    }
}

/* Queries, keys and values of all tokens, after each other in one row a token. */
static void project(struct by_decoder_work *work, const float *in, float *qkv, size_t stride)
{
    const struct by_decoder_matrix *parts = work->loaded->parts;
    size_t at = 0;
    if (parts[BY_PART_QKV].rows) {
        by_decoder_multiply(work, &parts[BY_PART_QKV], in, work->length, qkv, stride);
        return;
    }
    for (size_t i = BY_PART_Q; i <= BY_PART_V; i++) {
        by_decoder_multiply(work, &parts[i], in, work->length, qkv + at, stride);
        at += parts[i].rows;
    }
}

/* Heads of keys or values, a token at a time, as they are kept. */
static void round_kept(struct by_decoder_work *work, const struct by_llm_input *input,
                       const struct heads *heads)
{
    const size_t columns = heads->count * work->d->head_dim;
    for (size_t t = 0; t < work->length && !work->status; t++) {
        float *row = heads->at + t * heads->stride;
        work->status = by_llm_input_round(input, row, 1, columns, row, work->err);
    }
}

static void round_cache(struct by_decoder_work *work, bool projected, const struct heads *keys,
                        const struct heads *values)
{
    const struct by_llm_cache *cache = work->layer->cache;
    if (!cache || cache->projected != projected)
        return;
    round_kept(work, &cache->keys, keys);
    round_kept(work, &cache->values, values);
}

static void watch_cache(struct by_decoder_work *work, const struct heads *keys,
                        const struct heads *values)
{
    const struct by_decoder_watch *watch = work->watch;
    if (watch && watch->cache && !work->status)
        work->status = watch->cache(
            watch->context, work->window, (size_t)(work->layer - work->d->layer), keys->at,
            values->at, work->length, keys->count * work->d->head_dim, keys->stride, work->err);
}

void by_decoder_attention(struct by_decoder_work *work)
{
    const struct by_decoder *d = work->d;
    const size_t all = d->heads * d->head_dim, few = d->kv_heads * d->head_dim;
    const size_t stride = all + 2 * few;
    float *qkv = by_decoder_take(work, work->length * stride);
    float *scores = by_decoder_take(work, work->length * BY_DECODER_BLOCK);
    project(work, work->inputs, qkv, stride);
    const struct heads q = {qkv, stride, d->heads}, k = {qkv + all, stride, d->kv_heads};
    const struct heads v = {k.at + few, stride, d->kv_heads};
    round_cache(work, true, &k, &v);
    norm_heads(d, &work->loaded->parts[BY_PART_Q_NORM], &q, work->length);
    norm_heads(d, &work->loaded->parts[BY_PART_K_NORM], &k, work->length);
    rotate(d, &d->ropes[work->layer->rope], &q, work->length);
    rotate(d, &d->ropes[work->layer->rope], &k, work->length);
    round_cache(work, false, &k, &v);
    watch_cache(work, &k, &v);
    for (size_t h = 0; h < d->heads; h++) {
        const size_t shared = h / (d->heads / d->kv_heads) * d->head_dim;
        attend(work, qkv + h * d->head_dim, k.at + shared, k.at + few + shared, stride, scores,
               work->inputs + h * d->head_dim);
    }
}
