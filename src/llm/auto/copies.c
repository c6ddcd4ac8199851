/* Copies of a model's states that diverge. */
#include "llm/auto/copies.h"

#include "llm/eval_token.h"

#include <math.h>
#include <string.h>

/* --- Divergence --- */

/* Some tokens of a window, of all copies; room: logits and probabilities of these tokens. */
static int judge_tokens(const struct by_bits_copies *p, size_t piece, float *logits, double *shares,
                        struct baryon_error *err)
{
    const size_t vocab = p->decoder->vocab, of_window = p->pieces / p->windows;
    const size_t window = piece / of_window, first = piece % of_window * BY_BITS_TOKENS_AT_ONCE;
    const size_t rest = p->length - first,
                 count = rest < BY_BITS_TOKENS_AT_ONCE ? rest : BY_BITS_TOKENS_AT_ONCE;
    double negentropy[BY_BITS_TOKENS_AT_ONCE];
    struct by_decoder_run copies = p->run;
    copies.head = p->end.head;
    copies.norm = p->end.norm;
    if (by_decoder_logits(&p->end, window, first, count, logits, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        negentropy[i] = by_llm_token_shares(logits + i * vocab, vocab, shares + i * vocab);
    for (size_t c = 0; c < p->count; c++) {
        double *sum = &p->sums[piece * p->count + c];
        if (by_decoder_logits(&copies, c * p->windows + window, first, count, logits, err))
            return -1;
        *sum = 0;
        for (size_t i = 0; i < count; i++)
            *sum += by_llm_token_kl(shares + i * vocab, negentropy[i], logits + i * vocab, vocab);
    }
    return 0;
}

static int judge_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct by_bits_copies *p = context;
    const size_t values = BY_BITS_TOKENS_AT_ONCE * p->decoder->vocab;
    double *shares = by_alloc(values, sizeof *shares, err);
    float *logits = shares ? by_alloc(values, sizeof *logits, err) : NULL;
    int status = logits ? 0 : -1;
    (void)worker;
    for (size_t piece = begin; piece < end && !status; piece++)
        status = judge_tokens(p, piece, logits, shares, err);
    by_free(shares);
    by_free(logits);
    return status;
}

int by_bits_copies_judge(struct by_bits_copies *p, struct baryon_error *err)
{
    if (by_par_for(p->s->pool, p->pieces, 1, judge_piece, p, err))
        return -1;
    for (size_t c = 0; c < p->count; c++) {
        p->kl[c] = 0;
        for (size_t i = 0; i < p->pieces; i++)
            p->kl[c] += p->sums[i * p->count + c];
        p->kl[c] = fmax(p->kl[c] / (double)p->tokens, 0);
    }
    return 0;
}

/* --- Runs --- */

size_t by_bits_copies_bytes(const struct by_bits_copies *p)
{
    return p->tokens * p->decoder->hidden * by_decoder_kept_size(p->decoder);
}

void *by_bits_copies_states(const struct by_bits_copies *p, size_t copy)
{
    return (uint8_t *)p->run.states + copy * by_bits_copies_bytes(p);
}

int by_bits_copies_pass(struct by_bits_copies *p, size_t copy, size_t layer,
                        const struct by_decoder_loaded *loaded, struct baryon_error *err)
{
    struct by_decoder_run run = {.decoder = p->decoder,
                                 .pool = p->s->pool,
                                 .windows = p->windows,
                                 .length = p->length,
                                 .states = by_bits_copies_states(p, copy)};
    return by_decoder_pass(&run, layer, loaded, err);
}

int by_bits_copies_start(struct by_bits_copies *p, size_t copy, size_t layer,
                         const struct by_decoder_loaded *loaded, struct baryon_error *err)
{
    memcpy(by_bits_copies_states(p, copy), p->walk.states, by_bits_copies_bytes(p));
    return by_bits_copies_pass(p, copy, layer, loaded, err);
}

int by_bits_copies_finish(struct by_bits_copies *p, size_t layer, struct baryon_error *err)
{
    p->run.windows = p->count * p->windows;
    for (size_t i = layer + 1; i < p->decoder->layers; i++)
        if (by_decoder_step(&p->run, i, err))
            return -1;
    return by_bits_copies_judge(p, err);
}

size_t by_bits_probe_window(size_t probe, size_t probes, size_t windows)
{
    return (2 * probe + 1) * windows / (2 * probes);
}

/* Windows of some parts of the texts, instead of their beginning. */
static int spread_ids(struct by_bits_copies *p, struct baryon_error *err)
{
    const size_t all = p->s->windows.choose, bytes = p->length * sizeof *p->ids;
    p->spread = by_alloc(p->windows * p->length, sizeof *p->spread, err);
    for (size_t i = 0; p->spread && i < p->windows; i++)
        memcpy(p->spread + i * p->length,
               p->ids + by_bits_probe_window(i, p->windows, all) * p->length, bytes);
    p->ids = p->spread;
    return p->spread ? 0 : -1;
}

struct by_bits_copies by_bits_copies_of(struct by_bits_search *s)
{
    const struct by_bits_windows *w = &s->windows;
    const size_t wanted = (size_t)s->options->probe_windows;
    return (struct by_bits_copies){.s = s,
                                   .reference = &s->calibrated.decoder,
                                   .decoder = &s->calibrated.decoder,
                                   .ids = w->choose_ids,
                                   .windows = wanted && wanted < w->choose ? wanted : w->choose,
                                   .length = w->length};
}

int by_bits_copies_open(struct by_bits_copies *p, struct baryon_error *err)
{
    struct by_pool *pool = p->s->pool;
    p->tokens = p->windows * p->length;
    p->pieces = p->windows * ((p->length + BY_BITS_TOKENS_AT_ONCE - 1) / BY_BITS_TOKENS_AT_ONCE);
    if (spread_ids(p, err) ||
        by_decoder_begin(&p->end, p->reference, p->ids, p->windows, p->length, pool, err) ||
        by_decoder_begin(&p->walk, p->decoder, p->ids, p->windows, p->length, pool, err))
        return -1;
    p->run = (struct by_decoder_run){
        .decoder = p->decoder, .pool = pool, .length = p->length, .capacity = p->walk.capacity};
    p->run.states = by_alloc(BY_BITS_COPIES, by_bits_copies_bytes(p), err);
    p->kl = by_alloc_zero(BY_BITS_COPIES, sizeof *p->kl, err);
    p->sums = by_alloc_zero(BY_BITS_COPIES * p->pieces, sizeof *p->sums, err);
    if (!p->run.states || !p->kl || !p->sums)
        return -1;
    for (size_t i = 0; i < p->decoder->layers; i++)
        if (by_decoder_step(&p->end, i, err))
            return -1;
    return by_decoder_finish(&p->end, err);
}

void by_bits_copies_close(struct by_bits_copies *p)
{
    by_decoder_end(&p->end);
    by_decoder_end(&p->walk);
    by_decoder_end(&p->run);
    by_free(p->spread);
    by_free(p->kl);
    by_free(p->sums);
}
