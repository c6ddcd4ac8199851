/*
 * Samples for a model, one at a time.
 *
 * A source is a file or folder of one reader kind (npy, npz, image, list) or the
 * random generator. by_input_open() picks the reader by suffix and content; rows
 * of readers are in input.c, one file each. Memory holds one sample, whatever the
 * number of samples.
 */
#ifndef BY_INPUT_H
#define BY_INPUT_H

#include "base/log.h"
#include "engine/session.h"
#include "input/prep.h"

struct by_input_options {
    struct by_prep prep;  /* for images */
    bool random;          /* no path: random data */
    uint64_t seed;
    int64_t int_low, int_high; /* range of random integers; default 0..1 both unset: see random.c */
    bool int_range_set;
    size_t count;         /* random: samples to make; others: at most so many, 0: all */
    const int64_t *shape_sizes;      /* --shape: sizes for symbolic dimensions */
    const char *const *shape_symbols; /* "N" or "input:0" */
    size_t shape_count;
    double skip_bad;      /* share of unreadable samples to skip; 0: none */
    const struct by_log *log;
};

struct by_input;

/* Ports are those of the session the samples are for. path NULL when options->random. */
int by_input_open(struct by_input **input, const char *path, const struct by_port *ports,
                  size_t port_count, const struct by_input_options *options,
                  struct baryon_error *err);
void by_input_close(struct by_input *input);
/* Number of samples, exact. */
size_t by_input_count(const struct by_input *input);
/* One array a port, valid until the next call; name: for messages and output files. */
int by_input_get(struct by_input *input, size_t index, const struct by_array **arrays,
                 const char **name, struct baryon_error *err);
size_t by_input_skipped(const struct by_input *input);

/* A reader: one file, one row in input.c. */
struct by_reader {
    const char *name;     /* "npy" */
    const char *suffixes; /* ".npy", several separated by blanks */
    const char *help;
    bool untrusted_ok;    /* hardened against hostile files and fuzzed */
    /* True when the first bytes look like this format. */
    bool (*sniff)(const uint8_t *bytes, size_t size);
    /*
     * Reads one file into the arena: one or more named arrays (name NULL when the
     * format has none). Values need not have the port's type yet.
     */
    int (*read)(struct by_arena *arena, const char *path, const struct by_port *ports,
                size_t port_count, const struct by_input_options *options,
                struct by_array **arrays, size_t *count, struct baryon_error *err);
};

const struct by_reader *const *by_readers(size_t *count);

#endif
