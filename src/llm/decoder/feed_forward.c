/* The feed-forward part of one window: a gated product, or a few experts of many for each token. */
#include "llm/decoder/decoder_internal.h"
#include "solve/rotation.h"

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

/* Gate and up of a token may stand after each other in one row; results are `step` apart. */
static void gate(const struct by_decoder_work *work, const float *gates, const float *ups,
                 size_t tokens, size_t inner, size_t stride, float *out)
{
    for (size_t t = 0; t < tokens; t++)
        for (size_t i = 0; i < inner; i++)
            out[t * inner + i] =
                activate(work->d->act, gates[t * stride + i]) * ups[t * stride + i];
}

/* parts: gate, up. Returns where the products are, in the scratch. */
static float *gated(struct by_decoder_work *work, const struct by_decoder_matrix *parts[2],
                    const float *in, size_t tokens)
{
    const size_t inner = parts[0]->rows;
    float *gates = by_decoder_take(work, tokens * inner);
    float *ups = by_decoder_take(work, tokens * inner);
    by_decoder_multiply(work, parts[0], in, tokens, gates, inner);
    by_decoder_multiply(work, parts[1], in, tokens, ups, inner);
    gate(work, gates, ups, tokens, inner, inner, gates);
    return gates;
}

static void fused(struct by_decoder_work *work)
{
    const struct by_decoder_matrix *parts = work->loaded->parts;
    const size_t inner = parts[BY_PART_GATE_UP].rows / 2;
    float *both = by_decoder_take(work, 2 * work->length * inner);
    by_decoder_multiply(work, &parts[BY_PART_GATE_UP], work->inputs, work->length, both, 2 * inner);
    gate(work, both, both + inner, work->length, inner, 2 * inner, work->inputs);
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

/* Where inputs of down lie: a token's slots, as wide as the widest expert, and the shared expert's
 * after them. */
struct slots {
    size_t width, inner, shared;
};

static struct slots slots_of(const struct by_decoder_work *work)
{
    const struct by_decoder *d = work->d;
    const size_t inner = by_decoder_slot_columns(d, work->loaded);
    return (struct slots){by_decoder_input_columns(d, work->loaded, BY_INPUT_DOWN), inner,
                          d->top_k * inner};
}

size_t by_decoder_slot(const float *chosen, size_t expert)
{
    size_t slot = 0;
    for (size_t i = 0; i < expert; i++)
        slot += chosen[i] > 0;
    return slot;
}

static void scale_to(float *to, const float *from, size_t count, float factor)
{
    for (size_t i = 0; i < count; i++)
        to[i] = factor * from[i];
}

/* The tokens that chose an expert go through it together. What it counts for a token is in its
 * products: down has no bias. */
static void enter_expert(struct by_decoder_work *work, size_t expert, const float *in)
{
    const struct by_decoder *d = work->d;
    const struct by_decoder_matrix *matrices = &work->loaded->experts[3 * expert];
    const struct by_decoder_matrix *parts[2] = {&matrices[0], &matrices[1]};
    const struct slots slots = slots_of(work);
    const size_t kept = work->used, hidden = d->hidden;
    const size_t inner = matrices[2].columns;
    size_t tokens = 0, at = 0;
    float *some = by_decoder_take(work, work->length * hidden);
    for (size_t t = 0; t < work->length; t++)
        if (work->chosen[t * d->experts + expert] > 0)
            memcpy(some + tokens++ * hidden, in + t * hidden, hidden * sizeof *some);
    const float *products = tokens ? gated(work, parts, some, tokens) : NULL;
    for (size_t t = 0; t < work->length; t++) {
        const float *chosen = work->chosen + t * d->experts;
        if (chosen[expert] > 0)
            scale_to(work->inputs + t * slots.width + by_decoder_slot(chosen, expert) * slots.inner,
                     products + at++ * inner, inner, chosen[expert]);
    }
    work->used = kept;
}

/* What an expert counts for a token is in its inputs. Where these are rounded or looked at, they
 * are what they are in the model: without it. */
static void multiply_share(struct by_decoder_work *work, const struct by_decoder_matrix *down,
                           float *some, size_t tokens, const float *shares, float *out)
{
    const bool apart = work->watch || down->place->input;
    for (size_t t = 0; apart && t < tokens; t++)
        scale_to(some + t * down->columns, some + t * down->columns, down->columns, 1 / shares[t]);
    by_decoder_multiply(work, down, some, tokens, out, down->rows);
    for (size_t t = 0; apart && t < tokens; t++)
        scale_to(out + t * down->rows, out + t * down->rows, down->rows, shares[t]);
}

static void leave_expert(struct by_decoder_work *work, size_t expert, float *out)
{
    const struct by_decoder *d = work->d;
    const struct slots slots = slots_of(work);
    const struct by_decoder_matrix *down = &work->loaded->experts[3 * expert + 2];
    const size_t kept = work->used, hidden = d->hidden, inner = down->columns;
    size_t tokens = 0;
    float *some = by_decoder_take(work, work->length * inner);
    float *result = by_decoder_take(work, work->length * hidden);
    float *shares = by_decoder_take(work, work->length);
    for (size_t t = 0; t < work->length; t++) {
        const float *chosen = work->chosen + t * d->experts;
        if (!(chosen[expert] > 0))
            continue;
        shares[tokens] = chosen[expert];
        memcpy(some + tokens++ * inner,
               work->inputs + t * slots.width + by_decoder_slot(chosen, expert) * slots.inner,
               inner * sizeof *some);
    }
    if (tokens)
        multiply_share(work, down, some, tokens, shares, result);
    for (size_t t = 0, at = 0; t < work->length; t++) {
        if (!(work->chosen[t * d->experts + expert] > 0))
            continue;
        for (size_t i = 0; i < hidden; i++)
            out[t * hidden + i] += result[at * hidden + i];
        at++;
    }
    work->used = kept;
}

/* An expert that all tokens take, after a gate of its own. */
static void enter_shared(struct by_decoder_work *work, const float *in)
{
    const struct by_decoder_matrix *own = work->loaded->parts;
    const struct by_decoder_matrix *parts[2] = {&own[BY_PART_SHARED_GATE], &own[BY_PART_SHARED_UP]};
    const struct slots slots = slots_of(work);
    const size_t inner = parts[0]->rows, kept = work->used;
    float *open = by_decoder_take(work, work->length);
    const float *products = gated(work, parts, in, work->length);
    if (own[BY_PART_SHARED_ROUTER].weight)
        by_decoder_multiply(work, &own[BY_PART_SHARED_ROUTER], in, work->length, open, 1);
    for (size_t t = 0; t < work->length; t++) {
        const float share = own[BY_PART_SHARED_ROUTER].weight ? 1 / (1 + expf(-open[t])) : 1;
        scale_to(work->inputs + t * slots.width + slots.shared, products + t * inner, inner, share);
    }
    work->used = kept;
}

static void leave_shared(struct by_decoder_work *work, float *out)
{
    const struct by_decoder_matrix *down = &work->loaded->parts[BY_PART_SHARED_DOWN];
    const struct slots slots = slots_of(work);
    const size_t hidden = work->d->hidden, inner = down->columns, kept = work->used;
    float *some = by_decoder_take(work, work->length * inner);
    float *result = by_decoder_take(work, work->length * hidden);
    for (size_t t = 0; t < work->length; t++)
        memcpy(some + t * inner, work->inputs + t * slots.width + slots.shared,
               inner * sizeof *some);
    by_decoder_multiply(work, down, some, work->length, result, hidden);
    for (size_t i = 0; i < work->length * hidden; i++)
        out[i] += result[i];
    work->used = kept;
}

static void enter_experts(struct by_decoder_work *work)
{
    const struct by_decoder *d = work->d;
    const size_t size = work->length * d->hidden;
    float *in = by_decoder_take(work, size);
    memcpy(in, work->inputs, size * sizeof *in);
    for (size_t i = 0; i < d->experts; i++)
        enter_expert(work, i, in);
    if (work->loaded->parts[BY_PART_SHARED_GATE].rows)
        enter_shared(work, in);
}

void by_decoder_route(struct by_decoder_work *work)
{
    const struct by_decoder *d = work->d;
    by_decoder_multiply(work, &work->loaded->parts[BY_PART_ROUTER], work->inputs, work->length,
                        work->chosen, d->experts);
    for (size_t t = 0; t < work->length; t++)
        choose(d, work->chosen + t * d->experts);
}

/* QuaRot's R4: blocks of the inputs of down, in float64. */
static void rotate_inputs(struct by_decoder_work *work)
{
    const struct by_decoder_place *down = &work->layer->parts[BY_PART_DOWN];
    const struct by_rotation *rotation = down->weight ? down->weight->rotation : NULL;
    if (!rotation || work->status)
        return;
    const size_t size = rotation->size, count = work->length * down->weight->columns;
    double *values = by_alloc(2 * size, sizeof *values, work->err);
    work->status = values ? 0 : -1;
    for (size_t at = 0; values && at < count; at += size)
        by_rotation_apply_floats(rotation, work->inputs + at, values);
    by_free(values);
}

void by_decoder_gates(struct by_decoder_work *work)
{
    const struct by_decoder_matrix *own = work->loaded->parts;
    const struct by_decoder_matrix *parts[2] = {&own[BY_PART_GATE], &own[BY_PART_UP]};
    if (work->layer->experts) {
        enter_experts(work);
    } else if (own[BY_PART_GATE_UP].rows) {
        fused(work);
    } else {
        const float *products = gated(work, parts, work->inputs, work->length);
        memcpy(work->inputs, products, work->length * parts[0]->rows * sizeof *products);
    }
    rotate_inputs(work);
}

void by_decoder_down(struct by_decoder_work *work, float *out)
{
    const struct by_decoder *d = work->d;
    const struct by_decoder_matrix *own = work->loaded->parts;
    if (!work->layer->experts) {
        by_decoder_multiply(work, &own[BY_PART_DOWN], work->inputs, work->length, out, d->hidden);
        return;
    }
    memset(out, 0, work->length * d->hidden * sizeof *out);
    for (size_t i = 0; i < d->experts; i++)
        leave_expert(work, i, out);
    if (own[BY_PART_SHARED_GATE].rows)
        leave_shared(work, out);
}
