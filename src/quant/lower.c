#include "quant/lower.h"

int by_lower(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err)
{
    switch (plan->recipe->approach) {
    case BY_APPROACH_STATIC:
    case BY_APPROACH_WEIGHTS:
        return by_lower_qdq(plan, pool, err);
    case BY_APPROACH_DYNAMIC:
    case BY_APPROACH_NBITS:
        break;
    }
    return by_fail(err, BARYON_ERR_UNSUPPORTED, "this approach is not there yet");
}
