/*
 * Scales of activations that may change, in a copy of the model whose weights stay floats: inputs,
 * so that one session tries many values. They are tried one after the other, in the order of the
 * graph; what comes before those that are yet to be tried is computed once.
 */
#ifndef BY_ROUNDING_KNOBS_H
#define BY_ROUNDING_KNOBS_H

#include "rounding/rounding_internal.h"

struct by_knob {
    size_t row;                  /* of the plan */
    struct baryon_value *from;   /* initializer in the copy, then its input */
    struct baryon_value *rounds; /* what the first node that has it as its scale reads */
};

/* Zero to begin with. */
struct by_knobs {
    struct by_rounding_run *run;
    struct by_knob *all;
    float *scales; /* by knob: what a run has */
    size_t count, samples;

    struct by_draft copy;
    struct by_judge *judge;
    struct by_judge_reader reader; /* of samples that are solved on */
    struct by_input_callback source;
    struct baryon_value **outputs; /* of the copy, by_judge_values() */
    size_t output_count;
    struct by_parked **given; /* by sample: its inputs, and the scales */
    struct by_stages *stages;
    struct by_stages_rest *rest; /* of the copy, from this section on */
};

/* Which there are, with the plan's scales. */
int by_knobs_open(struct by_knobs *knobs, struct by_rounding_run *run, struct baryon_error *err);
/* Before any is run: `most` of the samples that are solved on, or as many as there are. */
int by_knobs_read(struct by_knobs *knobs, size_t most, struct baryon_error *err);
/* Those before this one have their last scales. In turn, for all of them. */
int by_knobs_reach(struct by_knobs *knobs, size_t place, struct baryon_error *err);
/* How far a sample's outputs are from the float model's. Of several at once, each by another worker
 * of the pool. */
int by_knobs_run(const struct by_knobs *knobs, size_t sample, unsigned worker,
                 struct by_judgement *judgement, struct baryon_error *err);
void by_knobs_close(struct by_knobs *knobs);

#endif
