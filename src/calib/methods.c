/* The list of methods. To add one: a file with its row, the row here. NULL ends. */
#include "calib/methods.h"

#include <string.h>
#include <strings.h>

static const struct by_calibrator *const methods[] = {&by_calib_minmax,
                                                      &by_calib_nonoverflow,
                                                      &by_calib_percentile,
                                                      &by_calib_layerwise_percentile,
                                                      &by_calib_minmse,
                                                      &by_calib_minmse_pow2,
                                                      &by_calib_entropy,
                                                      &by_calib_distribution,
                                                      &by_calib_minmse_pow2_percentile,
                                                      &by_calib_distribution_p3,
                                                      &by_calib_minmse_pow2_common,
                                                      &by_calib_stddev,
                                                      &by_calib_output,
                                                      NULL};

const struct by_calibrator *const *by_calibrators(size_t *count)
{
    for (*count = 0; methods[*count];)
        ++*count;
    return methods;
}

/* Without case, dashes and underscores. */
static bool same_name(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "-_");
        b += strspn(b, "-_");
        if (strncasecmp(a, b, 1) != 0)
            return false;
        if (!*a)
            return true;
    }
}

const struct by_calibrator *by_calibrator_find(const char *name)
{
    for (const struct by_calibrator *const *at = methods; *at; at++)
        if (same_name((*at)->name, name) || same_name((*at)->alias, name))
            return *at;
    const char *member = strchr(name, '.'); /* "CalibMethod.MinMax" */
    return member ? by_calibrator_find(member + 1) : NULL;
}

void by_calib_defaults(const struct by_calibrator *method, struct by_calib_options *options)
{
    *options = (struct by_calib_options){
        .own = method->options ? method->options->defaults : NULL,
        .headroom = 1,
    };
}

enum by_calib_need by_calib_needs(const struct by_calibrator *method,
                                  const struct by_calib_target *target)
{
    struct by_calib_target pow2 = *target, symmetric = *target;
    pow2.power_of_two = true;
    symmetric.symmetric = true;
    if (!method->suits || method->suits(target))
        return BY_NEEDS_NOTHING;
    if (method->suits(&symmetric))
        return BY_NEEDS_SYMMETRY;
    pow2.symmetric = true;
    return method->suits(&pow2) ? BY_NEEDS_POW2 : BY_NEEDS_FLOAT;
}
