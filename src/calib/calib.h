/*
 * Calibration: from a sketch to the range of a quantizer. Each method is one file with a
 * pure function and one row in methods.c.
 */
#ifndef BY_CALIB_H
#define BY_CALIB_H

#include "base/choice.h"
#include "stats/sketch.h"

/* What the range is for. */
struct by_calib_target {
    int64_t qmin, qmax; /* levels of an integer type, as quantization will use them */
    bool symmetric;     /* one zero point in the middle (0 of signed types) */
    bool power_of_two;  /* scales are powers of two */
    bool is_float;      /* a float type: value_max counts, not qmin and qmax */
    double value_max;   /* greatest finite value of a float type (448 for E4M3) */
};

enum by_calib_metric { BY_CALIB_MAE, BY_CALIB_MSE };

/* by_calib_defaults() fills it; what a method does not read is ignored by it. */
struct by_calib_options {
    bool moving_average;       /* minmax, nonoverflow: means over samples of their min and max */
    double percentile;         /* 99.999 */
    bool percentile_symmetric; /* of magnitudes; false: both tails by themselves */
    bool percentile_guard;     /* nothing is cut where that costs more than finer steps gain */
    double headroom; /* activations of more than 8 bits: what their range is widened by, 1 */
    const double *candidates; /* layerwise percentile; NULL: its three */
    size_t candidate_count;
    enum by_calib_metric metric; /* layerwise percentile */
    size_t bins;                 /* entropy: 128 */
    size_t levels;               /* entropy: quantized bins, 128 */
};

struct by_range {
    double low, high;   /* low <= 0 <= high */
    bool constant_zero; /* there was nothing but zeros, or nothing at all */
    double error; /* what the method minimised, mean per value; NAN when it minimises nothing */
};

struct by_calibrator {
    const char *name;  /* "percentile" */
    const char *alias; /* the peer's name, "Percentile" */
    const char *help;  /* one sentence, no full stop */
    int (*range)(const struct by_sketch *sketch, const struct by_calib_target *target,
                 const struct by_calib_options *options, struct by_range *range,
                 struct baryon_error *err);
    bool (*suits)(const struct by_calib_target *target); /* NULL: any */
    bool votes; /* asks for votes of single samples, for symmetric targets: calib/votes.h */
};

const struct by_calibrator *const *by_calibrators(size_t *count);
const struct by_calibrator *by_calibrator_find(const char *name); /* name or alias; NULL */
void by_calib_defaults(const struct by_calibrator *method, struct by_calib_options *options);

/* Scale and zero point of a range, the rules of the peer's section on them (scale.c). */
struct by_scale {
    double scale;
    int64_t zero_point;
    int position; /* power of two: scale = 2^-position */
};
int by_scale_of_range(const struct by_range *range, const struct by_calib_target *target,
                      struct by_scale *scale, struct baryon_error *err);
/* The same range after the scale: what the levels reach. */
void by_range_of_scale(const struct by_scale *scale, const struct by_calib_target *target,
                       struct by_range *range);

/* Where 0 falls between two levels (a quarter of a step from both), all levels are off by that:
 * pixels that were brought to -1 to 1 would lie between two levels, each of them. The range is
 * widened by less than a step, until 0 is a level and both ends are reached. False: nothing to do,
 * as with more levels than 256. */
bool by_range_to_whole_zero(struct by_range *range, const struct by_calib_target *target);

/* A number format that a tensor could get. */
struct by_calib_type {
    const char *name;
    struct by_calib_target target;
    double beyond; /* in scales: so far behind the last level values still round to it */
};

const struct by_calib_type *by_calib_types(size_t *count);
extern const struct by_choice by_calib_type_names[]; /* values are places among them */
/* By any name that the element type has; NULL. */
const struct by_calib_type *by_calib_type_find(const char *name);

/* What a method chooses for a tensor. */
struct by_calib_choice {
    const struct by_calibrator *method;
    struct by_range range;   /* as the method says */
    struct by_range reached; /* by the levels */
    struct by_scale scale;
    double clipped; /* share of the finite values that are beyond the last levels */
};

/* The method must suit the type; options NULL: its defaults. */
int by_calib_choose(const struct by_sketch *sketch, const struct by_calib_type *type,
                    const struct by_calibrator *method, const struct by_calib_options *options,
                    struct by_calib_choice *choice, struct baryon_error *err);
bool by_calib_suits(const struct by_calibrator *method, const struct by_calib_type *type);
/* True when the method needs votes that nobody cast: it would fail. */
bool by_calib_lacks_votes(const struct by_sketch *sketch, const struct by_calib_target *target,
                          const struct by_calibrator *method);

#endif
