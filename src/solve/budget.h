/*
 * One choice for each item, so that sizes sum to a limit at most and costs to as little as can be:
 * the multiple-choice knapsack. A pure function; equal costs go to the smaller size, then to the
 * choice that comes first.
 *
 * Steps of the items' convex hulls are taken by gain for size, then what is left is searched with
 * bounds of the relaxed problem: exact where that ends within a fixed number of nodes, as it does
 * for few items; else the best that was met.
 */
#ifndef BY_SOLVE_BUDGET_H
#define BY_SOLVE_BUDGET_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct by_budget_choice {
    uint64_t size;
    double cost; /* finite, at least 0 */
};

struct by_budget_item {
    const struct by_budget_choice *choices; /* in any order */
    size_t count;                           /* at least 1 */
};

struct by_budget_found {
    bool fits; /* false: the smallest choices are above the limit, and chosen */
    bool exact;
    uint64_t size;
    double cost;
};

int by_budget_solve(const struct by_budget_item *items, size_t count, uint64_t limit,
                    size_t *chosen, struct by_budget_found *found, struct baryon_error *err);

#endif
