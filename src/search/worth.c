/* Whether a step of a search is worth its time, by what is known before it. */
#include "search/worth.h"

#include <math.h>

/* Without the noise of weights a model would gain so much, in dB: solving may gain a part of it. */
#define WEIGHTS_GAIN 1.0
/* The sum of errors that sources have alone and a whole model may differ by so much, in dB. */
#define WEIGHTS_MISS 3.0
/* How many times as much of the noise as of the bytes the noisiest layers have, about. */
#define NOISIER 4
/* Of the cost, that changes may add without being noticed. */
#define FEW 0.01

bool by_worth_solving(const struct by_worth_solving *of)
{
    if (of->gain < WEIGHTS_GAIN)
        return false;
    return isnan(of->goal) || !of->widens || of->sqnr + of->gain >= of->goal;
}

bool by_worth_going_back(const struct by_worth_back *of)
{
    if (of->needed || of->late)
        return of->needed;
    const double saved = of->wide - of->narrow, back = of->smallest - of->narrow;
    return isnan(of->goal) ||
           exp10((of->sqnr - of->goal) / 10) >= pow(fmax(1 - back / saved, 0), NOISIER);
}

bool by_worth_deciding(double ceiling, double goal)
{
    return !(ceiling < goal);
}

bool by_worth_wide_activations(double weights, double goal)
{
    return !(weights < goal - WEIGHTS_MISS);
}

bool by_worth_few_changes(double cost, double without)
{
    return cost <= (1 + FEW) * without;
}
