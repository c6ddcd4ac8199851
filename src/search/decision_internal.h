/*
 * What the files decide*.c share.
 *
 *   decide_list.c       sources, layers and decisions of a plan
 *   decide_region.c     nodes that stay float with a tensor
 *   decide_type.c       how much noise a type has, and how many bits
 *   decide_cost.c       what layers cost with the types that they read
 *   decide_switch.c     the model whose sources are switched on and off
 *   decide_begin.c      what comes before the sources of a part, run once
 *   decide_own.c        noise of activations by themselves
 *   decide_noise.c      errors at the outputs, as vectors
 *   decide_samples.c    on which samples, in how many runs
 *   decide_measure.c    noise of sources
 *   decide_check.c      the same in a run of each, to compare
 *   decide_ranges.c     factors of ranges, by the errors that each makes
 *   decide_state.c      the additive model of a set of decisions
 *   decide_choose.c     the set that meets a goal
 *   decide_behind.c     what computes with other values where decisions are made
 *   decide_candidate.c  real candidates
 *   decide_search.c     choose, verify, correct
 *   halving.c           the next goal between one that is met and one that is not
 *   decide_rules.c      as rules of a config
 */
#ifndef BY_DECISION_INTERNAL_H
#define BY_DECISION_INTERNAL_H

#include "search/decision.h"

#define BY_NONE             SIZE_MAX
#define BY_DECIDE_TYPES     64
#define BY_DECIDE_SHARPENED 24 /* sources that are measured among all others too, at most */

/* Places in a list, one row after the other: of row i those from start[i] on. */
struct by_decide_index {
    size_t *start, *at;
};

/* A node with multiply-adds, or with a weight. */
struct by_decide_layer {
    const struct baryon_node *node;
    const char *users;         /* name of it in the user's model; NULL: none of its own */
    size_t place;              /* of decisions about the layer */
    size_t weight;             /* source; BY_NONE: float */
    size_t weight_row;         /* of the plan */
    size_t elements;           /* of the weight */
    size_t first, input_count; /* sources in work->inputs */
    double macs;
    bool stays_float;   /* whatever is chosen */
    size_t weight_type; /* as the plan has it; BY_NONE: it multiplies what it reads */
    double weight_bits;
};

/* Nodes that stay float: places in work->region_nodes. */
struct by_decide_region {
    size_t first, count;
};

struct by_switches;

/* A session with the sources of some groups, and what it gives without any. */
struct by_decide_part {
    struct by_switches *switches;
    double *none; /* [dims] */
};

/* Errors at the outputs that sources make. Large outputs are folded into few places with random
 * signs, which keeps inner products about as they are. Sources that were measured together are a
 * group, of whose energy each has a share. */
struct by_decide_noise {
    size_t outputs, samples, dims;
    size_t bins[BY_DECISION_OUTPUTS];      /* of a sample */
    size_t begin[BY_DECISION_OUTPUTS + 1]; /* places of an output, all samples */
    size_t groups, room;
    float *errors;                         /* [group * dims] */
    double (*energy)[BY_DECISION_OUTPUTS]; /* by group: of its errors, and with what the rest is */
    double (*rested)[BY_DECISION_OUTPUTS];
    double *products;    /* [output * room * room]: of two groups' errors; NAN: not known yet */
    bool *lost;          /* by group: not finite; it counts by its energy alone */
    size_t *group_of;    /* by source */
    double *share_of;    /* by source */
    double *each;        /* [(source * outputs + output) * samples + sample]: energy alone */
    size_t *first_group; /* both as they were when each source was alone */
    double *first_share;
    double *none, *total;            /* outputs with nothing on, and with all */
    float *rest;                     /* what all together have that does not add */
    double all[BY_DECISION_OUTPUTS]; /* energy of sources where the rest was seen */
    double rest_energy[BY_DECISION_OUTPUTS];
};

