/*
 * Samples for a model, one at a time. A sample is what one run of the model takes.
 *
 * A source is
 *  - one file: .npy, .npz, a picture (JPEG, PNG), or .raw (bare little-endian values
 *    of the input's type and shape);
 *  - a folder of such files of one kind, taken in the order of their names' bytes;
 *  - a folder with one subfolder an input, named as the input is (characters other
 *    than letters, digits, '.', '_' and '-' written as '_'): files with the same stem
 *    are one sample, and each subfolder may hold another kind of file;
 *  - a .txt list of paths, one a line, relative to the list's folder; empty lines and
 *    lines that begin with '#' do not count;
 *  - the random generator;
 *  - a function of the caller's.
 * Memory holds one sample, whatever the number of samples; an array of several samples
 * is held whole when it is packed, big-endian or in Fortran order.
 *
 * How a file's arrays become a sample:
 *  - By name. A .npz must have every input by its name; others are left out with a
 *    notice. When both the model and the file have one array, names do not matter.
 *  - Fixed dimensions must agree; `shape` settings count as fixed. Open ones are what the
 *    array has, and may differ from sample to sample.
 *  - A batch dimension of 1 that the array lacks is put in front. Where the batch is
 *    symbolic, an array is one sample as it is.
 *  - A fixed batch of B is filled: an array of other than B rows, an array without the batch
 *    and a picture (one row) are cut and put together in their order, whatever files
 *    the rows are in. Rows after the last full batch are left out with a warning that says how
 *    many; fewer than B in all are refused. An input without the batch must be
 *    the same for all rows of a batch. (B is what dimension 0 of the inputs is; 1 when
 *    one of them has 1, or pictures go to an input of rank 3.)
 *  - Types: the input's own, or one that is converted with a notice: between floats,
 *    between integers and bool. A value that does not fit is refused, and so is
 *    anything else (an integer picture for a float input lacks its preparation).
 *  - NaN and infinities are refused unless allow_nonfinite.
 */
#ifndef BY_INPUT_H
#define BY_INPUT_H

#include "base/hash.h"
#include "base/log.h"
#include "engine/session.h"
#include "input/prep.h"

/*
 * Random values: floats are standard normal (inputs are mostly normalised); uint8 and
 * int8 cover their whole range; other integers are in [int_low, int_high], by default
 * [0, 1] with a notice, since only the user knows how many tokens a model has; bool is
 * either. An integer or bool tensor that comes out all zero gets one value that is not,
 * as far as the range has one. Value k of input i of sample s depends only on seed, i, s, k.
 * An input of `ranges` has values that are spread evenly there; whole numbers reach both ends.
 */
struct by_value_range {
    const char *input;
    double low, high;
};

struct by_input_options {
    struct by_prep prep; /* for images */
    bool random;         /* no path: random data */
    uint64_t seed;
    int64_t int_low, int_high; /* range of random integers, both included */
    bool int_range_set;
    const struct by_value_range *ranges; /* of single inputs */
    size_t range_count;
    size_t count;                     /* random: samples to make; others: at most so many, 0: all */
    const int64_t *shape_sizes;       /* --shape: sizes for symbolic dimensions */
    const char *const *shape_symbols; /* "N" or "input:0" (dimension 0 of that input) */
    size_t shape_count;
    double skip_bad; /* share of unreadable samples to skip; 0: none */
    bool allow_nonfinite;
    uint64_t random_max; /* bytes that a random sample may take; 0: what memory there is */
    const struct by_log *log;
};

struct by_input;

/* Ports are those of the session the samples are for. path NULL when options->random. */
int by_input_open(struct by_input **input, const char *path, const struct by_port *ports,
                  size_t port_count, const struct by_input_options *options,
                  struct baryon_error *err);
void by_input_close(struct by_input *input);

#define BY_COUNT_UNKNOWN SIZE_MAX

/*
 * Samples that the caller makes: each call gives the next one, what it points to has to stay
 * until the next call. Calls come from one thread at a time, not always the same one.
 */
struct by_input_callback {
    /*
     * 0 with the arrays of a sample, by their names or, without names, in the order of the
     * inputs; *arrays stays NULL after the last one. name may stay NULL. Or -1 with err
     * filled, which ends everything and is given back as it is.
     */
    int (*next)(void *context, const struct by_array **arrays, size_t *count, const char **name,
                struct baryon_error *err);
    /* The next call gives the first sample again. NULL: samples come only once. */
    int (*rewind)(void *context, struct baryon_error *err);
    void *context;
    size_t count;     /* or BY_COUNT_UNKNOWN */
    const char *what; /* for reports; NULL: "given by the caller" */
};

/*
 * Rules are those of files, but each call gives one whole sample: a fixed batch as it is.
 * Samples are asked for in order; those left out are made and dropped. --skip-bad speaks of samples
 * that do not fit the model; with an unknown count their share is judged at the end.
 */
int by_input_open_callback(struct by_input **input, const struct by_input_callback *callback,
                           const struct by_port *ports, size_t port_count,
                           const struct by_input_options *options, struct baryon_error *err);

