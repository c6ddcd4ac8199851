/* Baryon: statistics of a model on samples. A part of <baryon.h>. */
#ifndef BARYON_CALIBRATE_H
#define BARYON_CALIBRATE_H

#include "run.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Settings
 *
 * What the command line tool takes as --NAME VALUE, a program gives as pairs: the same
 * names ('-' or '_'), values, ranges, defaults and messages; docs/commands.md lists them.
 * Of a setting that stands twice the last one counts; lists collect. "config" names a
 * YAML or JSON file, whose values are taken where no pair gives one.
 */
struct baryon_setting {
    const char *name;  /* "per-channel" */
    const char *value; /* "32"; NULL: a flag that is set */
};

/*
 * Calibrate
 *
 * Runs a model on samples, once, and gives statistics of its tensors: all that any
 * method needs to choose a range. Settings are those of `baryon calibrate`; out, the
 * file that the statistics go to, need not be given. With it, all is as on the command
 * line: OUT.part keeps what was done so far and is taken up by the next call; a file that
 * is up to date is loaded, and nothing runs; another one is refused unless "force" is set.
 * Without it everything is kept in memory, and settings that speak of files or of memory
 * for moments (max-memory, checkpoint-seconds, restart, force) are refused.
 *
 * For example:
 *
 *     const struct baryon_setting settings[] = {{"data", "photos"}, {"prep", "imagenet"}};
 *     struct baryon_range range = {.size = sizeof range};
 *     if (baryon_calibrate_file(&statistics, "model.onnx", settings, 2, NULL, &err) ||
 *         baryon_statistics_range(statistics, "x", "percentile", "int8", NULL, &range, &err))
 *         return -1;
 *     printf("scale %g, zero point %lld\n", range.scale, (long long)range.zero_point);
 */
struct baryon_statistics;

/*
 * Samples that the caller makes, each what the model takes at once. Calls come from one
 * thread at a time, not always the same one, and one sample ahead of the model.
 */
struct baryon_samples {
    size_t size;
    /*
     * Gives the next sample: 0 and its arrays, by the names of the inputs or, with names
     * NULL, in their order; *arrays, which is NULL before, stays so after the last one.
     * name is the sample's, for messages, and may stay NULL. Or -1, which ends everything
     * with the error that was filled in. What the pointers lead to has to stay until the next
     * call.
     */
    int (*next)(void *context, const struct baryon_array **arrays, size_t *count, const char **name,
                struct baryon_error *err);
    /* The next call gives the first sample again: for counting, and for further passes over
     * the samples. NULL: they come only once. */
    int (*rewind)(void *context, struct baryon_error *err);
    void *context;
    uint64_t count;   /* of samples; 0: they are counted first, which reads all of them */
    const char *name; /* of the source; statistics of other sources are told by it. May be NULL */
    /*
     * Samples that come only once, or are not counted, are kept for what needs them again: 64 MiB
     * in memory and the rest in a temporary file, so many bytes in all; 0: 4 GiB. Beyond that
     * they are made again where there is a rewind, and are an error where there is none.
     */
    uint64_t keep;
};

struct baryon_progress {
    const char *stage;    /* "calibrate", "calibrate, pass 2 of 3" */
    uint64_t done, total; /* samples of this stage */
    const char *sample;   /* the last one's name, NULL at the beginning of a stage */
    double seconds;       /* since the stage began */
};

/* Returns false to stop: after the samples in hand what was done is kept, and the call ends with
 * BARYON_ERR_CANCELLED. */
typedef bool baryon_progress_fn(void *context, const struct baryon_progress *progress);

struct baryon_calibrate_options {
    size_t size;
    const struct baryon_samples *samples; /* instead of the settings data and random */
    baryon_progress_fn *progress;         /* when a stage begins, and after every sample */
    baryon_log_fn *log;                   /* for notices and warnings; default: nobody */
    void *context;                        /* of both */
};

/* Types and shapes of the model's values are found as by baryon_model_infer(). statistics may be
 * NULL when "out" is given. */
BARYON_API int baryon_calibrate(struct baryon_statistics **statistics, struct baryon_model *model,
                                const struct baryon_setting *settings, size_t count,
                                const struct baryon_calibrate_options *options,
                                struct baryon_error *err);
/* Loads the file for this alone. */
BARYON_API int baryon_calibrate_file(struct baryon_statistics **statistics, const char *path,
                                     const struct baryon_setting *settings, size_t count,
                                     const struct baryon_calibrate_options *options,
                                     struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
