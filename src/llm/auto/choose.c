/* Types within a size, by what is predicted of them. */
#include "llm/auto/auto_internal.h"

#include "solve/budget.h"

#include <math.h>

void by_bits_predict(struct by_bits_search *s)
{
    for (size_t i = 0; i < s->linear_count; i++) {
        const struct by_bits_linear *linear = &s->linears[i];
        const double factor = s->factor[linear->layer * BY_BITS_KINDS + linear->kind];
        size_t alike = 0;
        for (size_t k = 0; k < s->linear_count; k++)
            alike += s->linears[k].place == linear->place;
        for (size_t t = 0; t < s->type_count; t++) {
            const double error = s->solved[i * s->type_count + t];
            const bool is_known = by_bits_item(s, i, t) && error >= 0 && isfinite(error);
            s->predicted[i * s->type_count + t] =
                is_known ? fmax(factor, 0) * error / (double)alike : INFINITY;
        }
    }
}

size_t by_bits_single(const struct by_bits_search *s, uint64_t bytes)
{
    size_t best = SIZE_MAX;
    double least = INFINITY;
    for (size_t t = 0; t < s->type_count; t++) {
        double sum = 0;
        if (by_bits_bytes_of_type(s, t) > bytes)
            continue;
        for (size_t i = 0; i < s->linear_count; i++)
            sum += s->predicted[i * s->type_count + t];
        if (sum < least) {
            least = sum;
            best = t;
        }
    }
    return best;
}

/* The types that a unit can have, as choices; `types` says which they are. */
static size_t list_choices(const struct by_bits_search *s, size_t unit,
                           struct by_budget_choice *choices, size_t *types)
{
    size_t count = 0;
    for (size_t t = 0; t < s->type_count; t++) {
        struct by_budget_choice choice = {0};
        for (size_t i = 0; i < s->linear_count; i++)
            if (s->linears[i].unit == unit) {
                choice.size += s->bytes[i * s->type_count + t];
                choice.cost += s->predicted[i * s->type_count + t];
            }
        if (!isfinite(choice.cost))
            continue;
        types[count] = t;
        choices[count++] = choice;
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
            status =
                by_fail(err, BARYON_ERR_INPUT, "layer %zu has linears without a type in common", u);
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
        uint64_t best = 0;
        chosen[u] = SIZE_MAX;
        for (size_t t = 0; t < s->type_count; t++) {
            uint64_t bytes = 0;
            bool is_possible = true;
            for (size_t i = 0; i < s->linear_count; i++)
                if (s->linears[i].unit == u) {
                    is_possible = is_possible && by_bits_item(s, i, t);
                    bytes += s->bytes[i * s->type_count + t];
                }
            if (!is_possible ||
                (chosen[u] != SIZE_MAX && (greatest ? bytes <= best : bytes >= best)))
                continue;
            best = bytes;
            chosen[u] = t;
        }
    }
}
