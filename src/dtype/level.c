/* Rounding to whole numbers. */
#include "base/rng.h"
#include "dtype/family.h"

#include <math.h>

double by_round_level(double value, const struct by_draw *draw)
{
    const double below = floor(value);
    switch (draw->ties) {
    case BY_TIES_AWAY:
        return round(value);
    case BY_TIES_UP:
        return value - below >= 0.5 ? below + 1 : below;
    case BY_TIES_STOCHASTIC:
        return by_rng_unit(draw->seed, 0, draw->index) < value - below ? below + 1 : below;
    default:
        return nearbyint(value);
    }
}

const char *by_ties_name(int ties)
{
    static const char *const names[BY_TIES_COUNT] = {
        [BY_TIES_EVEN] = "even",
        [BY_TIES_AWAY] = "away",
        [BY_TIES_UP] = "up",
        [BY_TIES_STOCHASTIC] = "stochastic",
    };
    return ties >= 0 && ties < BY_TIES_COUNT ? names[ties] : NULL;
}
