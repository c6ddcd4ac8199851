/*
 * What calibrations of the same samples gathered, for those that would gather the same again: a
 * search quantizes one model many times.
 */
#ifndef BY_CALIBRATE_STORE_H
#define BY_CALIBRATE_STORE_H

#include "calibrate/calibrate.h"

struct by_stats_store;

/* Calls from several threads may overlap, but for opening and closing. room: bytes that it may
 * take. */
int by_stats_store_open(struct by_stats_store **store, uint64_t room, struct baryon_error *err);
/* Statistics that came from it have to be closed before. */
void by_stats_store_close(struct by_stats_store *store);

/* What a calibration of the same samples gives depends on this alone. */
struct by_store_key {
    struct by_stats_key stats; /* but the data */
    uint64_t first;            /* of options */
    uint64_t aside;            /* of options->part; 0: none is wanted */
};
/* Copies; *stats NULL: there is nothing. part: NULL: not wanted. */
int by_stats_store_take(struct by_stats_store *store, const struct by_store_key *key,
                        struct by_stats **stats, struct by_stats **part,
                        struct by_calibrate_report *report, struct baryon_error *err);
/* Whatever has no room is not kept. part: NULL: there is none. */
int by_stats_store_keep(struct by_stats_store *store, const struct by_store_key *key,
                        const struct by_stats *stats, const struct by_stats *part,
                        const struct by_calibrate_report *report, struct baryon_error *err);

#endif
