/*
 * Inputs that layers multiply by an orthogonal matrix while the model runs (QuaRot's R4), as a
 * checkpoint says it: compressed-tensors in transform_config, Quark by a tensor of the layer, ours
 * by the size of the matrix.
 */
#ifndef BY_LLM_ONLINE_H
#define BY_LLM_ONLINE_H

#include "llm/layout/source.h"

/* Sets `rotation` of the weights. Refuses what it does not know, since rows mean nothing without
 * it. */
int by_llm_online_read(struct by_llm_source *source, struct baryon_error *err);
/* Weights become those of inputs that nobody rotates. */
int by_llm_online_straighten(struct by_llm_source *source, struct baryon_error *err);
/* The transpose of a weight's rotation. */
const struct by_rotation *by_llm_online_back(struct by_llm_source *source,
                                             const struct by_llm_weight *weight,
                                             struct baryon_error *err);
/* A tensor holds such a matrix, and is no weight. */
bool by_llm_online_holds(const struct by_llm_dialect *dialect, const char *name);
void by_llm_online_close(struct by_llm_source *source);

#endif
