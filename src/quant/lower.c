/* Emits the quantized graph in the form that the config selects. */
#include "quant/lower.h"

int by_lower(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err)
{
    switch (plan->recipe->approach) {
    case BY_APPROACH_STATIC:
        return plan->recipe->format == BY_FORMAT_QOPERATOR ? by_lower_qoperator(plan, pool, err)
                                                           : by_lower_qdq(plan, pool, err);
    case BY_APPROACH_WEIGHTS:
        return by_lower_qdq(plan, pool, err);
    case BY_APPROACH_DYNAMIC:
        return by_lower_dynamic(plan, pool, err);
    case BY_APPROACH_NBITS:
        return by_lower_nbits(plan, pool, err);
    }
    return by_fail(err, BARYON_ERR_INTERNAL, "unknown approach");
}
