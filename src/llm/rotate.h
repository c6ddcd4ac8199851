/*
 * Rotations of a decoder that change no output (QuaRot's R1 and R2), as edits of its weights: an
 * orthogonal matrix between the weights that write hidden states and those that read them, and one
 * for values of each head, between v and o. Peaks of a few channels are spread over all of them.
 *
 * Weights of norms move into the linears that read them first. A head that is the embedding becomes
 * a weight of its own, since only it takes the last norm's.
 */
#ifndef BY_LLM_ROTATE_H
#define BY_LLM_ROTATE_H

#include "llm/opened.h"

enum by_llm_rotations {
    BY_LLM_ROTATE_STREAM = 1, /* R1 */
    BY_LLM_ROTATE_HEADS = 2,  /* R2 */
    BY_LLM_ROTATE_INPUTS = 4, /* R4, see rotate_online.h */
};

struct by_llm_rotated;

/* R1 and R2: edits the weights of `opened`, and its config where the head gets a weight. To be
 * closed after the last use of these weights. */
int by_llm_rotate(struct by_llm_rotated **rotated, struct by_llm_opened *opened, unsigned rotations,
                  struct baryon_error *err);
/* NULL is fine. */
void by_llm_rotated_close(struct by_llm_rotated *rotated);

#endif
