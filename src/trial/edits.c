/* Edits that candidates are made of: the rows, and walks over those of a candidate. */
#include "adjust/cle.h"
#include "adjust/rotate.h"
#include "adjust/smooth.h"
#include "adjust/split.h"
#include "adjust/weight_rows.h"
#include "quant/own_sqnr.h"
#include "trial/biases.h"
#include "trial/candidate.h"

#include <stdio.h>
#include <string.h>

/* --- Equalization --- */

#define MODES 8 /* room for them */

int by_cle_value(enum by_cle_mode mode, int range)
{
    return (int)mode + MODES * range;
}

enum by_cle_mode by_cle_mode_of(int value)
{
    return (enum by_cle_mode)(value % MODES);
}

int by_cle_range_of(int value)
{
    return value / MODES;
}

double by_cle_reach(const struct by_recipe *recipe, int range)
{
    static const double ranges[BY_CLE_RANGES] = {1, 2, 4, 0};
    return range ? ranges[range] : recipe->cle_range;
}

static int equalize(struct by_quant_plan *plan, const struct by_edit_sources *sources, int value,
                    struct baryon_error *err)
{
    bool replaced;
    struct by_cle_report report;
    const struct by_cle_options options = {
        .mode = by_cle_mode_of(value),
        .range = by_cle_reach(plan->recipe, by_cle_range_of(value)),
        .threshold = plan->recipe->cle_threshold,
        .steps = plan->recipe->cle_steps,
    };
    return by_cle_run(plan, sources->seen, &options, &report, &replaced, err);
}

const char *by_cle_mode_name(enum by_cle_mode mode)
{
    static const char *const names[] = {
        [BY_CLE_OFF] = "off",         [BY_CLE_AUTO] = "auto", [BY_CLE_EXACT] = "exact",
        [BY_CLE_REPLACE] = "replace", [BY_CLE_KEEP] = "keep",
    };
    return names[mode];
}

static const char *describe_equalization(int value, char *text, size_t size)
{
    static const char *const ranges[BY_CLE_RANGES] = {
        "", " to twice the range", " to four times the range", " without bounds"};
    (void)snprintf(text, size, "equalization %s%s", by_cle_mode_name(by_cle_mode_of(value)),
                   ranges[by_cle_range_of(value)]);
    return text;
}

/* --- Rotation --- */

int by_rotate_value(enum by_rotate_mode mode, bool multiplies)
{
    return 2 * (int)mode + multiplies;
}

static struct by_rotate_options rotate_options(int value)
{
    const enum by_rotate_mode mode = (enum by_rotate_mode)(value / 2);
    return (struct by_rotate_options){.heads = mode != BY_ROTATE_STREAM,
                                      .streams = mode != BY_ROTATE_HEADS,
                                      .multiplies = value % 2};
}

static int rotate(struct by_quant_plan *plan, const struct by_edit_sources *sources, int value,
                  struct baryon_error *err)
{
    struct by_rotate_report report;
    const struct by_rotate_options options = rotate_options(value);
    (void)sources;
    return by_rotate_run(plan, &options, &report, err);
}

static const char *describe_rotation(int value, char *text, size_t size)
{
    const struct by_rotate_options options = rotate_options(value);
    (void)snprintf(text, size, "rotation %s",
                   !options.streams ? "of heads"
                   : options.heads  ? "on"
                                    : "of streams");
    return text;
}

/* --- Smoothing --- */

#define ALPHA_UNIT 10000

int by_smooth_value(double alpha, bool multiplies)
{
    const int share = alpha < 0 ? 0 : 1 + (int)(alpha * ALPHA_UNIT + 0.5);
    return 1 + 2 * share + multiplies;
}

static struct by_smooth_options smooth_options(int value)
{
    const int share = (value - 1) / 2;
    return (struct by_smooth_options){
        .alpha = share ? (double)(share - 1) / ALPHA_UNIT : BY_SMOOTH_AUTO,
        .multiplies = (value - 1) % 2,
    };
}

static int smooth(struct by_quant_plan *plan, const struct by_edit_sources *sources, int value,
                  struct baryon_error *err)
{
    struct by_smooth_report report;
    const struct by_smooth_options options = smooth_options(value);
    return by_smooth_run(plan, sources->seen, &options, &report, err);
}

static const char *describe_smoothing(int value, char *text, size_t size)
{
    const struct by_smooth_options options = smooth_options(value);
    char alpha[32] = "auto";
    if (options.alpha >= 0)
        (void)snprintf(alpha, sizeof alpha, "%g", options.alpha);
    (void)snprintf(text, size, "smoothing %s%s", alpha,
                   options.multiplies ? " with multiplications" : "");
    return text;
}

/* --- Splitting --- */

static int split_outliers(struct by_quant_plan *plan, const struct by_edit_sources *sources,
                          int value, struct baryon_error *err)
{
    struct by_split_report report;
    (void)value;
    return by_split_run(plan, sources->seen, &report, err);
}

