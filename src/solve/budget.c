/* The multiple-choice knapsack: hulls, steps by gain for size, then branches with bounds. */
#include "solve/budget.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NODES 20000 /* of the search; each looks at all steps */

/* From one corner of an item's hull to the next. */
struct step {
    size_t item, from, to; /* choices */
    uint64_t size;
    double gain, rate; /* of cost; for each unit of size */
};

struct solving {
    const struct by_budget_item *items;
    size_t count;
    uint64_t limit;
    struct step *steps; /* by rate */
    size_t step_count;
    size_t *least;   /* the smallest choice of each item */
    size_t *order;   /* of branching: the items with the steepest hulls first */
    size_t *current; /* choices on the way; SIZE_MAX: open */
    size_t *best;
    uint64_t best_size;
    double best_cost;
    size_t nodes;
};

/* --- Hulls --- */

static const struct by_budget_choice *choice_of(const struct solving *s, size_t item, size_t choice)
{
    return &s->items[item].choices[choice];
}

static bool is_less(const struct by_budget_choice *a, const struct by_budget_choice *b)
{
    return a->size != b->size ? a->size < b->size : a->cost < b->cost;
}

static size_t smallest(const struct by_budget_item *item)
{
    size_t least = 0;
    for (size_t i = 1; i < item->count; i++)
        if (is_less(&item->choices[i], &item->choices[least]))
            least = i;
    return least;
}

/* The next corner: the choice of the steepest fall of cost. */
static size_t next_corner(const struct by_budget_item *item, size_t from)
{
    const struct by_budget_choice *at = &item->choices[from];
    size_t best = from;
    double rate = 0;
    for (size_t i = 0; i < item->count; i++) {
        const struct by_budget_choice *to = &item->choices[i];
        if (to->size <= at->size || to->cost >= at->cost)
            continue;
        const double own = (at->cost - to->cost) / (double)(to->size - at->size);
        if (own > rate || (own == rate && to->size > item->choices[best].size)) {
            rate = own;
            best = i;
        }
    }
    return best;
}

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->rate != y->rate)
        return x->rate > y->rate ? -1 : 1;
    if (x->item != y->item)
        return x->item < y->item ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void list_steps(struct solving *s)
{
    for (size_t i = 0; i < s->count; i++) {
        size_t from = s->least[i] = smallest(&s->items[i]), to;
        for (; (to = next_corner(&s->items[i], from)) != from; from = to) {
            const struct by_budget_choice *a = choice_of(s, i, from), *b = choice_of(s, i, to);
            const double gain = a->cost - b->cost;
            const uint64_t size = b->size - a->size;
            s->steps[s->step_count++] = (struct step){i, from, to, size, gain, gain / (double)size};
        }
    }
    qsort(s->steps, s->step_count, sizeof *s->steps, compare_steps);
}

/* Items by their first steps. */
static void order_items(struct solving *s)
{
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        s->current[i] = SIZE_MAX;
    for (size_t i = 0; i < s->step_count; i++)
        if (s->current[s->steps[i].item] == SIZE_MAX) {
            s->current[s->steps[i].item] = 0;
            s->order[count++] = s->steps[i].item;
        }
    for (size_t i = 0; i < s->count; i++)
        if (s->current[i] == SIZE_MAX)
            s->order[count++] = i;
}

/* --- Search --- */

static void keep_best(struct solving *s, const size_t *choices, uint64_t size, double cost)
{
    if (cost > s->best_cost || (cost == s->best_cost && size >= s->best_size))
        return;
    memcpy(s->best, choices, s->count * sizeof *choices);
    s->best_size = size;
    s->best_cost = cost;
}

/* Open items take steps as long as they fit. Gives the least cost that the relaxed problem has, and
 * keeps the whole choice that was met on the way. size, cost: of the fixed items, and of the
 * smallest choices of the others. */
static double relax(struct solving *s, size_t *taken, uint64_t size, double cost)
{
    double bound = cost;
    bool is_bounded = false;
    uint64_t loose = size; /* of the relaxed problem */
    for (size_t i = 0; i < s->count; i++)
        taken[i] = s->current[i] == SIZE_MAX ? s->least[i] : s->current[i];
    for (size_t i = 0; i < s->step_count; i++) {
        const struct step *step = &s->steps[i];
        if (s->current[step->item] != SIZE_MAX)
            continue;
        if (!is_bounded && step->size <= s->limit - loose) {
            loose += step->size;
            bound -= step->gain;
        } else if (!is_bounded) {
            bound -= step->rate * (double)(s->limit - loose);
            is_bounded = true;
        }
        if (taken[step->item] == step->from && step->size <= s->limit - size) {
            taken[step->item] = step->to;
            size += step->size;
            cost -= step->gain;
        }
    }
    keep_best(s, taken, size, cost);
    return bound;
}

/* taken: room for each depth. */
static void branch(struct solving *s, size_t depth, uint64_t size, double cost, size_t *taken)
{
    if (s->nodes++ >= NODES || size > s->limit)
        return;
    const double bound = relax(s, taken, size, cost);
    if (depth == s->count || bound >= s->best_cost - 1e-12 * fabs(s->best_cost))
        return;
    const size_t item = s->order[depth], likely = taken[item];
    const struct by_budget_choice *least = choice_of(s, item, s->least[item]);
    for (size_t i = 0; i < s->items[item].count; i++) {
        /* What the relaxed problem takes is tried first. */
        const size_t choice = i == 0 ? likely : i <= likely ? i - 1 : i;
        const struct by_budget_choice *own = choice_of(s, item, choice);
        s->current[item] = choice;
        branch(s, depth + 1, size - least->size + own->size, cost - least->cost + own->cost, taken);
    }
    s->current[item] = SIZE_MAX;
}

static void sum_up(struct solving *s, size_t *chosen, struct by_budget_found *found)
{
    memcpy(chosen, s->best, s->count * sizeof *chosen);
    found->size = 0;
    found->cost = 0;
    for (size_t i = 0; i < s->count; i++) {
        found->size += choice_of(s, i, chosen[i])->size;
        found->cost += choice_of(s, i, chosen[i])->cost;
    }
    found->exact = s->nodes < NODES;
}

static void solve_all(struct solving *s, size_t *taken, struct by_budget_found *found)
{
    uint64_t size = 0;
    double cost = 0;
    list_steps(s);
    order_items(s);
    for (size_t i = 0; i < s->count; i++) {
        size += choice_of(s, i, s->least[i])->size;
        cost += choice_of(s, i, s->least[i])->cost;
        s->best[i] = s->least[i];
        s->current[i] = SIZE_MAX;
    }
    found->fits = size <= s->limit;
    s->best_cost = INFINITY;
    if (found->fits)
        branch(s, 0, size, cost, taken);
}

int by_budget_solve(const struct by_budget_item *items, size_t count, uint64_t limit,
                    size_t *chosen, struct by_budget_found *found, struct baryon_error *err)
{
    struct solving s = {.items = items, .count = count, .limit = limit};
    size_t choices = 0;
    *found = (struct by_budget_found){0};
    for (size_t i = 0; i < count; i++)
        choices += items[i].count;
    size_t *room = by_alloc(5 * count + 1, sizeof *room, err);
    s.steps = by_alloc(choices + 1, sizeof *s.steps, err);
    if (room && s.steps) {
        s.least = room;
        s.order = room + count;
        s.current = room + 2 * count;
        s.best = room + 3 * count;
        solve_all(&s, room + 4 * count, found);
        sum_up(&s, chosen, found);
    }
    const int status = room && s.steps ? 0 : -1;
    by_free(room);
    by_free(s.steps);
    return status;
}
