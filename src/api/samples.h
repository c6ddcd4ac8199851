/*
 * Samples of a program's own, in the form of the readers. Those that come only once, or whose
 * number is not known, are kept as they come, so that what counts them or reads them again has
 * them without asking the program.
 */
#ifndef BY_API_SAMPLES_H
#define BY_API_SAMPLES_H

#include "engine/parked.h"
#include "input/input.h"

/* A sample that is kept. */
struct by_api_sample {
    struct by_parked *arrays;
    size_t count;
    char *name; /* NULL: none */
};

struct by_api_samples {
    struct baryon_samples theirs;
    struct by_array *arrays; /* of the sample in hand */
    struct by_unpark_room *rooms;
    size_t room;
    struct by_depot *depot; /* NULL: nothing is kept */
    struct {
        struct by_api_sample *at;
        size_t count, cap;
    } kept;
    struct by_arena arena; /* of what is kept but the values */
    uint64_t bytes;        /* that are kept */
    size_t next;           /* sample that the next call gives */
    bool ended;            /* all that there are, are kept */
};

/* callback points to samples, which has to stay until the input is closed. */
int by_api_samples_open(struct by_api_samples *samples, const struct baryon_samples *theirs,
                        struct by_input_callback *callback, struct baryon_error *err);
void by_api_samples_close(struct by_api_samples *samples);

#endif
