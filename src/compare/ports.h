/* Whether two models can run on the same samples, and which outputs they have in common. */
#ifndef BY_COMPARE_PORTS_H
#define BY_COMPARE_PORTS_H

#include "compare/compare.h"

/* Both take the same inputs. */
int by_compare_inputs(const struct by_compared_model *a, const struct by_compared_model *b,
                      struct baryon_error *err);
/* Outputs of a that b has, too; there has to be one. */
int by_compare_outputs(const struct by_compared_model *a, const struct by_compared_model *b,
                       struct by_arena *arena, struct by_setting_texts *outputs,
                       const struct by_log *log, struct baryon_error *err);

#endif
