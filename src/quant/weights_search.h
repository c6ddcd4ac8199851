/* Scale and zero point of one run of values. */
#ifndef BY_WEIGHTS_SEARCH_H
#define BY_WEIGHTS_SEARCH_H

#include "dtype/weights_path.h"
#include "quant/weights.h"

#define BY_WEIGHT_PIECE 16384 /* values whose errors are summed by one thread */

struct by_weight_search {
    const struct by_weight_path *path;
    const struct by_tensor_spec *spec;
    struct by_calib_target target;
    const struct by_calibrator *method;
    bool wide; /* more than 16 bits: in double, without vectors */
    struct by_pool *pool;
};

struct by_weight_unit {
    const float *values;
    size_t count;
    float min, max; /* set by by_weight_extremes() */
};

struct by_weight_choice {
    float scale;
    int64_t zero;
    double error; /* sum of squares */
};

/* Refuses methods that are none of weights. pool may be NULL. */
int by_weight_search_open(struct by_weight_search *search, const struct by_tensor_spec *spec,
                          struct by_pool *pool, struct baryon_error *err);
/* finite: whether all values are. */
int by_weight_extremes(const struct by_weight_search *search, struct by_weight_unit *unit,
                       bool *finite, struct baryon_error *err);
/* All values are finite and unit->min and max are known. */
int by_weight_choose(const struct by_weight_search *search, const struct by_weight_unit *unit,
                     struct by_weight_choice *best, struct baryon_error *err);

/* Scale and zero point of a range: facts 4.3, then what spec->scale says. */
void by_weight_scale(const struct by_weight_search *search, double low, double high,
                     struct by_weight_choice *choice);
/* Fills in the errors of choices. */
int by_weight_errors(const struct by_weight_search *search, const struct by_weight_unit *unit,
                     struct by_weight_choice *choices, size_t count, struct baryon_error *err);
/* The scale that spec->scale allows nearest to this one, greater than 0. */
float by_scale_round(enum by_scale_type type, double scale);

/* Values below which a part of them lies, with straight lines between neighbours, as numpy's
 * percentile; parts in [0, 1]. */
int by_weight_quantiles(const struct by_weight_unit *unit, bool magnitudes, const double *parts,
                        size_t count, double *out, struct baryon_error *err);
/* Of the greatest error: searches around. See weights_mse.c. */
int by_weight_minmse(const struct by_weight_search *search, const struct by_weight_unit *unit,
                     struct by_weight_choice *best, struct baryon_error *err);
/* One value in double, for types of more than 16 bits. */
double by_weight_level(float value, float scale, int64_t zero, int64_t qmin, int64_t qmax);

#endif
