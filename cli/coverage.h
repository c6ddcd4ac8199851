/* Declares the report of which samples statistics cover, as text and as JSON. */
#ifndef BY_COVERAGE_H
#define BY_COVERAGE_H

#include "base/json.h"
#include "cli/out.h"
#include "stats/stats.h"

/* "0 to 4, 7, 9 to 12", at most `most` ranges of those that are covered, or missing. */
void by_coverage_ranges(struct by_str *str, const struct by_stats *stats, bool missing,
                        size_t most);
/* "model", "data", "settings" and "samples", a line each; then what was skipped. */
void by_coverage_text(struct by_out *out, const struct by_stats *stats);
/* Members of an object: model, data, settings, keys, total, covered, missing, skipped. */
void by_coverage_json(struct by_json *json, const struct by_stats *stats);

#endif