struct by_decide_work {
    struct by_decide_options options;
    struct by_decide_layer *layers;
    size_t layer_count;
    size_t *inputs; /* sources */
    bool *alone;    /* by input: rules may name it, and nothing else reads it */
    size_t input_count;
    size_t *source_of;   /* by row of the plan; BY_NONE */
    size_t *type_of;     /* by source: the type that the plan gives it */
    double *elements_of; /* by source, of all its tensors; activations: 0 where unknown */
    double *noise_of;    /* by source: noise over signal there by itself; NAN: unknown */
    size_t *layer_of;    /* by decision; BY_NONE: of a tensor */
    size_t *source_at;   /* by decision: of a tensor; BY_NONE */
    size_t *activation_type, *weight_type; /* by decision; BY_NONE: as it is */
    struct by_decide_region *regions;      /* by decision; most have none */
    struct {
        const struct baryon_node **at;
        size_t count, cap;
    } region_nodes;
    size_t place_count;
    struct by_decide_index covering; /* by layer: decisions about tensors that keep it float */
    struct by_decide_index touching; /* by source: decisions that touch it */
    struct by_decide_index reading;  /* by source: layers whose cost decisions about it change */
    /* Types by the name that costs know them by. */
    const char *types[BY_DECIDE_TYPES];
    double bits[BY_DECIDE_TYPES];
    size_t type_count;
    double *costs; /* [activation type * type_count + weight type] */
    bool *wides;
    double tiny;                  /* cost of a decision that costs nothing else */
    struct by_switches *switches; /* with all sources */
    struct by_decide_part *parts; /* with some, where few are on */
    size_t part_count;
    struct by_begins *begins; /* where parts begin; NULL: with the model */
    struct by_decide_noise noise;
    bool apart;             /* sources count one by one, as if no errors met */
    bool *all;              /* by source: on */
    struct by_frame solved; /* of the model with solved biases, whose payloads candidates share */
    struct by_stats *observed; /* of all tensors, where candidates need more than the plan's */
    bool observed_votes;       /* with votes for all levels */
    struct by_decide_verified *verified;
};

/* A set of decisions that a search verified, which is not quantized again; in the arena. */
struct by_decide_verified {
    struct by_decide_verified *next;
    const bool *on;
    struct by_verified verified;
};

/* --- decide_type.c --- */

/* The place of a type among work->types, which it is added to. */
int by_decide_type(struct by_decisions *d, const char *name, double bits, size_t *place,
                   struct baryon_error *err);
/* A type as a rule has it, on top of what the plan has. */
int by_decide_spec(struct by_decisions *d, const char *text, const struct by_tensor_spec *from,
                   struct by_tensor_spec *spec, struct baryon_error *err);
double by_decide_bits(const struct by_tensor_spec *spec);
/* "int8", as costs know it. */
const char *by_decide_name(const struct by_tensor_spec *spec, char *buf, size_t size);
/* Noise of another type over that of the plan's, whose noise over signal is known or NAN. */
double by_decide_factor(const struct by_tensor_spec *from, const struct by_tensor_spec *to,
                        double noise);

/* --- decide_list.c --- */

bool by_decide_same_grid(const struct by_params *one, const struct by_params *other);

int by_decide_list(struct by_decisions *d, struct baryon_error *err);
/* The user's name of a node; NULL: it has none. */
const char *by_decide_users_name(const struct by_quantization *q, const struct baryon_node *node);

/* --- decide_region.c --- */

int by_decide_region_find(struct by_decisions *d, size_t source, struct by_decide_region *region,
                          struct baryon_error *err);
bool by_decide_region_has(const struct by_decisions *d, size_t decision,
                          const struct baryon_node *node);
/* Fills work->covering, once all decisions are listed. */
int by_decide_region_index(struct by_decisions *d, struct baryon_error *err);
/* A decision of the set keeps the layer float, or changes its types. */
bool by_decide_changes_layer(const struct by_decisions *d, const bool *on, size_t layer);

/* --- decide_behind.c --- */

/* behind: by node of the plan. */
void by_decide_behind(const struct by_decisions *d, const bool *on, bool *behind);

/* --- decide_cost.c --- */

int by_decide_costs(struct by_decisions *d, struct baryon_error *err);
/* Of the model with no layer quantized, without those that read nothing rounded: no decision is
 * about them. */
double by_decide_float_cost(const struct by_decisions *d);

/* --- decide_noise.c --- */

/* Room for so many groups; the outputs' number is known. */
int by_decide_noise_open(struct by_decisions *d, size_t groups, struct baryon_error *err);
void by_decide_noise_close(struct by_decide_noise *noise);
/* What a run gave for a sample that judges, folded: to the places of the one that is measured on.
 */
int by_decide_noise_fold(const struct by_decisions *d, const struct by_array *outputs, size_t count,
                         size_t sample, size_t index, double *places, struct baryon_error *err);
size_t by_decide_noise_add(struct by_decisions *d);
/* The difference of two such vectors becomes the errors of a group, or what they are in the mean
 * with those that it has. */
void by_decide_noise_set(struct by_decisions *d, size_t group, const double *with,
                         const double *without, bool mean);
double by_decide_noise_dot(const struct by_decide_noise *noise, size_t output, const float *one,
                           const float *other);
/* Energy of a group's errors on one sample. */
double by_decide_noise_of_sample(const struct by_decide_noise *noise, size_t group, size_t output,
                                 size_t sample);
/* Of the errors of two groups. */
double by_decide_noise_product(const struct by_decide_noise *noise, size_t output, size_t one,
                               size_t other);
/* So many groups there may be. */
size_t by_decide_noise_most(const struct by_decisions *d);

