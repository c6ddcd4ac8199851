/*
 * Checkpoints: what a calibration has so far, in files that a later one takes up.
 *
 * Each pass has a file of its own, with statistics in the usual form: the first
 * has all but the moments of later passes, those have nothing but theirs. Finished passes stay
 * there while others run, so that their moments take no memory.
 */
#ifndef BY_CALIBRATE_KEEP_H
#define BY_CALIBRATE_KEEP_H

#include "calibrate/calibrate.h"
#include "calibrate/plan.h"

struct by_keep {
    const char *path; /* NULL: none is kept */
    const struct by_log *log;
    const struct by_stats_key *key;
    struct by_sample_range range; /* that the calibration covers */
    uint64_t total;
    double interval, next; /* seconds; when the next one is due, by by_keep_clock() */
    bool kept;             /* one was written, or taken up */
};

/* Seconds on a clock that does not jump. */
double by_keep_clock(void);
/* What was kept of a pass; *stats NULL when there is nothing of use. Files of others, which
 * fit no more, are refused; damaged ones are told and left out. */
int by_keep_take_up(struct by_keep *keep, size_t pass, struct by_stats **stats,
                    struct baryon_error *err);
bool by_keep_due(const struct by_keep *keep);
int by_keep_write(struct by_keep *keep, size_t pass, const struct by_stats *stats,
                  struct baryon_error *err);
/* Removes what there is of this pass and all later ones. */
int by_keep_remove(const char *path, size_t pass, struct baryon_error *err);

#endif
