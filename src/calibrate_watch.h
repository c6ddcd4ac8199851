/*
 * A session whose taps add what they see to statistics: one pass of a plan.
 */
#ifndef BY_CALIBRATE_WATCH_H
#define BY_CALIBRATE_WATCH_H

#include "calibrate_plan.h"
#include "engine/session.h"

struct by_watch;

/* The plan must outlive it; the model need not. */
int by_watch_open(struct by_watch **watch, struct baryon_model *model, const struct by_plan *plan,
                  size_t pass, const struct by_session_options *options, struct baryon_error *err);
void by_watch_close(struct by_watch *watch);
struct by_session *by_watch_session(const struct by_watch *watch);
size_t by_watch_pass(const struct by_watch *watch);
/* Where everything goes from now on: it has the plan's targets, in the first pass, and layers,
 * with the pass's tiles in memory. */
void by_watch_into(struct by_watch *watch, struct by_stats *stats);
/* After a failure the statistics are good for nothing. */
int by_watch_sample(struct by_watch *watch, const struct by_array *inputs, size_t count,
                    uint64_t sample, const char *name, struct baryon_error *err);

#endif
