/* Types within a size, by what is predicted of them. */
#include "llm/auto/auto_internal.h"

#include "solve/budget.h"

#include <math.h>
#include <string.h>

/* How many linears are of the same kind in the layer. */
static int count_places(const struct by_bits_search *s, size_t **counts, struct baryon_error *err)
{
    *counts = by_alloc_zero(s->place_count, sizeof **counts, err);
    for (size_t i = 0; *counts && i < s->linear_count; i++)
        (*counts)[s->linears[i].place]++;
    return *counts ? 0 : -1;
}

int by_bits_predict(struct by_bits_search *s, struct baryon_error *err)
{
    const size_t types = s->type_count;
    size_t *alike;
    if (!s->unit_kl)
        s->unit_kl = by_arena_alloc(&s->arena, s->unit_count * types, sizeof *s->unit_kl, err);
    if (!s->unit_kl || count_places(s, &alike, err))
        return -1;
    memset(s->unit_kl, 0, s->unit_count * types * sizeof *s->unit_kl);
    for (size_t i = 0; i < s->linear_count * types; i++) {
        const struct by_bits_linear *linear = &s->linears[i / types];
        const double factor = s->factor[linear->layer * BY_BITS_KINDS + linear->kind];
        /* Of experts that no token came to nothing is known: they cost nothing. */
        s->predicted[i] =
            by_bits_item(s, i / types, i % types)
                ? fmax(factor, 0) * fmax(s->solved[i], 0) / (double)alike[linear->place]
                : INFINITY;
        s->unit_kl[linear->unit * types + i % types] += s->predicted[i];
    }
    by_free(alike);
    return 0;
}

/* The types that a unit can have, as choices; `types` says which they are. */
static size_t list_choices(const struct by_bits_search *s, size_t unit,
                           struct by_budget_choice *choices, size_t *types)
{
    size_t count = 0;
    for (size_t t = 0; t < s->type_count; t++) {
        const size_t at = unit * s->type_count + t;
        if (s->unit_bytes[at] == UINT64_MAX || !isfinite(s->unit_kl[at]))
            continue;
        types[count] = t;
        choices[count++] = (struct by_budget_choice){s->unit_bytes[at], s->unit_kl[at]};
    }
    return count;
}

int by_bits_choose(struct by_bits_search *s, uint64_t bytes, struct baryon_error *err)
{
    const size_t room = s->unit_count * s->type_count;
    struct by_budget_choice *choices = by_alloc(room, sizeof *choices, err);
    struct by_budget_item *items = choices ? by_alloc(s->unit_count, sizeof *items, err) : NULL;
    size_t *types = items ? by_alloc(room, sizeof *types, err) : NULL;
    struct by_budget_found found;
    int status = types ? 0 : -1;
    for (size_t u = 0; u < s->unit_count && !status; u++) {
        struct by_budget_choice *own = choices + u * s->type_count;
        items[u] = (struct by_budget_item){own, list_choices(s, u, own, types + u * s->type_count)};
        if (!items[u].count)
            status = by_fail(err, BARYON_ERR_INPUT, "no type of unit %zu has a finite error", u);
    }
    if (!status)
        status = by_budget_solve(items, s->unit_count, bytes, s->chosen, &found, err);
    for (size_t u = 0; u < s->unit_count && !status; u++)
        s->chosen[u] = types[u * s->type_count + s->chosen[u]];
    by_free(choices);
    by_free(items);
    by_free(types);
    return status;
}

uint64_t by_bits_chosen_bytes(const struct by_bits_search *s, const size_t *chosen)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < s->linear_count; i++)
        sum += s->bytes[i * s->type_count + chosen[s->linears[i].unit]];
    return sum;
}

double by_bits_chosen_kl(const struct by_bits_search *s, const size_t *chosen)
{
    double sum = 0;
    for (size_t i = 0; i < s->linear_count; i++)
        sum += s->predicted[i * s->type_count + chosen[s->linears[i].unit]];
    return sum;
}

void by_bits_extreme(const struct by_bits_search *s, bool greatest, size_t *chosen)
{
    for (size_t u = 0; u < s->unit_count; u++) {
        const uint64_t *bytes = s->unit_bytes + u * s->type_count;
        chosen[u] = SIZE_MAX;
        for (size_t t = 0; t < s->type_count; t++)
            if (bytes[t] != UINT64_MAX &&
                (chosen[u] == SIZE_MAX ||
                 (greatest ? bytes[t] > bytes[chosen[u]] : bytes[t] < bytes[chosen[u]])))
                chosen[u] = t;
    }
}
