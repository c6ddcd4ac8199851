/*
 * One calibration by several ranks: each has a shard of the samples, with a file of its own
 * beside the output, and the first puts them together.
 */
#ifndef BY_CALIBRATE_RANKS_H
#define BY_CALIBRATE_RANKS_H

#include "cli/ranks.h"
#include "stats/stats.h"

/* Where a rank's part goes: FILE.rank-1-of-4; ranks NULL: FILE itself. */
int by_calibrate_part(const struct by_ranks *ranks, struct by_arena *arena, const char *out,
                      const char **path, struct baryon_error *err);
/* Refuses ranks with another model, data or settings than the first, and tells all of them
 * whether there is nothing to do, which the first knows. */
int by_calibrate_agree(struct by_ranks *ranks, const struct by_stats_key *key, uint64_t samples,
                       const struct by_log *log, bool *up_to_date, struct baryon_error *err);
/*
 * Called by all ranks when their parts are finished. The first one merges and writes `out`, and
 * has it in *stats. Parts that lie where only their rank sees them are sent. They are
 * removed when the output is there.
 */
int by_calibrate_gather(struct by_ranks *ranks, const char *out, bool has_part,
                        struct by_stats **stats, struct baryon_error *err);

#endif
