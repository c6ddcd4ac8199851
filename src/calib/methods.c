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
                                                      NULL};

static const double layerwise_candidates[] = {99.99, 99.999, 99.99999};

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
        .percentile = 99.999,
        .percentile_symmetric = true,
        .headroom = 1,
        .candidates = layerwise_candidates,
        .candidate_count = sizeof layerwise_candidates / sizeof *layerwise_candidates,
        .metric = BY_CALIB_MAE,
        .bins = 128,
        .levels = 128,
    };
    (void)method;
}
