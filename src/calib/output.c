/*
 * The range to begin with where the outputs of the model choose (search/ranges.h): that with the
 * least error of the tensor itself.
 */
#include "calib/methods.h"

static int output(const struct by_sketch *sketch, const struct by_calib_target *target,
                  const struct by_calib_options *options, struct by_range *range,
                  struct baryon_error *err)
{
    const struct by_calibrator *own =
        target->power_of_two && !target->is_float ? &by_calib_minmse_pow2 : &by_calib_minmse;
    return own->range(sketch, target, options, range, err);
}

static bool suits_output(const struct by_calib_target *target)
{
    return !target->is_float;
}

const struct by_calibrator by_calib_output = {
    .name = "output",
    .alias = "OutputMSE",
    .help = "The range of least squared error, times what samples find best for the model's "
            "outputs",
    .uses = BY_FOR_ACTIVATIONS,
    .range = output,
    .suits = suits_output,
    .by_outputs = true,
};
