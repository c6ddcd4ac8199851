/* Prints which samples a statistics file covers, as text or JSON. */
#include "cli/coverage.h"

#include "cli/running.h"

#include <inttypes.h>

#define RANGES_SHOWN  8
#define SKIPPED_SHOWN 10

/* The i-th gap between the ranges that are covered; false: there are no more. */
static bool gap_at(const struct by_stats *stats, size_t i, struct by_sample_range *gap)
{
    const struct by_sample_range *at = stats->covered.at;
    size_t count = stats->covered.count;
    if (i > count)
        return false;
    gap->begin = i ? at[i - 1].end : 0;
    gap->end = i < count ? at[i].begin : stats->total;
    return true;
}

static bool range_at(const struct by_stats *stats, bool missing, size_t i,
                     struct by_sample_range *range)
{
    if (missing)
        return gap_at(stats, i, range);
    if (i >= stats->covered.count)
        return false;
    *range = stats->covered.at[i];
    return true;
}

void by_coverage_ranges(struct by_str *str, const struct by_stats *stats, bool missing, size_t most)
{
    struct by_sample_range range;
    size_t shown = 0;
    for (size_t i = 0; range_at(stats, missing, i, &range); i++) {
        if (range.begin >= range.end)
            continue;
        if (shown++ == most) {
            by_str_puts(str, ", ...");
            return;
        }
        by_str_printf(str, "%s%" PRIu64, shown > 1 ? ", " : "", range.begin);
        if (range.end - range.begin > 1)
            by_str_printf(str, " to %" PRIu64, range.end - 1);
    }
}

static void samples_line(struct by_out *out, const struct by_stats *stats)
{
    struct by_str text;
    char covered[32], total[32];
    by_str_init(&text);
    by_str_printf(&text, "%s of %s",
                  by_count_text(by_stats_covered(stats), covered, sizeof covered),
                  by_count_text(stats->total, total, sizeof total));
    if (!by_stats_complete(stats)) {
        by_str_puts(&text, ", missing: ");
        by_coverage_ranges(&text, stats, true, RANGES_SHOWN);
    }
    if (stats->skipped.count)
        by_str_printf(&text, "; %zu bad %s skipped", stats->skipped.count,
                      stats->skipped.count == 1 ? "sample" : "samples");
    by_running_line(out, "samples", by_str_text(&text), NULL);
    out->text.failed |= text.failed;
    by_str_release(&text);
}

static void skipped_lines(struct by_out *out, const struct by_stats *stats)
{
    for (size_t i = 0; i < stats->skipped.count; i++) {
        const struct by_skipped *skipped = &stats->skipped.at[i];
        if (i == SKIPPED_SHOWN) {
            by_str_printf(&out->text, "            and %zu more\n", stats->skipped.count - i);
            return;
        }
        by_str_printf(&out->text, "            %" PRIu64 ": ", skipped->sample);
        by_clean(&out->text, skipped->name);
        by_str_puts(&out->text, ": ");
        by_clean(&out->text, skipped->reason);
        by_str_puts(&out->text, "\n");
    }
}

void by_coverage_text(struct by_out *out, const struct by_stats *stats)
{
    by_running_line(out, "model", stats->model, NULL);
    by_running_line(out, "data", stats->data, NULL);
    if (*stats->settings)
        by_running_line(out, "settings", stats->settings, NULL);
    samples_line(out, stats);
    skipped_lines(out, stats);
}

static void hash_json(struct by_json *json, const char *key, struct by_hash128 hash)
{
    char text[33];
    by_json_text(json, key, by_hash128_text(hash, text));
}

static void ranges_json(struct by_json *json, const struct by_stats *stats, bool missing)
{
    struct by_sample_range range;
    by_json_open(json, missing ? "missing" : "covered", '[');
    for (size_t i = 0; range_at(stats, missing, i, &range); i++) {
        if (range.begin >= range.end)
            continue;
        by_json_open(json, NULL, '{');
        by_json_int(json, "begin", (int64_t)range.begin);
        by_json_int(json, "end", (int64_t)range.end);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}

void by_coverage_json(struct by_json *json, const struct by_stats *stats)
{
    by_json_text(json, "model", stats->model);
    by_json_text(json, "data", stats->data);
    by_json_text(json, "settings", stats->settings);
    by_json_open(json, "keys", '{');
    hash_json(json, "model", stats->key.model);
    hash_json(json, "data", stats->key.data);
    hash_json(json, "settings", stats->key.settings);
    hash_json(json, "content", stats->content);
    by_json_close(json, '}');
    by_json_int(json, "total", (int64_t)stats->total);
    by_json_int(json, "samples", (int64_t)by_stats_covered(stats));
    by_json_bool(json, "complete", by_stats_complete(stats));
    ranges_json(json, stats, false);
    ranges_json(json, stats, true);
    by_json_open(json, "skipped", '[');
    for (size_t i = 0; i < stats->skipped.count; i++) {
        by_json_open(json, NULL, '{');
        by_json_int(json, "sample", (int64_t)stats->skipped.at[i].sample);
        by_json_text(json, "name", stats->skipped.at[i].name);
        by_json_text(json, "reason", stats->skipped.at[i].reason);
        by_json_close(json, '}');
    }
    by_json_close(json, ']');
}
