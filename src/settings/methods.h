/*
 * What the rows of calibration methods (calib/calib.h) make of the options of quantization: the
 * choices of --activation-method, --weight-method and --bias-method, and the options that methods
 * have of their own. Places and numbers of methods are known to nobody else.
 */
#ifndef BY_SETTINGS_METHODS_H
#define BY_SETTINGS_METHODS_H

#include "calib/calib.h"
#include "config/config.h"

#define BY_METHODS_MAX        48
#define BY_METHOD_OPTIONS_MAX 32

/* The value of an option of methods, by the type that its row has. */
union by_method_value {
    bool flag;
    int64_t whole;
    double number;
    int choice;
    struct by_setting_numbers numbers;
};

/* One value for each option of by_method_options(). */
struct by_method_values {
    union by_method_value at[BY_METHOD_OPTIONS_MAX];
};

/* The choice of --bias-method, and of --bias-scale, that stands for what weights have. */
#define BY_AS_WEIGHT 100

/* Methods for a use. Values of choices are for by_method_of(), but for BY_AS_WEIGHT. */
const struct by_choice *by_method_choices(enum by_calib_use use);
const struct by_calibrator *by_method_of(int choice);

/* Options of the methods for a use, each once; offsets are those in struct by_method_values. The
 * use is activations or weights, whose options and values biases share. */
const struct by_option *by_method_options(enum by_calib_use use, size_t *count);
/* The methods that have the option: "percentile or minmse-pow2-percentile"; NULL when it is none of
 * by_method_options(). */
const char *by_method_option_takers(enum by_calib_use use, const char *name);
/* What the option needs: "--activation-method percentile or minmse-pow2-percentile"; NULL when it
 * is none of by_method_options(). */
const char *by_method_option_needs(enum by_calib_use use, const char *name);
bool by_method_has_option(enum by_calib_use use, const struct by_calibrator *method,
                          const char *name);

/* The method's struct, filled with its values. NULL in *own: the method has no options. */
int by_method_own(enum by_calib_use use, const struct by_calibrator *method,
                  const struct by_method_values *values, struct by_arena *arena, const void **own,
                  struct baryon_error *err);
/* Values of the method that nothing has set become the method's own defaults in place of the
 * options'. */
void by_method_settle(enum by_calib_use use, const struct by_calibrator *method,
                      const struct by_config *config, struct by_method_values *values);

/* An option of any method by its name, where _ may stand for -, as a key of a rule; NULL. */
const struct by_calib_option *by_method_option_find(const char *key);
/* The row of this method, whose offset is that in the method's struct; NULL. */
const struct by_calib_option *by_method_option_of(const struct by_calibrator *method,
                                                  const char *key);

#endif
