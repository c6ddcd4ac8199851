/*
 * Two models side by side, at least one of them quantized: types and scales of their tensors, types
 * of their layers, and how far their outputs on samples are from each other.
 */
#ifndef BY_COMPARE_H
#define BY_COMPARE_H

#include "base/json.h"
#include "compare/profile.h"
#include "evaluate/evaluate.h"

/* What differs most in a tensor, the least important first. */
enum by_difference {
    BY_DIFFERS_NOT,
    BY_DIFFERS_SIGN,   /* int8 or uint8, the same levels */
    BY_DIFFERS_VALUES, /* of a constant: levels that were chosen otherwise */
    BY_DIFFERS_ZERO,
    BY_DIFFERS_PLACE, /* quantized in one model only */
    BY_DIFFERS_SCALE, /* by more than 0.1 %, or another number of scales */
    BY_DIFFERS_TYPE,  /* number of bits, or integers and floats */
    BY_DIFFERENCES,
};
const char *by_difference_name(enum by_difference difference);

struct by_tensor_pair {
    const char *name;
    enum by_role role;
    const struct by_profile_tensor *a, *b; /* NULL: not quantized there */
    const char *type_a, *type_b;           /* NULL: there is no such tensor */
    double ratio;                          /* B's scales over A's, geometric mean; NAN: none */
    double farthest;                       /* of them the one that is farthest from 1 */
    double sqnr;                           /* of a constant's values in B against A, dB; NAN */
    enum by_difference difference;
    size_t place; /* in the order of the models */
};

struct by_layer_pair {
    const struct by_profile_layer *a, *b;
    double share; /* of multiply-adds, in the model where it is greater */
    bool differs; /* types of data or weight do, apart from signs */
};

/* Layers of one type of data and one of weight. */
struct by_type_share {
    const char *data, *weight; /* weight NULL: they have none */
    double bits;               /* of the wider */
    uint64_t layers;
    double macs;
};

struct by_compared_model {
    const char *name;
    uint64_t bytes; /* with external data; 0: not known */
    struct by_profile profile;
    struct {
        struct by_type_share *at;
        size_t count, cap;
    } types; /* most multiply-adds first, then most layers */
};

struct by_comparison {
    struct by_arena arena;
    struct by_compared_model a, b;
    struct {
        struct by_tensor_pair *at;
        size_t count, cap;
    } tensors; /* the most important differences first */
    struct {
        struct by_layer_pair *at;
        size_t count, cap;
    } layers; /* in both; those that differ and have most multiply-adds first */
    size_t differences[BY_DIFFERENCES];
    size_t layers_alike, only_a, only_b; /* layers */
    /* Outputs on samples: B's against A's, and both against the float model's. NULL: not run. */
    struct by_evaluation *outputs, *a_outputs, *b_outputs;
};

struct by_compare_model {
    struct baryon_model *model;
    const char *name;
    uint64_t bytes;
};

/* Looks at the models, which are linked and inferred; one of them has to be quantized. */
int by_compare_open(struct by_comparison **comparison, const struct by_compare_model *a,
                    const struct by_compare_model *b, struct baryon_error *err);
void by_compare_close(struct by_comparison *comparison);
/* Runs them on samples; they are checked. reference NULL: there is no float model. */
int by_compare_run(struct by_comparison *comparison, const struct by_compare_model *reference,
                   const struct by_evaluate_options *options, struct baryon_error *err);
/* Members of an object. */
void by_compare_json(const struct by_comparison *comparison, struct by_json *json);

/* NULL: that output was not compared, or has no such measure. */
const struct by_score *by_compare_score(const struct by_evaluation *evaluation, const char *output,
                                        const char *metric);

/* --- Between the files of the folder --- */

int by_compare_layers(struct by_comparison *comparison, struct baryon_error *err);
/* After the layers. */
int by_compare_tensors(struct by_comparison *comparison, struct baryon_error *err);
int by_compare_types(struct by_compared_model *model, struct by_arena *arena,
                     struct baryon_error *err);
/* int8 and uint8 are alike. */
bool by_compare_same_type(const struct by_profile_type *one, const struct by_profile_type *other);

#endif
