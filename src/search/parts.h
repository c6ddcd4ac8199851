/*
 * Samples of a search, in three parts that share none: the first ones calibrate and solve, those
 * after them choose, and the last ones are for the final report alone.
 */
#ifndef BY_AUTO_PARTS_H
#define BY_AUTO_PARTS_H

#include "base/log.h"

/* BY_PART_SEEN: the first two together. */
enum by_auto_part {
    BY_PART_CALIBRATE,
    BY_PART_CHOOSE,
    BY_PART_LAST,
    BY_AUTO_PARTS,
    BY_PART_SEEN = BY_AUTO_PARTS
};

struct by_auto_range {
    size_t first, count;
};

enum by_auto_effort { BY_EFFORT_QUICK, BY_EFFORT_NORMAL, BY_EFFORT_THOROUGH };

struct by_auto_parts {
    size_t total;
    struct by_auto_range of[BY_AUTO_PARTS + 1];
    bool shared; /* there are too few for three parts: some samples are in several */
};

/* Fails without samples; fewer than three are shared, with a notice. */
int by_auto_split(struct by_auto_parts *parts, size_t total, enum by_auto_effort effort,
                  const struct by_log *log, struct baryon_error *err);
const char *by_auto_part_name(enum by_auto_part part); /* "calibrate" */

#endif
