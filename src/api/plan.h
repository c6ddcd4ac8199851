/* A plan in the public form. */
#ifndef BY_API_PLAN_H
#define BY_API_PLAN_H

#include "quantize/quantize.h"

/* Before lowering; the model's nodes may be gone then. */
int by_api_plan_make(struct baryon_plan **plan, const struct by_quant_plan *from,
                     struct baryon_error *err);
/* Seconds of each stage and what rounding reconstruction did, once all are over. */
void by_api_plan_report(struct baryon_plan *plan, const struct by_quantize_report *report);

#endif
