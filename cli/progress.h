/*
 * How far a command is, on standard error: a bar that is drawn anew on a terminal,
 * else one line every 10 %, and at most every 10 s. Nothing with --quiet. With --json
 * events instead, a line each: at the beginning, at most four a second, at the end:
 *     {"event":"progress","stage":"run","done":3,"total":32,"samples_per_second":1.5,
 *      "seconds_left":19.3}
 */
#ifndef BY_PROGRESS_H
#define BY_PROGRESS_H

#include "baryon.h"

struct by_progress_style {
    bool quiet, color, json;
};

struct by_progress {
    const char *label; /* "run" */
    const char *unit;  /* "samples" */
    uint64_t total, done, before;
    double share; /* of the work that is done, where things are not alike; 0: by their number */
    double start, drawn;
    unsigned tenths; /* lines written so far */
    struct by_progress_style style;
    bool tty, utf8;
};

/* before: done in an earlier run; they count, but not for the rate. */
void by_progress_begin(struct by_progress *progress, const char *label, const char *unit,
                       uint64_t before, uint64_t total, const struct by_progress_style *style);
void by_progress_step(struct by_progress *progress, uint64_t done);
/* Takes the bar away again. Returns seconds since the beginning. */
double by_progress_end(struct by_progress *progress);

#endif
