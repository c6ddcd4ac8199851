/*
 * Samples that a report shows, with what both models make of them: the worst, the best, and some
 * between, by the SQNR of their worst output.
 */
#ifndef BY_EVALUATE_SHOWN_H
#define BY_EVALUATE_SHOWN_H

#include "array/array.h"
#include "engine/session.h"

#define BY_SHOWN_MOST 6

/* One sample. What it points to lives as long as the call that gets it. */
struct by_shown {
    const char *name;
    uint64_t index;                /* among all samples */
    const char *rank;              /* "worst", "median", "best"; NULL: between them */
    double sqnr;                   /* dB, of the worst output; NaN: unknown */
    const struct by_array *inputs; /* with the names of the float model's inputs */
    size_t input_count;
    const char *const *names; /* of the outputs */
    const struct by_array *want, *got;
    size_t output_count;
};

/* Who gets them; show NULL: nobody. */
struct by_show {
    int (*show)(void *context, const struct by_shown *shown, struct baryon_error *err);
    void *context;
};

struct by_shown_place {
    size_t place;
    const char *rank;
};

/* Which of so many samples are shown, the worst first; a sample that is NaN is not. */
int by_shown_choose(const double *sqnr, size_t count, struct by_shown_place places[BY_SHOWN_MOST],
                    size_t *chosen, struct baryon_error *err);

/* SQNR of one output of one sample, dB; NaN: not of a float type, or all 0. */
int by_shown_sqnr(const struct by_array *want, const struct by_array *got, double *sqnr,
                  struct baryon_error *err);
/* Of the worst of several outputs. */
int by_shown_worst(const struct by_array *want, const struct by_array *got, size_t count,
                   double *sqnr, struct baryon_error *err);

#endif
