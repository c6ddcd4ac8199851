/*
 * The report of `baryon auto`: what the search tried, and of the written model what that of
 * `baryon quantize` has.
 *
 *   begin -> (the search, with the listener) -> write -> end
 */
#ifndef BY_AUTO_REPORT_H
#define BY_AUTO_REPORT_H

#include "cli/auto_view.h"
#include "cli/reporting.h"

struct by_auto_reporting {
    struct by_reporting reporting;
    struct by_auto_listener listener;
    uint64_t bytes_before;
    struct by_plan_view view;
    struct by_prep prep;
};

/* Whatever comes out, by_auto_reporting_end() goes with it, before by_auto_close(). */
int by_auto_reporting_begin(struct by_auto_reporting *reporting, struct by_cli *cli,
                            const char *path, bool force, struct baryon_error *err);
/* Once the model is written; without --report nothing. */
int by_auto_reporting_write(struct by_auto_reporting *reporting, const struct by_auto *search,
                            const struct by_auto_written *written, struct baryon_error *err);
void by_auto_reporting_end(struct by_auto_reporting *reporting);

#endif
