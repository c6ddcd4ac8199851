/* Biases are corrected with what statistics tell of the means of channels. */
#ifndef BY_TRIAL_BIASES_H
#define BY_TRIAL_BIASES_H

#include "trial/quantization.h"

/* Whether biases are corrected where no samples judge: those of few bits have little room. */
bool by_biases_corrected(const struct by_recipe *recipe);
/* True when biases are corrected, or that is to be judged. */
bool by_biases_need_means(const struct by_recipe *recipe);
/* Equalization is tried for rounding that is solved after it. */
bool by_trial_before_rounding(const struct by_recipe *recipe);
/* Weights of its candidates stay float then. */
bool by_trial_leaves_weights(const struct by_recipe *recipe);
/* Asks calibration for all that a plan needs to know: ranges, and means where its biases are or may
 * be corrected. What is added to the options lives in the plan. */
int by_trial_want(struct by_quant_plan *plan, bool corrects, struct by_calibrate_options *options,
                  struct baryon_error *err);
/* After the rules of hardware, which are asked again where something changed. log may be NULL. */
int by_biases_correct(struct by_quant_plan *plan, struct by_stats *stats, struct by_pool *pool,
                      const struct by_log *log, struct baryon_error *err);

#endif
