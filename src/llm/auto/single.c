/* Single types of at most a size, beside the best model. */
#include "llm/auto/auto_internal.h"

#include "base/file.h"

#include <math.h>
#include <string.h>

#define SINGLE "uniform"
/* Predictions of single types are of the same layers, and err alike: those that the first one's
 * measurement puts this far above the best model are not tried. */
#define DOUBT 1.25

struct singles {
    struct by_bits_search *s;
    uint64_t bytes;
    bool *tried;    /* [types] */
    size_t *chosen; /* [units] */
    double rate;    /* measured, to predicted, of the first; 0: none yet */
    double best;    /* of those that are not the best model */
};

static double predict(const struct by_bits_search *s, size_t type)
{
    double sum = 0;
    for (size_t i = 0; i < s->linear_count; i++)
        sum += s->predicted[i * s->type_count + type];
    return sum;
}

/* The best by prediction that fits and was not tried; SIZE_MAX: none. */
static size_t next_type(const struct singles *singles)
{
    const struct by_bits_search *s = singles->s;
    size_t best = SIZE_MAX;
    double least = INFINITY;
    for (size_t t = 0; t < s->type_count; t++) {
        if (singles->tried[t] || by_bits_bytes_of_type(s, t) > singles->bytes)
            continue;
        const double sum = predict(s, t);
        if (sum < least) {
            least = sum;
            best = t;
        }
    }
    return least * singles->rate > DOUBT * s->result->reached ? SIZE_MAX : best;
}

static int name_single(struct by_bits_search *s, size_t type, struct baryon_error *err)
{
    const char *name = s->types[type].name;
    s->result->uniform = by_arena_text(&s->result->arena, name, strlen(name), err);
    return s->result->uniform ? 0 : -1;
}

/* The single type is within the budget: where it is better as well, it is what was looked for. */
static int take_single(struct by_bits_search *s, const size_t *chosen, double kl,
                       struct baryon_error *err)
{
    char from[4096], to[4096];
    memcpy(s->chosen, chosen, s->unit_count * sizeof *chosen);
    s->result->reached = kl;
    s->result->missed = s->options->kl >= 0 && kl > s->options->kl;
    s->result->single_wins = true;
    return by_bits_trial_remove(s, BY_BITS_BEST, err) ||
                   by_bits_trial_path(s, SINGLE, from, sizeof from, err) ||
                   by_bits_trial_path(s, BY_BITS_BEST, to, sizeof to, err) ||
                   by_rename_folder(from, to, err)
               ? -1
               : 0;
}

static int try_type(struct singles *singles, size_t type, struct baryon_error *err)
{
    struct by_bits_search *s = singles->s;
    const struct by_llm_quantized kept = s->result->quantized;
    struct by_llm_auto_measured measured = {0};
    const struct by_bits_trial trial = {singles->chosen, SINGLE, &measured, NULL};
    for (size_t u = 0; u < s->unit_count; u++)
        singles->chosen[u] = type;
    if (by_bits_try(s, &trial, err))
        return -1;
    const double kl = measured.kl.mean;
    if (singles->rate <= 0 && measured.predicted > 0)
        singles->rate = kl / measured.predicted;
    if (kl < s->result->reached)
        return name_single(s, type, err) || take_single(s, singles->chosen, kl, err) ? -1 : 0;
    s->result->quantized = kept;
    if (!s->result->single_wins && kl < singles->best) {
        singles->best = kl;
        if (name_single(s, type, err) || by_bits_measure(s, &trial, true, err))
            return -1;
        s->result->single = measured;
    }
    return by_bits_trial_remove(s, SINGLE, err);
}

int by_bits_try_singles(struct by_bits_search *s, uint64_t bytes, struct baryon_error *err)
{
    struct singles singles = {.s = s, .bytes = bytes, .best = INFINITY};
    size_t type;
    if (s->options->no_uniform)
        return 0;
    singles.tried = by_arena_alloc(&s->arena, s->type_count, sizeof *singles.tried, err);
    singles.chosen = by_arena_alloc(&s->arena, s->unit_count, sizeof *singles.chosen, err);
    if (!singles.tried || !singles.chosen)
        return -1;
    memset(singles.tried, 0, s->type_count * sizeof *singles.tried);
    while ((type = next_type(&singles)) != SIZE_MAX) {
        singles.tried[type] = true;
        if (try_type(&singles, type, err))
            return -1;
    }
    return 0;
}
