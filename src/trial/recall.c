/* Keeps judgements of models, by the hash of each. */
#include "trial/recall.h"

#include "base/mem.h"

#include <string.h>

struct by_recall {
    struct by_recall *next;
    struct by_hash128 model;
    struct by_judgement *judgements;
    size_t count;
};

int by_recall_add(struct by_recall **recall, struct by_hash128 model,
                  const struct by_judgement *judgements, size_t count, struct baryon_error *err)
{
    struct by_recall *more = by_alloc_zero(1, sizeof *more, err);
    if (!more)
        return -1;
    more->judgements = by_alloc(count, sizeof *judgements, err);
    if (!more->judgements) {
        by_free(more);
        return -1;
    }
    memcpy(more->judgements, judgements, count * sizeof *judgements);
    more->model = model;
    more->count = count;
    more->next = *recall;
    *recall = more;
    return 0;
}

size_t by_recall_find(const struct by_recall *recall, struct by_hash128 model,
                      struct by_judgement *judgements, size_t most)
{
    for (; recall; recall = recall->next) {
        if (!by_hash128_equal(recall->model, model))
            continue;
        const size_t count = recall->count < most ? recall->count : most;
        memcpy(judgements, recall->judgements, count * sizeof *judgements);
        return count;
    }
    return 0;
}

void by_recall_close(struct by_recall *recall)
{
    while (recall) {
        struct by_recall *next = recall->next;
        by_free(recall->judgements);
        by_free(recall);
        recall = next;
    }
}
