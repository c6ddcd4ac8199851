/* What logits say of one token. */
#ifndef BY_LLM_EVAL_TOKEN_H
#define BY_LLM_EVAL_TOKEN_H

#include <stddef.h>
#include <stdint.h>

/* Sums over tokens; all but loss are of those with a reference. */
struct by_llm_token_sums {
    double loss, loss_against, kl, agree;
};

/* Adds a token, after which comes `next`. other: logits of the reference; NULL: there is none. */
void by_llm_token_add(struct by_llm_token_sums *sums, const float *own, const float *other,
                      size_t vocab, uint32_t next);

/* Divergence alone, of many from one reference: its probabilities, and the sum of each times its
 * logarithm. */
double by_llm_token_shares(const float *logits, size_t vocab, double *shares);
/* negentropy: that sum. */
double by_llm_token_kl(const double *shares, double negentropy, const float *own, size_t vocab);

#endif
