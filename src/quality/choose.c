/* Chooses the samples that quality is measured on, and says when they suffice. */
#include "quality/quality_internal.h"

#define SHARE 4 /* one of so many judges */
#define FIRST 4 /* samples of the first batch */

/* An error of this is less than what presets differ by. */
#define SURE 0.25 /* dB */
/* Of large ratios less is enough. */
#define SURE_SHARE 0.02

static uint64_t share_of(uint64_t samples)
{
    const uint64_t share = samples / SHARE;
    return share < BY_QUALITY_MOST ? share : BY_QUALITY_MOST;
}

uint64_t by_quality_wanted(uint64_t calibrated)
{
    const uint64_t share = share_of(calibrated);
    if (!calibrated)
        return BY_QUALITY_MOST;
    return share > FIRST ? share : FIRST;
}

/* Rounding reconstruction holds out the same share of those that are good, so that what comes last
 * was not solved on. */
struct by_quality_choice by_quality_choose(uint64_t total, uint64_t calibrated, uint64_t good)
{
    const uint64_t wanted = by_quality_wanted(calibrated);
    if (total > calibrated) {
        const uint64_t behind = total - calibrated;
        return (struct by_quality_choice){calibrated, behind < wanted ? behind : wanted, false};
    }
    uint64_t count = share_of(good && good < total ? good : total);
    if (!count)
        count = total;
    return (struct by_quality_choice){total - count, count, true};
}

size_t by_quality_batch(size_t done, size_t count)
{
    const size_t next = done ? 2 * done : FIRST;
    return next < count ? next : count;
}

bool by_quality_is_sure(const struct by_gain *sqnr)
{
    const double enough = fmax(SURE, SURE_SHARE * sqnr->decibels);
    return sqnr->error <= enough;
}