/* From the callback or, where it is NULL, the path; for what the session reads. */
int by_input_open_for(struct by_input **input, const struct by_session *session,
                      const struct by_input_callback *callback, const char *path,
                      const struct by_input_options *options, struct baryon_error *err);

/*
 * Number of samples, exact; those that turn out bad count too. It is BY_COUNT_UNKNOWN where
 * a callback does not know it, until its end was met: by_input_get() then gives no arrays, and
 * the number is known. So `for (i = 0; i < by_input_count(input); i++)` ends in every case.
 */
size_t by_input_count(const struct by_input *input);
/* Where the number is not known, gets every sample once; a callback has to rewind. */
int by_input_find_count(struct by_input *input, struct baryon_error *err);
/*
 * One array a port, in the ports' order, valid until the next call. name: the file's
 * name without folder and suffix, with "-K" after it where a file has several samples or rows
 * (K is the first row's number in it, from 0), "random-K", or "sample-K" from a callback
 * that gives none; not unique when a list names files of several folders.
 * A bad sample that skip_bad lets pass gives 0 with *arrays NULL and a warning in the log.
 */
int by_input_get(struct by_input *input, size_t index, const struct by_array **arrays,
                 const char **name, struct baryon_error *err);
size_t by_input_skipped(const struct by_input *input);
/* What is done to the data, for reports: the preparation's formula, or where it is from. */
void by_input_describe(const struct by_input *input, char *buf, size_t size);

/*
 * What tells a source from others, without reading samples: the names of its files without
 * their folders, their sizes, how many samples there are and how they are prepared.
 */
int by_input_identify(const struct by_input *input, struct by_hasher *hasher,
                      struct baryon_error *err);

/* A sample in memory of its own, for whoever holds several. */
struct by_sample {
    struct by_arena arena;
    struct by_array *arrays; /* one a port; NULL when it was skipped */
    char name[300];
    char reason[512]; /* why it was skipped, without the file's name; else "" */
};

void by_sample_init(struct by_sample *sample);
void by_sample_release(struct by_sample *sample);
/* by_input_get(), valid until the sample is released or filled again. */
int by_input_get_into(struct by_input *input, size_t index, struct by_sample *sample,
                      struct baryon_error *err);
/* Where notices go from now on; gives where they went before. */
const struct by_log *by_input_set_log(struct by_input *input, const struct by_log *log);

/* An array as it lies in a file: not yet in the port's type, order or shape. */
struct by_stored {
    const char *name; /* NULL when the format has no names */
    int64_t elem;
    bool swap, fortran;
    size_t rank;
    int64_t dims[16];
    const uint8_t *bytes; /* NULL when only the header was asked for; may be unaligned */
    size_t size;
    void *owned; /* memory after bytes that goes back with by_free(), or NULL */
};

/* Notices that are given once a source. */
enum by_told {
    BY_TOLD_SWAPPED = 1,
    BY_TOLD_FORTRAN = 2,
    BY_TOLD_EXTRA = 4,
    BY_TOLD_RENAMED = 8,
    BY_TOLD_ORIENTED = 16,
    BY_TOLD_PROFILE = 32,
    BY_TOLD_ALPHA = 64,
    BY_TOLD_DEPTH = 128,
    BY_TOLD_CMYK = 256,
    BY_TOLD_ANIMATED = 512,
};

/* What a reader works on. Ports have fixed dimensions wherever `shape` gave one. */
struct by_reading {
    const uint8_t *bytes;
    size_t size;
    const struct by_port *ports;
    size_t port_count;
    const struct by_input_options *options;
    bool header_only;       /* dims and types suffice: no payload is wanted */
    const char *path;       /* for notices */
    unsigned *told;         /* bits of enum by_told: notices that were given already */
    struct by_arena *arena; /* for everything that is returned */
};

/* A reader: one file, one row in readers.c. */
struct by_reader {
    const char *name;     /* "npy" */
    const char *suffixes; /* ".npy", several separated by blanks */
    const char *help;
    bool untrusted_ok; /* hardened against hostile files and fuzzed */
    bool single;       /* always one sample a file, for one input */
    /* True when the first bytes look like this format. NULL: known by suffix only. */
    bool (*sniff)(const uint8_t *bytes, size_t size);
    /* Settings that cannot work are refused before the first file. NULL: any will do. */
    int (*check)(const struct by_port *ports, size_t port_count,
                 const struct by_input_options *options, struct baryon_error *err);
    /* What *arrays owns goes back to by_free() also after a failure; *count says how many. */
    int (*read)(const struct by_reading *reading, struct by_stored **arrays, size_t *count,
                struct baryon_error *err);
};

extern const struct by_reader by_read_npy, by_read_npz, by_read_image, by_read_raw;

const struct by_reader *const *by_readers(size_t *count);
/* A notice in the log, unless it was given before. */
void by_tell_once(const struct by_reading *reading, enum by_told what, const char *text);
/* The reader for a file's name, NULL when there is none. */
const struct by_reader *by_reader_by_name(const char *path);
/* The reader for content, else for the name. NULL when neither is known. */
const struct by_reader *by_reader_for(const char *path, const uint8_t *bytes, size_t size);

#endif
