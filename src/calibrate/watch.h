/*
 * A session whose taps add what they see to statistics. All passes have the same one: with other
 * taps the runtime would fuse other nodes, and values would differ in their last bits.
 */
#ifndef BY_CALIBRATE_WATCH_H
#define BY_CALIBRATE_WATCH_H

#include "calibrate/plan.h"
#include "engine/session.h"

struct by_watch;

/* The plan must outlive it; the model need not. */
int by_watch_open(struct by_watch **watch, struct baryon_model *model,
                  const struct by_calibrate_plan *plan, const struct by_session_options *options,
                  struct baryon_error *err);
void by_watch_close(struct by_watch *watch);
struct by_session *by_watch_session(const struct by_watch *watch);
/* Where everything goes from now on, and of which pass it is. They have the plan's targets, in
 * the first pass, and its layers, with the pass's tiles in memory. */
void by_watch_into(struct by_watch *watch, struct by_stats *stats, size_t pass);

/*
 * A lane does one sample at a time; in a session of one thread, several lanes may do theirs at
 * once, with the same statistics. Closed before the watch.
 */
struct by_watch_lane;
int by_watch_lane_open(struct by_watch_lane **lane, struct by_watch *watch,
                       struct baryon_error *err);
void by_watch_lane_close(struct by_watch_lane *lane);
/* *nonfinite: there were NaNs or infinities, and by_watch_name() wants to know the sample's name.
 * After a failure the statistics are good for nothing. */
int by_watch_sample(struct by_watch_lane *lane, const struct by_array *inputs, size_t count,
                    uint64_t sample, bool *nonfinite, struct baryon_error *err);
/* Notes the name where no lower sample has such values. From one thread at a time. */
int by_watch_name(struct by_watch *watch, uint64_t sample, const char *name,
                  struct baryon_error *err);

#endif
