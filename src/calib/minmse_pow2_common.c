/*
 * The power of two that most samples would choose for themselves. Equal numbers of samples: the
 * smallest scale.
 */
#include "calib/bins.h"
#include "calib/methods.h"
#include "calib/votes.h"

#include <math.h>

static bool find(const struct by_sketch *sketch, const struct by_calib_target *target,
                 int *position)
{
    struct by_vote_levels levels;
    size_t count;
    uint64_t most = 0;
    by_vote_levels_of(target, &levels);
    const struct by_vote *votes = by_votes_of(&sketch->votes, &levels, &count);
    for (size_t i = 0; i < count; i++)
        if (votes[i].samples >= most) {
            most = votes[i].samples;
            *position = votes[i].position;
        }
    return count;
}

/* Where there is nothing to choose from, nobody voted though asked. */
static bool needs_votes(const struct by_sketch *sketch, const struct by_calib_target *target)
{
    struct by_range seen;
    by_range_seen(sketch, &seen);
    return !by_range_is_tiny(&seen, target);
}

bool by_calib_lacks_votes(const struct by_sketch *sketch, const struct by_calib_target *target,
                          const struct by_calibrator *method)
{
    int position;
    return method->votes && needs_votes(sketch, target) && !find(sketch, target, &position);
}

static int minmse_pow2_common(const struct by_sketch *sketch, const struct by_calib_target *target,
                              const struct by_calib_options *options, struct by_range *range,
                              struct baryon_error *err)
{
    struct by_scale scale;
    (void)options;
    by_range_seen(sketch, range);
    if (!needs_votes(sketch, target))
        return 0;
    if (by_scale_of_range(range, target, &scale, err) < 0)
        return -1;
    if (!find(sketch, target, &scale.position)) {
        by_fail(err, BARYON_ERR_USAGE,
                "the statistics have no votes of single samples, which minmse-pow2-common counts");
        return by_err_hint(err,
                           "'baryon calibrate --votes' gathers them; 'baryon quantize' does by "
                           "itself where it is given samples");
    }
    scale.scale = ldexp(1, -scale.position);
    by_range_of_scale(&scale, target, range);
    return 0;
}

/* Around one zero point: votes of samples with zero points of their own would not add. */
static bool suits_minmse_pow2_common(const struct by_calib_target *target)
{
    return target->power_of_two && !target->is_float && target->symmetric;
}

const struct by_calibrator by_calib_minmse_pow2_common = {
    .name = "minmse-pow2-common",
    .alias = "PowerOfTwoMethod.MinMSE.MostCommon",
    .help = "The one that most samples would choose, each for itself; needs their votes",
    .quark = {{BY_QUARK_POW2_MODE, "MostCommon"}},
    .uses = BY_FOR_ACTIVATIONS,
    .range = minmse_pow2_common,
    .suits = suits_minmse_pow2_common,
    .instead = "minmse-pow2 supports any zero point",
    .votes = true,
};
