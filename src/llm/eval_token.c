/* Loss and divergence of one token. */
#include "llm/eval_token.h"

#include <math.h>

/* Log of the sum of exponentials, and the likeliest. */
static double log_sum(const float *logits, size_t count, size_t *best)
{
    double sum = 0;
    *best = 0;
    for (size_t i = 1; i < count; i++)
        if (logits[i] > logits[*best])
            *best = i;
    for (size_t i = 0; i < count; i++)
        sum += exp((double)logits[i] - (double)logits[*best]);
    return log(sum) + (double)logits[*best];
}

void by_llm_token_add(struct by_llm_token_sums *sums, const float *own, const float *other,
                      size_t vocab, uint32_t next)
{
    size_t best, best_other;
    const double whole = log_sum(own, vocab, &best);
    sums->loss += whole - (double)own[next];
    if (!other)
        return;
    const double all = log_sum(other, vocab, &best_other);
    sums->loss_against += all - (double)other[next];
    sums->agree += best == best_other;
    for (size_t i = 0; i < vocab; i++) {
        const double p = (double)other[i] - all;
        sums->kl += exp(p) * (p - ((double)own[i] - whole));
    }
}

double by_llm_token_shares(const float *logits, size_t vocab, double *shares)
{
    size_t best;
    double sum = 0;
    const double whole = log_sum(logits, vocab, &best);
    for (size_t i = 0; i < vocab; i++) {
        const double p = (double)logits[i] - whole;
        shares[i] = exp(p);
        sum += shares[i] * p;
    }
    return sum;
}

double by_llm_token_kl(const double *shares, double negentropy, const float *own, size_t vocab)
{
    size_t best;
    double sum = 0;
    const double whole = log_sum(own, vocab, &best);
    for (size_t i = 0; i < vocab; i++)
        sum += shares[i] * ((double)own[i] - whole);
    return negentropy - sum;
}