static const char *describe_splitting(int value, char *text, size_t size)
{
    (void)value;
    (void)snprintf(text, size, "outliers split off");
    return text;
}

/* --- Rows of weights --- */

static int split_weight_rows(struct by_quant_plan *plan, const struct by_edit_sources *sources,
                             int value, struct baryon_error *err)
{
    struct by_weight_rows_report report;
    (void)sources;
    (void)value;
    return by_weight_rows_run(plan, &report, err);
}

static const char *describe_weight_rows(int value, char *text, size_t size)
{
    (void)value;
    (void)snprintf(text, size, "rows of weights split off");
    return text;
}

/* --- Biases --- */

static int correct_biases(struct by_quant_plan *plan, const struct by_edit_sources *sources,
                          int value, struct baryon_error *err)
{
    (void)value;
    return by_biases_correct(plan, sources->own, sources->pool, NULL, err);
}

static const char *describe_biases(int value, char *text, size_t size)
{
    (void)value;
    (void)snprintf(text, size, "bias correction on");
    return text;
}

/* --- Headroom of activations --- */

static int set_headroom(struct by_recipe *recipe, int value, struct baryon_error *err)
{
    (void)err;
    recipe->activation.calib.headroom = (double)value / BY_HEADROOM_UNIT;
    return 0;
}

static const char *describe_headroom(int value, char *text, size_t size)
{
    (void)snprintf(text, size, "activation headroom %g", (double)value / BY_HEADROOM_UNIT);
    return text;
}

/* --- Inputs of logarithms --- */

static int set_logarithms(struct by_recipe *recipe, int value, struct baryon_error *err)
{
    (void)err;
    recipe->logarithms = (enum by_logarithms)value;
    return 0;
}

static const char *describe_logarithms(int value, char *text, size_t size)
{
    static const char *const values[] = {
        [BY_LOGARITHMS_FLOAT] = "inputs of logarithms float",
        [BY_LOGARITHMS_QUANTIZED] = "inputs of logarithms quantized",
        [BY_LOGARITHMS_FRONT_END] = "layers that compute a spectrum float",
    };
    (void)snprintf(text, size, "%s", values[value]);
    return text;
}

/* --- Joins --- */

static int set_joins(struct by_recipe *recipe, int value, struct baryon_error *err)
{
    (void)err;
    recipe->float_joins.on = value != 0;
    return 0;
}

static const char *describe_joins(int value, char *text, size_t size)
{
    (void)snprintf(text, size, "joins of different ranges %s", value ? "float" : "quantized");
    return text;
}

/* --- Method of weights --- */

static int set_weight_method(struct by_recipe *recipe, int value, struct baryon_error *err)
{
    (void)value;
    (void)err;
    recipe->weight.method = recipe->other_weight_method;
    return 0;
}

static const char *describe_weight_method(int value, char *text, size_t size)
{
    (void)value;
    (void)snprintf(text, size, "weight method minmse");
    return text;
}

/* --- Method of activations --- */

const char *by_other_method_name(enum by_other_method method)
{
    return method == BY_OTHER_MINMSE ? "minmse" : "minmax";
}

static int set_activation_method(struct by_recipe *recipe, int value, struct baryon_error *err)
{
    struct by_tensor_spec *spec = &recipe->activation;
    const double headroom = spec->calib.headroom;
    (void)err;
    spec->method = by_calibrator_find(by_other_method_name((enum by_other_method)value));
    by_calib_defaults(spec->method, &spec->calib);
    spec->calib.headroom = headroom;
    return 0;
}

static const char *describe_activation_method(int value, char *text, size_t size)
{
    (void)snprintf(text, size, "activation method %s",
                   by_other_method_name((enum by_other_method)value));
    return text;
}

/* --- Wide tensors --- */

static int set_wide(struct by_recipe *recipe, int value, struct baryon_error *err)
{
    (void)err;
    recipe->wide_below = value;
    return 0;
}

static const char *describe_wide(int value, char *text, size_t size)
{
    if (value >= BY_WIDE_ALL)
        (void)snprintf(text, size, "16 bits");
    else
        (void)snprintf(text, size, "16 bits below %d dB", value);
    return text;
}

/* --- Pairs that no layer reads --- */

static int keep_pairs(struct by_recipe *recipe, int value, struct baryon_error *err)
{
    (void)err;
    recipe->spares_pairs = !value;
    return 0;
}

static const char *describe_pairs(int value, char *text, size_t size)
{
    (void)value;
    (void)snprintf(text, size, "pairs that no layer reads kept");
    return text;
}

/* --- Factors of ranges --- */

static int apply_factors(struct by_recipe *recipe, int value, struct baryon_error *err)
{
    (void)value;
    (void)err;
    recipe->factors.on = true;
    return 0;
}

