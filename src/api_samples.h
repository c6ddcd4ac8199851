/*
 * Samples of a program's own, in the form of the readers.
 */
#ifndef BY_API_SAMPLES_H
#define BY_API_SAMPLES_H

#include "input/input.h"

struct by_api_samples {
    struct baryon_samples theirs;
    struct by_array *arrays; /* of the sample in hand */
    size_t room;
};

/* callback points to samples, which has to stay until the input is closed. */
int by_api_samples_open(struct by_api_samples *samples, const struct baryon_samples *theirs,
                        struct by_input_callback *callback, struct baryon_error *err);
void by_api_samples_close(struct by_api_samples *samples);

#endif
