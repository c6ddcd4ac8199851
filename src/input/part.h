/*
 * One open file of a source, with what was read from it.
 */
#ifndef BY_PART_H
#define BY_PART_H

#include "input/match.h"

/* Serves `ports` inputs of the model, from number `first` on. */
struct by_part {
    size_t first, ports;
    const struct by_port *wanted; /* them, as the model has them */
    size_t batch;                 /* as by_match_all() takes it */
    struct by_match *matches;     /* of its ports; the array is the owner's */
    struct by_stored *arrays;
    size_t count;
    struct by_mapped mapped;
    bool open;
    struct by_arena arena;
};

/*
 * Opens the file of the reading's path, which fills in bytes and arena, and matches what
 * it holds to the reading's ports. Unless only headers are wanted, payloads are there
 * afterwards in native byte order and C order. The part must be closed, also after a failure.
 */
int by_part_read(struct by_part *part, const struct by_reading *reading, struct baryon_error *err);
void by_part_close(struct by_part *part);

#endif