static const char *describe_factors(int value, char *text, size_t size)
{
    (void)snprintf(text, size, "ranges of %d activation%s by the outputs", value,
                   value == 1 ? "" : "s");
    return text;
}

/* --- The rows --- */

static const struct by_edit edits[BY_EDIT_KINDS] = {
    [BY_EDIT_ROTATION] = {.name = "rotation", .model = rotate, .describe = describe_rotation},
    [BY_EDIT_SMOOTHING] = {.name = "smoothing", .model = smooth, .describe = describe_smoothing},
    [BY_EDIT_SPLITTING] = {.name = "splitting",
                           .model = split_outliers,
                           .describe = describe_splitting},
    [BY_EDIT_WEIGHT_ROWS] = {.name = "weight rows",
                             .model = split_weight_rows,
                             .describe = describe_weight_rows},
    [BY_EDIT_EQUALIZATION] = {.name = "equalization",
                              .always = true,
                              .model = equalize,
                              .describe = describe_equalization},
    [BY_EDIT_BIASES] = {.name = "biases", .plan = correct_biases, .describe = describe_biases},
    [BY_EDIT_HEADROOM] = {.name = "headroom",
                          .config = set_headroom,
                          .describe = describe_headroom},
    [BY_EDIT_LOGARITHMS] = {.name = "logarithms",
                            .config = set_logarithms,
                            .describe = describe_logarithms},
    [BY_EDIT_JOINS] = {.name = "joins", .config = set_joins, .describe = describe_joins},
    [BY_EDIT_WEIGHT_METHOD] = {.name = "weight method",
                               .config = set_weight_method,
                               .describe = describe_weight_method},
    [BY_EDIT_ACTIVATION_METHOD] = {.name = "activation method",
                                   .config = set_activation_method,
                                   .describe = describe_activation_method},
    [BY_EDIT_WIDE] = {.name = "wide", .config = set_wide, .describe = describe_wide},
    [BY_EDIT_RANGES] = {.name = "ranges", .config = apply_factors, .describe = describe_factors},
    [BY_EDIT_PAIRS] = {.name = "pairs", .config = keep_pairs, .describe = describe_pairs},
};

const struct by_edit *by_edit(enum by_edit_kind kind)
{
    return &edits[kind];
}

/* --- Those of a candidate --- */

bool by_candidate_same(const struct by_candidate *one, const struct by_candidate *other)
{
    return !memcmp(one->edits, other->edits, sizeof one->edits);
}

bool by_candidate_same_model(const struct by_candidate *one, const struct by_candidate *other)
{
    for (size_t i = 0; i < BY_EDIT_KINDS; i++)
        if (edits[i].model && one->edits[i] != other->edits[i])
            return false;
    return true;
}

bool by_candidate_edits_model(const struct by_candidate *candidate)
{
    static const struct by_candidate none;
    return !by_candidate_same_model(candidate, &none);
}

bool by_candidate_edits_config(const struct by_candidate *candidate)
{
    for (size_t i = 0; i < BY_EDIT_KINDS; i++)
        if (candidate->edits[i] && edits[i].config)
            return true;
    return false;
}

const char *by_candidate_describe(const struct by_candidate *candidate, char *text, size_t size)
{
    size_t at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < BY_EDIT_KINDS; i++) {
        char one[64];
        if (!candidate->edits[i] && !edits[i].always)
            continue;
        const int wrote = snprintf(text + at, size - at, "%s%s", at ? ", " : "",
                                   edits[i].describe(candidate->edits[i], one, sizeof one));
        if (wrote < 0 || (size_t)wrote >= size - at)
            break;
        at += (size_t)wrote;
    }
    return text;
}

int by_candidate_edit_config(const struct by_candidate *candidate, struct by_recipe *recipe,
                             struct baryon_error *err)
{
    for (size_t i = 0; i < BY_EDIT_KINDS; i++)
        if (candidate->edits[i] && edits[i].config &&
            edits[i].config(recipe, candidate->edits[i], err) < 0)
            return -1;
    return 0;
}

int by_candidate_edit_model(const struct by_candidate *candidate, struct by_quant_plan *plan,
                            const struct by_edit_sources *sources, struct baryon_error *err)
{
    for (size_t i = 0; i < BY_EDIT_KINDS; i++)
        if (candidate->edits[i] && edits[i].model &&
            edits[i].model(plan, sources, candidate->edits[i], err) < 0)
            return -1;
    return 0;
}

int by_candidate_edit_plan(const struct by_candidate *candidate, struct by_quant_plan *plan,
                           const struct by_edit_sources *sources, struct baryon_error *err)
{
    for (size_t i = 0; i < BY_EDIT_KINDS; i++)
        if (candidate->edits[i] && edits[i].plan &&
            edits[i].plan(plan, sources, candidate->edits[i], err) < 0)
            return -1;
    return 0;
}