/* --- decide_state.c --- */

/* Sums of a set of decisions at each output: products with `sum`, what unchanged sources make. */
struct by_decide_sums {
    double sum[BY_DECISION_OUTPUTS];       /* its energy */
    double with_rest[BY_DECISION_OUTPUTS]; /* its product with the rest */
    double left[BY_DECISION_OUTPUTS];      /* energy of unchanged sources, one by one */
    double other[BY_DECISION_OUTPUTS];     /* of changed and of lost ones */
};

/* What decisions come to. */
struct by_decide_state {
    const struct by_decisions *d;
    size_t *at;                             /* by place: the decision, or BY_NONE */
    double *factor;                         /* by source */
    double *present;                        /* by group: share that is unchanged */
    double (*product)[BY_DECISION_OUTPUTS]; /* by group: of its errors with the sum */
    struct by_decide_sums sums;
    double cost, wide, macs, bytes;
    double sqnr;
};

int by_decide_state_open(struct by_decide_state *state, const struct by_decisions *d,
                         const bool *on, struct baryon_error *err);
void by_decide_state_close(struct by_decide_state *state);
/* What it would be with another decision at a place, BY_NONE: none; the state stays. Only sums,
 * costs and SQNR of the trial are set. */
void by_decide_state_try(const struct by_decide_state *state, size_t place, size_t decision,
                         struct by_decide_state *trial);
void by_decide_state_set(struct by_decide_state *state, size_t place, size_t decision);
/* The sum of the errors of unchanged sources. */
void by_decide_state_errors(const struct by_decide_state *state, float *sum);
void by_decide_state_read(const struct by_decide_state *state, bool *on);

/* --- decide_switch.c --- */

/* With the sources from begin to end alone; others are off whatever a run asks for. */
int by_switches_open(struct by_switches **switches, const struct by_decisions *d, size_t begin,
                     size_t end, struct baryon_error *err);
void by_switches_close(struct by_switches *switches);
/* One sample with those sources on; index: among those that are measured on. factors: of the
 * scales, by source; NULL: as they are, as without options.activations. judgement: NULL: not asked
 * for; places: of the noise, or NULL. */
int by_switches_run(const struct by_switches *switches, const bool *on, const double *factors,
                    size_t sample, size_t index, struct by_judgement *judgement, double *places,
                    struct baryon_error *err);

/* --- decide_begin.c --- */

struct by_begins;

/* An input of a model that begins later: its values, by sample that is measured on. */
struct by_begun_value {
    const char *name;
    const struct by_array *arrays;
};
struct by_begun {
    struct by_begun_value *at;
    size_t count, cap;
};

/* starts: first sources of the parts, and the end. NULL comes out where nothing is to be gained. */
int by_begins_open(struct by_begins **begins, const struct by_decisions *d, const size_t *starts,
                   size_t parts, struct baryon_error *err);
void by_begins_close(struct by_begins *begins);
/* Of a model whose further inputs are switches: what does not depend on them becomes inputs, which
 * are added to `begun`, in the arena. */
int by_begins_replace(const struct by_begins *begins, struct baryon_model *model,
                      struct by_arena *arena, struct by_begun *begun, struct baryon_error *err);

/* --- decide_own.c --- */

/* Noise over signal of activations, on the samples that are measured on. */
int by_decide_own(struct by_decisions *d, struct baryon_error *err);

/* --- decide_samples.c --- */

/* Of the session with switches, at most; 0: any. */
size_t by_decide_runs(const struct by_decisions *d);
/* How many: d->samples. */
void by_decide_choose_samples(struct by_decisions *d);
/* Which: d->measured. After by_switches_open(). */
int by_decide_find_samples(struct by_decisions *d, struct baryon_error *err);

/* --- decide_measure.c --- */

/* The same sources in several sets, each with factors of its own: places of all samples, which
 * begin as zeros. on, factors: by set and source. */
int by_decide_run_factors(struct by_decisions *d, const bool *on, const double *factors,
                          size_t sets, double *places, struct baryon_error *err);
/* Sets on other samples than those that are measured on, of which there are no more. */
int by_decide_run_samples(struct by_decisions *d, const bool *on, const size_t *samples,
                          size_t count, size_t sets, double *places, struct baryon_error *err);
/* Fails where that was the time to stop. */
int by_decide_go_on(const struct by_decisions *d, const char *what, size_t done, size_t all,
                    struct baryon_error *err);

void by_decide_parts_close(struct by_decide_work *work);

/* --- decide_rules.c --- */

/* names: of the nodes as the quantization has them, for drafts, or as the user has them. */
int by_decide_rules(const struct by_decisions *d, const bool *on, bool users,
                    struct by_arena *arena, struct by_rule_list *rules, struct baryon_error *err);

#endif
