/*
 * How far a model's outputs are from those of a reference, on samples kept aside.
 *
 * SQNR of an output: energy of the reference over energy of the difference, over all samples, in
 * dB. Outputs of float types count; those whose shapes differ count as lost (0 dB).
 */
#ifndef BY_JUDGE_H
#define BY_JUDGE_H

#include "input/input.h"

#define BY_SQNR_MAX 150.0 /* of equal outputs */

struct by_judged_output {
    const char *name; /* lives in the judge */
    double signal, noise;
    double sqnr;
};

struct by_judgement {
    double sqnr; /* mean over the outputs, dB */
    size_t count;
    struct by_judged_output outputs[16]; /* the first ones */
};

struct by_judge_options {
    const char *data;                        /* as by_input_open() takes it */
    const struct by_input_callback *samples; /* instead of a path; NULL: none */
    struct by_input_options input;
    struct by_session_options session;
    size_t first, count; /* the samples; those that are not there are left out */
};

struct by_judge;

/* Runs the reference and keeps inputs and outputs in memory. */
int by_judge_open(struct by_judge **judge, struct baryon_model *reference,
                  const struct by_judge_options *options, struct baryon_error *err);
void by_judge_close(struct by_judge *judge);
size_t by_judge_samples(const struct by_judge *judge);
/* The model must have the reference's inputs and outputs. */
int by_judge_model(struct by_judge *judge, struct baryon_model *model,
                   struct by_judgement *judgement, struct baryon_error *err);

#endif
