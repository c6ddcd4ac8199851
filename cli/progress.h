/*
 * How far a command is, on standard error: a bar that is drawn anew on a terminal,
 * else one line every 10 %, from the first second on. Nothing with --quiet.
 */
#ifndef BY_PROGRESS_H
#define BY_PROGRESS_H

#include "baryon.h"

struct by_progress {
    const char *label; /* "run" */
    const char *unit;  /* "samples" */
    uint64_t total, done;
    double start, drawn;
    unsigned tenths; /* lines written so far */
    bool quiet, tty, color, utf8;
};

void by_progress_begin(struct by_progress *progress, const char *label, const char *unit,
                       uint64_t total, bool quiet, bool color);
void by_progress_step(struct by_progress *progress, uint64_t done);
/* Takes the bar away again. Returns seconds since the beginning. */
double by_progress_end(struct by_progress *progress);

#endif
