/*
 * What the sources of samples share; input.c is what the rest sees of them.
 */
#ifndef BY_SOURCE_H
#define BY_SOURCE_H

#include "base/hash.h"
#include "input/match.h"

struct by_text;

enum by_filled {
    BY_FILLED = 0,
    BY_FILLED_END = 1,     /* there are no more; input->total is exact now */
    BY_FILLED_BAD = -1,    /* the sample is bad; --skip-bad decides */
    BY_FILLED_BROKEN = -2, /* the source itself failed; nothing is skipped */
};

/* A kind of source: one file, one object. */
struct by_source {
    /* Fills sample->arrays, one a port, and sample->name; values go to sample->arena. */
    enum by_filled (*fill)(struct by_input *input, size_t index, struct by_sample *sample,
                           struct baryon_error *err);
    void (*describe)(const struct by_input *input, struct by_text *text);
    /* What tells the samples from others, as far as it is known before they are read. */
    int (*identify)(const struct by_input *input, struct by_hasher *hasher,
                    struct baryon_error *err);
    void (*close)(struct by_input *input); /* NULL: nothing to do */
};

struct by_input {
    struct by_arena arena;
    struct by_input_options options;
    struct by_port *ports; /* sizes of --shape put in */
    size_t port_count;
    const struct by_source *source;
    void *state;  /* the source's */
    size_t total; /* BY_COUNT_UNKNOWN until it is known */
    size_t skipped;
    uint8_t *bad; /* samples that were skipped, a bit each */
    size_t bad_size;
    struct by_sample sample; /* of by_input_get() */
    unsigned told;
    bool *told_convert; /* a notice was given for the port */
};

/* They set input->source, input->state and input->total. */
int by_files_open(struct by_input *input, const char *path, struct baryon_error *err);
int by_callback_open(struct by_input *input, const struct by_input_callback *callback,
                     struct baryon_error *err);

/* A notice, once a port, when its values are converted from another type. */
void by_tell_conversion(struct by_input *input, size_t port, int64_t from);

#endif
