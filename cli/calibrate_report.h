/* Declares the report of `baryon calibrate`, as text and as JSON. */
#ifndef BY_CALIBRATE_REPORT_H
#define BY_CALIBRATE_REPORT_H

#include "calibrate/calibrate.h"
#include "cli/out.h"

struct by_calibrate_summary {
    const char *model, *engine;
    const char *path; /* of the samples, NULL: random */
    const char *data; /* how they are prepared */
    const char *file; /* with the statistics */
    uint64_t bytes;
    const struct by_stats *stats;
    const struct by_calibrate_report *took; /* NULL: nothing was run, the file was up to date */
};

void by_calibrate_report_text(struct by_out *out, const struct by_calibrate_summary *summary);
void by_calibrate_report_json(struct by_out *out, const struct by_calibrate_summary *summary);

#endif
