/* Declares the report of `baryon run`, as text and as JSON. */
#ifndef BY_RUN_REPORT_H
#define BY_RUN_REPORT_H

#include "cli/cmd.h"
#include "cli/run_stats.h"

struct by_run_report {
    const char *model, *engine;
    const char *path, *data; /* where samples are from (NULL: random), and what is done to them */
    uint64_t samples, skipped, files;
    double seconds, model_seconds; /* all, and in ONNX Runtime alone */
    const char *folder;            /* NULL: nothing was saved */
    const struct by_output_stats *outputs;
    size_t output_count;
};

int by_run_report_text(struct by_out *out, const struct by_run_report *report,
                       struct baryon_error *err);
void by_run_report_json(struct by_out *out, const struct by_run_report *report);

#endif
