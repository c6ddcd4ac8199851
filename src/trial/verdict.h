/*
 * Which of two models samples prefer. All thresholds are rows of one table, each with the
 * measurement that it comes from; verdicts are functions of gains alone.
 */
#ifndef BY_TRIAL_VERDICT_H
#define BY_TRIAL_VERDICT_H

#include "trial/judge.h"

enum by_verdict_rule {
    BY_VERDICT_LEADS,             /* after some of the samples: the other candidate is out */
    BY_VERDICT_EQUALIZED,         /* the equalized model replaces the one without */
    BY_VERDICT_UNEQUALIZED,       /* the model without equalization replaces the equalized one */
    BY_VERDICT_PAYS,              /* the equalized one gains, so that no other way is tried */
    BY_VERDICT_OTHER_WAY,         /* another way of equalization replaces it */
    BY_VERDICT_CLE_RANGE,         /* channels reach further beyond the range of their tensor */
    BY_VERDICT_EQUALIZED_SOLVED,  /* equalization stays before rounding reconstruction */
    BY_VERDICT_EQUALIZED_ALONE,   /* the same, judged by activations alone */
    BY_VERDICT_ROTATED,           /* the rotated model replaces the one without */
    BY_VERDICT_SMOOTHED,          /* the smoothed model replaces the one without */
    BY_VERDICT_SPLIT,             /* channels with outliers are split off */
    BY_VERDICT_WEIGHT_ROWS,       /* rows that decide the scale of a weight are split off */
    BY_VERDICT_BIASES,            /* biases are corrected, or not, other than asked first */
    BY_VERDICT_LOGARITHMS,        /* what computes the input of a logarithm is quantized */
    BY_VERDICT_FRONT_END,         /* spectra up to a logarithm stay float */
    BY_VERDICT_JOINS,             /* joins of different ranges stay float */
    BY_VERDICT_HEADROOM,          /* ranges of activations have no headroom */
    BY_VERDICT_PAIRS,             /* pairs that no layer reads are there */
    BY_VERDICT_WEIGHT_METHOD,     /* weights have another calibration method */
    BY_VERDICT_ACTIVATION_METHOD, /* activations have another */
    BY_VERDICT_METHOD_SEEN,       /* the same on samples that ranges are of: others are asked */
    BY_VERDICT_WIDE,              /* some activations have 16 bits */
    BY_VERDICT_WIDER,             /* more of them have */
    BY_VERDICT_WIDEST,            /* nearly all of them have */
    BY_VERDICT_RANGES,            /* ranges of activations have factors */
    BY_VERDICT_SOLVED,            /* a reconstruction of integers stays */
    BY_VERDICT_UNSOLVED,          /* nearest integers with corrected biases replace it */
    BY_VERDICT_RULES,
};

enum by_verdict_measure {
    BY_MEASURE_ALL,    /* all samples together */
    BY_MEASURE_EITHER, /* that, or the mean of what each says by itself */
    BY_MEASURE_BOTH,   /* each of the two */
};

struct by_threshold {
    double least;  /* dB: the gain is greater */
    double errors; /* standard errors: it is greater than so many of its own, too */
    enum by_verdict_measure measure;
    const char *from;
};

/* Floats and blocks have thresholds of their own: their errors are small, and mostly those of a
 * sample or two. */
const struct by_threshold *by_threshold(enum by_verdict_rule rule, bool exponents);

/* The gain of one model over another says that it replaces the other. Without a standard error
 * (one sample, or NaN) nothing does whose rule requires one. */
bool by_verdict(const struct by_threshold *threshold, const struct by_gain *all,
                const struct by_gain *usual);
/* The same of what `samples` samples say of both. */
bool by_verdict_of(const struct by_threshold *threshold, const struct by_judgement *one,
                   const struct by_judgement *other, size_t samples);

/* Two candidates are so close that more samples are not worth running; false of NaN. */
bool by_verdict_settled(const struct by_gain *gain);

/* What so many of all samples say is what all of them are going to say, as far as their standard
 * error tells; false of NaN. */
bool by_verdict_foretold(const struct by_threshold *threshold, const struct by_gain *gain,
                         size_t samples, size_t all);

/* A scale of activations is moved, or tried on more samples: `count` of `samples` were asked. */
bool by_verdict_move(const struct by_gain *all, const struct by_gain *usual, size_t count,
                     size_t samples);
/* Whether a move is not even run: the tensor itself, which had `before` dB, would have `own` then,
 * much less than that and less than the model has. */
bool by_verdict_move_costs(double own, double before, double model);

#endif
