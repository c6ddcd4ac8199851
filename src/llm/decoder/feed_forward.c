/* The feed-forward part of one window: a gated product, or a few experts of many for each token. */
#include "llm/decoder/decoder_internal.h"

#include <math.h>
#include <string.h>

static float activate(enum by_decoder_act act, float x)
{
    switch (act) {
    case BY_ACT_SILU:
        return x / (1 + expf(-x));
    case BY_ACT_GELU:
        return 0.5f * x * (1 + erff(x * 0.70710678f));
    case BY_ACT_GELU_TANH:
        return 0.5f * x * (1 + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
    return x;
}

/* Gate and up of a token may stand behind each other in one row. */
static void gate(const struct by_decoder_work *work, float *gates, const float *ups, size_t tokens,
                 size_t inner, size_t stride)
{
    for (size_t t = 0; t < tokens; t++)
        for (size_t i = 0; i < inner; i++)
            gates[t * inner + i] =
                activate(work->d->act, gates[t * stride + i]) * ups[t * stride + i];
}

static void gated(struct by_decoder_work *work, const struct by_decoder_matrix *parts[3],
                  const float *in, size_t tokens, float *out)
{
    const size_t kept = work->used, inner = parts[0]->rows;
    float *gates = by_decoder_take(work, tokens * inner);
    float *ups = by_decoder_take(work, tokens * inner);
    by_decoder_multiply(work, parts[0], in, tokens, gates);
    by_decoder_multiply(work, parts[1], in, tokens, ups);
    gate(work, gates, ups, tokens, inner, inner);
    by_decoder_multiply(work, parts[2], gates, tokens, out);
    work->used = kept;
}

static void fused(struct by_decoder_work *work, const float *in, float *out)
{
    const struct by_decoder_matrix *parts = work->loaded->parts;
    const size_t inner = parts[BY_PART_GATE_UP].rows / 2;
    float *both = by_decoder_take(work, 2 * work->length * inner);
    by_decoder_multiply(work, &parts[BY_PART_GATE_UP], in, work->length, both);
    gate(work, both, both + inner, work->length, inner, 2 * inner);
    by_decoder_multiply(work, &parts[BY_PART_DOWN], both, work->length, out);
}

/* Probabilities of all experts to weights of the chosen ones; the others get 0. Of equal ones the
 * first is chosen. */
static void choose(const struct by_decoder *d, float *weights)
{
    float greatest = -INFINITY, sum = 0, chosen = 0;
    for (size_t i = 0; i < d->experts; i++)
        greatest = weights[i] > greatest ? weights[i] : greatest;
    for (size_t i = 0; i < d->experts; i++) {
        weights[i] = expf(weights[i] - greatest);
        sum += weights[i];
    }
    /* Chosen ones are marked by their sign. */
    for (size_t k = 0; k < d->top_k && k < d->experts; k++) {
        size_t best = 0;
        float most = -1;
        for (size_t i = 0; i < d->experts; i++)
            if (!signbit(weights[i]) && weights[i] > most) {
                most = weights[i];
                best = i;
            }
        chosen += weights[best];
        weights[best] = -weights[best];
    }
    for (size_t i = 0; i < d->experts; i++)
        weights[i] = signbit(weights[i]) ? -weights[i] / (d->top_sums ? chosen : sum) : 0;
}

/* The tokens that chose an expert go through it together. */
static void run_expert(struct by_decoder_work *work, size_t expert, const float *in,
                       const float *weights, float *out)
{
    const struct by_decoder *d = work->d;
    const struct by_decoder_matrix *matrices = &work->loaded->experts[3 * expert];
    const struct by_decoder_matrix *parts[3] = {&matrices[0], &matrices[1], &matrices[2]};
    const size_t kept = work->used, hidden = d->hidden;
    size_t tokens = 0;
    float *some = by_decoder_take(work, work->length * hidden);
    float *result = by_decoder_take(work, work->length * hidden);
    for (size_t t = 0; t < work->length; t++)
        if (weights[t * d->experts + expert] > 0)
            memcpy(some + tokens++ * hidden, in + t * hidden, hidden * sizeof *some);
    if (tokens)
        gated(work, parts, some, tokens, result);
    for (size_t t = 0, at = 0; t < work->length; t++) {
        const float weight = weights[t * d->experts + expert];
        if (!(weight > 0))
            continue;
        for (size_t i = 0; i < hidden; i++)
            out[t * hidden + i] += weight * result[at * hidden + i];
        at++;
    }
    work->used = kept;
}

/* An expert that all tokens take, behind a gate of its own. */
static void run_shared(struct by_decoder_work *work, const float *in, float *out)
{
    const struct by_decoder_matrix *own = work->loaded->parts;
    const struct by_decoder_matrix *parts[3] = {&own[BY_PART_SHARED_GATE], &own[BY_PART_SHARED_UP],
                                                &own[BY_PART_SHARED_DOWN]};
    const size_t hidden = work->d->hidden;
    float *result = by_decoder_take(work, work->length * hidden);
    float *open = by_decoder_take(work, work->length);
    gated(work, parts, in, work->length, result);
    if (own[BY_PART_SHARED_ROUTER].weight)
        by_decoder_multiply(work, &own[BY_PART_SHARED_ROUTER], in, work->length, open);
    for (size_t t = 0; t < work->length; t++) {
        const float share = own[BY_PART_SHARED_ROUTER].weight ? 1 / (1 + expf(-open[t])) : 1;
        for (size_t i = 0; i < hidden; i++)
            out[t * hidden + i] += share * result[t * hidden + i];
    }
}

void by_decoder_feed_forward(struct by_decoder_work *work, const float *in, float *out)
{
    const struct by_decoder *d = work->d;
    const struct by_decoder_matrix *own = work->loaded->parts;
    const struct by_decoder_matrix *parts[3] = {&own[BY_PART_GATE], &own[BY_PART_UP],
                                                &own[BY_PART_DOWN]};
    if (!work->layer->experts) {
        if (own[BY_PART_GATE_UP].weight)
            fused(work, in, out);
        else
            gated(work, parts, in, work->length, out);
        return;
    }
    float *weights = by_decoder_take(work, work->length * d->experts);
    by_decoder_multiply(work, &own[BY_PART_ROUTER], in, work->length, weights);
    memset(out, 0, work->length * d->hidden * sizeof *out);
    for (size_t t = 0; t < work->length; t++)
        choose(d, weights + t * d->experts);
    for (size_t i = 0; i < d->experts; i++)
        run_expert(work, i, in, weights, out);
    if (own[BY_PART_SHARED_GATE].weight)
        run_shared(work, in, out);
}
