/* Baryon: two quantized models side by side. A part of <baryon.h>. */
#ifndef BARYON_COMPARE_H
#define BARYON_COMPARE_H

#include "evaluate.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Compare
 *
 * Types and scales of tensors, types of layers and operators of two models, of which at least one
 * is quantized, by whatever tool; with samples also how far their outputs are from each other, and
 * from those of a float model. Settings are those of `baryon compare`; without any about samples,
 * and without samples of the caller, the models do not run. A goal (min, max) that is missed is
 * BARYON_ERR_GOAL, and the comparison is given all the same.
 *
 * For example:
 *
 *     struct baryon_comparison *comparison;
 *     if (baryon_compare(&comparison, quark, baryon, NULL, NULL, 0, NULL, &err))
 *         return -1;
 *     puts(baryon_comparison_json(comparison));
 *     baryon_comparison_free(comparison);
 */
struct baryon_comparison;

/* reference: the float model, or NULL. Models are linked and types found; nothing else changes. */
BARYON_API int baryon_compare(struct baryon_comparison **comparison, struct baryon_model *first,
                              struct baryon_model *second, struct baryon_model *reference,
                              const struct baryon_setting *settings, size_t count,
                              const struct baryon_evaluate_options *options,
                              struct baryon_error *err);
/* As `baryon compare --json` prints it. */
BARYON_API const char *baryon_comparison_json(const struct baryon_comparison *comparison);
BARYON_API void baryon_comparison_free(struct baryon_comparison *comparison);

#ifdef __cplusplus
}
#endif

#endif
