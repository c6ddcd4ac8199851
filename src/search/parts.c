/* Splits samples in three parts. */
#include "search/parts.h"

#include "base/err.h"

#define SHARE 4 /* one of so many samples chooses, and as many are kept for the end */
#define FEW   12

/* More samples hardly change what a search chooses, and each costs a run of every candidate. */
static const size_t most[][BY_AUTO_PARTS] = {
    [BY_EFFORT_QUICK] = {32, 16, 64},
    [BY_EFFORT_NORMAL] = {128, 64, 128},
    [BY_EFFORT_THOROUGH] = {1024, 256, 1024},
};

const char *by_auto_part_name(enum by_auto_part part)
{
    static const char *const names[] = {"calibrate", "choose", "last"};
    return names[part];
}

static size_t least_of(size_t one, size_t other)
{
    return one < other ? one : other;
}

static void share_samples(struct by_auto_parts *parts, const struct by_log *log)
{
    struct by_auto_range *of = parts->of;
    parts->shared = true;
    of[BY_PART_CALIBRATE] = (struct by_auto_range){0, 1};
    of[BY_PART_CHOOSE] = of[BY_PART_LAST] = (struct by_auto_range){parts->total - 1, 1};
    of[BY_PART_SEEN] = (struct by_auto_range){0, parts->total};
    by_log(
        log, BY_LOG_WARNING,
        parts->total == 1
            ? "there is 1 sample, three parts require 3: it calibrates, chooses and measures, so "
              "the figures say nothing about other samples"
            : "there are 2 samples, three parts require 3: the second one chooses and measures, "
              "so the figures are better than on other samples");
}

int by_auto_split(struct by_auto_parts *parts, size_t total, enum by_auto_effort effort,
                  const struct by_log *log, struct baryon_error *err)
{
    struct by_auto_range *of = parts->of;
    *parts = (struct by_auto_parts){.total = total};
    if (!total)
        return by_fail(err, BARYON_ERR_INPUT, "there are no samples, a search requires at least 1");
    if (total < BY_AUTO_PARTS) {
        share_samples(parts, log);
        return 0;
    }
    const size_t share = total / SHARE ? total / SHARE : 1;
    of[BY_PART_CHOOSE].count = least_of(share, most[effort][BY_PART_CHOOSE]);
    of[BY_PART_LAST].count = least_of(share, most[effort][BY_PART_LAST]);
    of[BY_PART_CALIBRATE].count = least_of(
        total - of[BY_PART_CHOOSE].count - of[BY_PART_LAST].count, most[effort][BY_PART_CALIBRATE]);
    of[BY_PART_CHOOSE].first = of[BY_PART_CALIBRATE].count;
    of[BY_PART_SEEN].count = of[BY_PART_CALIBRATE].count + of[BY_PART_CHOOSE].count;
    of[BY_PART_LAST].first = of[BY_PART_SEEN].count;
    if (total < FEW)
        by_log(
            log, BY_LOG_NOTICE,
            "there are %zu samples, of which %zu choose: figures of so few may differ by some dB "
            "on others",
            total, of[BY_PART_CHOOSE].count);
    return 0;
}
