/*
 * Scales of channels between the layers of a decoder that change no output: what a norm, v or up
 * gives is divided by them, columns of the linears that read it are multiplied. As edits of the
 * weights, so that every method, scheme and layout follows.
 *
 * SmoothQuant takes peaks off inputs that are rounded; AWQ gives columns whose inputs are large a
 * finer grid. Both are grids of candidates, judged by the output error of the layer's own scheme on
 * some tokens and rows, and taken where other tokens confirm it.
 */
#ifndef BY_LLM_SCALING_H
#define BY_LLM_SCALING_H

#include "llm/calibrated.h"

/* Edits the weights of job->opened, whose windows were read. */
struct by_llm_scaled;
int by_llm_scale(struct by_llm_scaled **scaled, struct by_llm_calibrated *job,
                 struct baryon_error *err);
/* NULL is fine; after the last use of these weights. */
void by_llm_scaled_close(struct by_llm_scaled *scaled);

#endif
