/*
 * Calibration: from a sketch to the range of a quantizer. A method is one file with a pure
 * function and a row, struct by_calibrator, that methods.c lists. The row has all that is known of
 * the method: its names, here and in Quark, what it is for, and options of its own. Choices and
 * options of the command line and of configuration files, rules, Quark's options, help and manual
 * pages follow from the rows.
 */
#ifndef BY_CALIB_H
#define BY_CALIB_H

#include "base/option.h"
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

/* by_calib_defaults() fills it. */
struct by_calib_options {
    const void *own; /* the method's struct; NULL when the method has no options */
    double headroom; /* activations of more than 8 bits: what their range is widened by, 1 */
};

struct by_range {
    double low, high;   /* low <= 0 <= high */
    bool constant_zero; /* there was nothing but zeros, or nothing at all */
    double error; /* what the method minimised, mean per value; NAN when it minimises nothing */
};

/* An option of a method. Methods that have the same option have equal rows but for the offset. */
struct by_calib_option {
    struct by_option row;    /* the offset is that in the method's struct; help continues the
                              * sentence "For method NAME: ..." */
    const char *quark;       /* Quark's name of it; NULL: none */
    const char *weight_name; /* the same for weights and biases; NULL: they do not have it */
    const char *weight_help;
};

struct by_calib_option_set {
    const struct by_calib_option *rows;
    size_t count;
    /* The method's struct, and what it is where the method is named without options: by statistics
     * and rules, and by a config with --compat. Otherwise the defaults of the rows apply. */
    const void *defaults;
    size_t size;
};

#define BY_CALIB_OPTION_SET(array, values)                                                         \
    {                                                                                              \
        .rows = (array), .count = sizeof(array) / sizeof *(array), .defaults = &(values),          \
        .size = sizeof(values)                                                                     \
    }

/* What a method may be chosen for in a config. */
enum by_calib_use { BY_FOR_ACTIVATIONS = 1, BY_FOR_WEIGHTS = 2, BY_FOR_BIASES = 4 };
#define BY_FOR_ALL (BY_FOR_ACTIVATIONS | BY_FOR_WEIGHTS | BY_FOR_BIASES)

/* How the range of weights and biases is found: on a sketch of them, as for activations, or by a
 * search of quant/weights_search.h on the values themselves. */
enum by_calib_search {
    BY_SEARCH_SKETCH,
    BY_SEARCH_EXTREMES,
    BY_SEARCH_PERCENTILE,
    BY_SEARCH_MSE,
};

/* A word of Quark's that stands for a method, as the value of one of Quark's options. */
struct by_calib_word {
    const char *option, *word;
};
#define BY_QUARK_METHOD        "calibrate_method"
#define BY_QUARK_WEIGHT_METHOD "WeightCalibrateMethod"
#define BY_QUARK_POW2_MODE     "MinMSEModePof2Scale"

struct by_calibrator {
    const char *name;              /* "percentile" */
    const char *alias;             /* the peer's name, "Percentile" */
    const char *help;              /* one sentence, no full stop */
    struct by_calib_word quark[3]; /* NULL ends them */
    unsigned uses;                 /* enum by_calib_use; 0: only statistics show it */
    enum by_calib_search search;
    const struct by_calib_option_set *options; /* NULL: it has none */
    bool options_last;                         /* help lists them after those of other methods */
    int (*range)(const struct by_sketch *sketch, const struct by_calib_target *target,
                 const struct by_calib_options *options, struct by_range *range,
                 struct baryon_error *err);
    bool (*suits)(const struct by_calib_target *target); /* NULL: any */
    const char *instead; /* what to take for targets that do not suit; may be NULL */
    bool votes;      /* asks for votes of single samples, for symmetric targets: calib/votes.h */
    bool by_outputs; /* samples choose factors of the range by the model's outputs */
};

const struct by_calibrator *const *by_calibrators(size_t *count);
const struct by_calibrator *by_calibrator_find(const char *name); /* name or alias; NULL */
void by_calib_defaults(const struct by_calibrator *method, struct by_calib_options *options);
/* What the target would have to be to suit the method. */
enum by_calib_need { BY_NEEDS_NOTHING, BY_NEEDS_POW2, BY_NEEDS_SYMMETRY, BY_NEEDS_FLOAT };
enum by_calib_need by_calib_needs(const struct by_calibrator *method,
                                  const struct by_calib_target *target);

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
    double beyond; /* in scales: so far past the last level values still round to it */
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
