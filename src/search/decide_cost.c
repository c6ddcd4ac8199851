/* Finds what multiply-adds cost with each pair of types, and what decisions cost by themselves. */
#include "search/decision_internal.h"

#include <math.h>

#define TINY 1e-7 /* of the model's cost: what costs nothing else is chosen last of all alike */

static const struct by_mac_cost *row_of(const struct by_target_ladder *ladder,
                                        const char *activation, const char *weight)
{
    for (size_t i = 0; i < ladder->mac_count; i++)
        if (by_glob(ladder->macs[i].activation, activation) &&
            by_glob(ladder->macs[i].weight, weight))
            return &ladder->macs[i];
    return NULL;
}

static int fill_costs(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_work *work = d->work;
    const size_t types = work->type_count;
    work->costs = by_arena_alloc(&d->arena, types * types + 1, sizeof *work->costs, err);
    work->wides = by_arena_alloc(&d->arena, types * types + 1, sizeof *work->wides, err);
    if (!work->costs || !work->wides)
        return -1;
    for (size_t i = 0; i < types * types; i++) {
        const size_t activation = i / types, weight = i % types;
        const struct by_mac_cost *row =
            row_of(d->ladder, work->types[activation], work->types[weight]);
        const double bits = fmax(work->bits[activation], work->bits[weight]);
        work->costs[i] = row ? row->cost : bits / 8;
        work->wides[i] = row ? row->wide : bits > 9; /* blocks of 8 bits share an exponent */
    }
    return 0;
}

double by_decide_float_cost(const struct by_decisions *d)
{
    const struct by_mac_cost *row = row_of(d->ladder, "float", "float");
    double macs = 0;
    for (size_t i = 0; i < d->work->layer_count; i++)
        macs += d->work->layers[i].input_count ? d->work->layers[i].macs : 0;
    return macs * (row ? row->cost : 32.0 / 8);
}

int by_decide_costs(struct by_decisions *d, struct baryon_error *err)
{
    struct by_decide_state state = {.d = NULL}, trial;
    int status = fill_costs(d, err);
    if (status == 0)
        status = by_decide_state_open(&state, d, NULL, err);
    if (status == 0)
        d->work->tiny = TINY * state.cost;
    for (size_t i = 0; status == 0 && i < d->decision_count; i++) {
        struct by_decision *decision = &d->decisions[i];
        by_decide_state_try(&state, decision->place, i, &trial);
        decision->extra_cost = trial.cost - state.cost;
        decision->extra_bytes = trial.bytes - state.bytes;
    }
    by_decide_state_close(&state);
    return status;
}
