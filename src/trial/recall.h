/*
 * What samples said of models that were judged before. A stage that adopts a candidate leaves it to
 * the next stage as the model as it is, which is a candidate there again.
 */
#ifndef BY_TRIAL_RECALL_H
#define BY_TRIAL_RECALL_H

#include "base/hash.h"
#include "trial/judge.h"

struct by_recall;

/* *recall NULL: there are none yet. Judgements of the first samples; they are copied. */
int by_recall_add(struct by_recall **recall, struct by_hash128 model,
                  const struct by_judgement *judgements, size_t count, struct baryon_error *err);
/* Copies those of a model, `most` at most. How many they are. */
size_t by_recall_find(const struct by_recall *recall, struct by_hash128 model,
                      struct by_judgement *judgements, size_t most);
void by_recall_close(struct by_recall *recall);

#endif
