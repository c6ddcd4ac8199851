/*
 * A candidate is a quantization with some edits, made on a draft. Kinds of edits are rows of
 * edits.c: what is edited, and when.
 *
 *   config -> Q/DQ insertion -> model -> insertion again
 *          -> ranges, hardware rules -> plan -> emission
 */
#ifndef BY_TRIAL_CANDIDATE_H
#define BY_TRIAL_CANDIDATE_H

#include "trial/draft.h"

enum by_edit_kind {
    BY_EDIT_ROTATION,          /* value: by_rotate_value() */
    BY_EDIT_SMOOTHING,         /* value: by_smooth_value() */
    BY_EDIT_SPLITTING,         /* value: channels with outliers are split off */
    BY_EDIT_WEIGHT_ROWS,       /* value: those that decide the scale of a weight are split off */
    BY_EDIT_EQUALIZATION,      /* value: enum by_cle_mode */
    BY_EDIT_BIASES,            /* value: corrected, or not */
    BY_EDIT_HEADROOM,          /* value: the headroom of ranges of activations, in thousandths */
    BY_EDIT_LOGARITHMS,        /* value: enum by_logarithms */
    BY_EDIT_JOINS,             /* value: those of different ranges stay float, or not */
    BY_EDIT_WEIGHT_METHOD,     /* value: the recipe's other method of weights */
    BY_EDIT_ACTIVATION_METHOD, /* value: enum by_other_method */
    BY_EDIT_WIDE,   /* value: SQNR of tensors by themselves, in dB, below which they have 16 bits */
    BY_EDIT_PAIRS,  /* value: pairs that no layer reads are there */
    BY_EDIT_RANGES, /* value: how many of the recipe's factors of ranges apply, all of them */
    BY_EDIT_KINDS,
};

#define BY_HEADROOM_UNIT 1000

/* Methods of activations that samples may choose. */
enum by_other_method { BY_OTHER_MINMSE = 1, BY_OTHER_MINMAX };
const char *by_other_method_name(enum by_other_method method);

/* By kind; 0: that is not edited. */
struct by_candidate {
    int edits[BY_EDIT_KINDS];
};

/* What edits may read. */
struct by_edit_sources {
    struct by_stats *seen; /* of the model as it is, with channels */
    struct by_stats *own;  /* of the model as edited; NULL before its ranges are known */
    struct by_pool *pool;
};

struct by_edit {
    const char *name;
    bool always; /* reports name it where it is not edited as well */
    /* Each may be NULL. `config` is before Q/DQ pairs are inserted; `model` edits weights, so pairs
     * are inserted again and the model is observed again; `plan` is after hardware rules. */
    int (*config)(struct by_recipe *recipe, int value, struct baryon_error *err);
    int (*model)(struct by_quant_plan *plan, const struct by_edit_sources *sources, int value,
                 struct baryon_error *err);
    int (*plan)(struct by_quant_plan *plan, const struct by_edit_sources *sources, int value,
                struct baryon_error *err);
    const char *(*describe)(int value, char *text, size_t size);
};

const struct by_edit *by_edit(enum by_edit_kind kind);

bool by_candidate_same(const struct by_candidate *one, const struct by_candidate *other);
/* Whether both have the same model, so that what was observed of one is true of the other. */
bool by_candidate_same_model(const struct by_candidate *one, const struct by_candidate *other);
bool by_candidate_edits_model(const struct by_candidate *candidate);
bool by_candidate_edits_config(const struct by_candidate *candidate);
/* "equalization exact, bias correction on". */
const char *by_candidate_describe(const struct by_candidate *candidate, char *text, size_t size);

/* All edits of one time, in the order of the kinds. */
int by_candidate_edit_config(const struct by_candidate *candidate, struct by_recipe *recipe,
                             struct baryon_error *err);
int by_candidate_edit_model(const struct by_candidate *candidate, struct by_quant_plan *plan,
                            const struct by_edit_sources *sources, struct baryon_error *err);
int by_candidate_edit_plan(const struct by_candidate *candidate, struct by_quant_plan *plan,
                           const struct by_edit_sources *sources, struct baryon_error *err);

/* What of a model rotates, as a value of its edit. */
int by_rotate_value(enum by_rotate_mode mode, bool multiplies);

/* How a model is smoothed, as a value of its edit: alpha as options have it, with Muls of its own
 * or without. */
int by_smooth_value(double alpha, bool multiplies);

/* A mode of equalization and a range, as a value of its edit: 0 for that of the recipe, else one of
 * the steps beyond it. */
#define BY_CLE_RANGES 4
int by_cle_value(enum by_cle_mode mode, int range);
enum by_cle_mode by_cle_mode_of(int value);
int by_cle_range_of(int value);
/* Times the range of its tensor that a channel may reach; 0: any. */
double by_cle_reach(const struct by_recipe *recipe, int range);
/* "exact". */
const char *by_cle_mode_name(enum by_cle_mode mode);

#endif
