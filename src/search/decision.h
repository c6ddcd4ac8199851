/*
 * What can still be changed in a quantization, what each change gains at the model's output, and
 * which changes meet a goal at the least cost.
 *
 * - list: sources of noise (activations that share parameters, weights of layers), and decisions
 *   about them that a target allows
 * - measure: the noise of each source at the outputs, all in one session whose pairs are switched
 *   on and off by its inputs
 * - choose: the additive model. Noises of small independent errors add at the outputs.
 * - search: choose, verify a real candidate, correct the model where errors do not add, and choose
 *   again; then down again
 * - write: rules that `baryon quantize --config` turns into the same model without a search
 *
 * All results are the same for any number of threads.
 */
#ifndef BY_DECISION_H
#define BY_DECISION_H

#include "base/map.h"
#include "base/str.h"
#include "settings/rules.h"
#include "trial/judge.h"
#include "trial/quantization.h"

/* --- What a target has --- */

enum by_decision_kind {
    BY_DECIDE_TENSOR, /* an activation, with those that share its parameters: `activation` */
    BY_DECIDE_WEIGHT, /* the weight of a layer: `weight` */
    BY_DECIDE_LAYER,  /* the weight of a layer, and what nothing else reads: `activation` and
                         `weight`, both given. What a decision about a tensor says is stronger */
    BY_DECIDE_FLOAT,  /* the layer stays float */
};

/* Something that a tensor or a layer may have instead of what the plan gives it. Types stand as
 * rules have them: "int16", "{type: int4, group: 32}"; NULL: as it is. A tensor may be "float". */
#define BY_DECIDE_AS_FLOAT "float"
struct by_alternative {
    const char *name; /* "int16 activation", for reports */
    enum by_decision_kind kind;
    const char *activation, *weight;
    const char *from; /* what the weight has in the plan, a glob; NULL: anything */
    bool around;      /* BY_DECIDE_TENSOR: the nodes that give and read it stay float */
};

/* What a multiply-add costs whose layer has these types ("int8", "int*", "bf16", "float"; a glob of
 * by_spec_type()); the widest of what it reads counts. The first row that fits counts. */
struct by_mac_cost {
    const char *activation, *weight;
    double cost;
    bool wide; /* counts as wide for --max-wide */
};

struct by_target_ladder {
    const struct by_alternative *alternatives;
    size_t alternative_count;
    const struct by_mac_cost *macs;
    size_t mac_count;
    double byte_cost; /* of a byte of weights, and of a byte of an activation */
};

/* --- The list --- */

#define BY_DECISION_OUTPUTS 16

/* Noise that comes from one place. */
struct by_noise_source {
    const char *name; /* of the first tensor, or of the layer */
    size_t row;       /* of the plan: the one that owns the parameters, or the weight */
    bool weight;
    double alone[BY_DECISION_OUTPUTS]; /* energy at each output when nothing else is quantized */
    double share; /* of all noise, mean over the outputs: all together are about 1; below 0: it
                     cancels noise of others */
};

struct by_decision {
    const struct by_alternative *alternative;
    const char *name;    /* of the tensor, or of the user's node */
    size_t place;        /* what it is about: of a place at most one decision is chosen */
    double macs;         /* multiply-adds of the layers that it is about */
    double extra_cost;   /* against the plan, by itself; below 0: it is cheaper */
    double extra_bytes;  /* of weights */
    double gain;         /* dB of the plan's model that it gains by itself, as predicted */
    size_t first, count; /* sources that it changes: places in `touches` */
};

/* A decision leaves so much of a source's noise; 0: nothing; above 1: more. */
struct by_touch {
    size_t source;
    double factor;
};

struct by_decisions {
    struct by_arena arena;
    struct by_quantization *q;
    const struct by_judge *judge;
    const struct by_target_ladder *ladder;
    struct by_noise_source *sources;
    size_t source_count;
    struct by_decision *decisions;
    size_t decision_count;
    struct by_touch *touches;
    size_t touch_count;
    size_t samples, output_count; /* that were measured on */
    size_t *measured;             /* which of those that judge: the ones with the greatest error */
    double signal[BY_DECISION_OUTPUTS], floor[BY_DECISION_OUTPUTS]; /* energies; floor: what no
                     source explains, passes for example */
    double scale[BY_DECISION_OUTPUTS]; /* real noise over that of the model, as last verified */
    size_t runs;                       /* of the session with switches, for reports */
    struct by_decide_work *work;       /* sessions and drafts; private */
};

/* Told now and then, from the thread that called; false: stop, which fails with
 * BARYON_ERR_CANCELLED. */
typedef bool by_decide_progress_fn(void *context, const char *what, size_t done, size_t all);

struct by_decide_options {
    size_t samples;   /* to measure on, of those that judge; 0: as many as `runs` allows */
    size_t runs;      /* of the session with switches at most, about; 0: no limit. With fewer than
                         there are sources, neighbours are measured together and the worst are split */
    double work;      /* multiply-adds; with so many at most there are runs for all sources alone on
                         four samples, whatever `runs` is */
    bool worst;       /* SQNR is that of the worst output, not the mean of all */
    double least;     /* dB of the worst output that a goal asks for: where passes alone miss it,
                         sources are not measured; 0: they are */
    bool activations; /* no other sources, and no layers: for by_decisions_ranges() */
    size_t parts;     /* sessions that share the sources among them; 0: as many as pay */
    const struct by_map *names; /* tensors that rules may speak of: those of the user's model; NULL:
                                   all that the plan has, which equalization may have added */
    by_decide_progress_fn *progress; /* may be NULL */
    void *context;
};

/* q: after by_quantization_open() with keeps_float, not emitted yet; it stays as it is, and has to
 * live as long, as do judge (its references ran; without a depot) and ladder. Runs nothing.
 * Whatever the result, by_decisions_close() is required. */
int by_decisions_open(struct by_decisions *d, struct by_quantization *q,
                      const struct by_judge *judge, const struct by_target_ladder *ladder,
                      const struct by_decide_options *options, struct baryon_error *err);
void by_decisions_close(struct by_decisions *d);
/* The noise of every source alone, and of all together. */
int by_decisions_measure(struct by_decisions *d, struct baryon_error *err);
/* After it: dB of the worst output if nothing is rounded, as far as passes leave. */
double by_decisions_ceiling(const struct by_decisions *d);
/* The same in place: of the decisions in `on`, what removing each source's noise gains then. Where
 * errors do not add this is the better model for what is chosen next. */
int by_decisions_measure_around(struct by_decisions *d, const bool *on, struct baryon_error *err);

/* --- Checking --- */

/* What a source does alone. Of noise over signal single samples may have nearly all, so there is
 * also its share of each sample's noise, mean over samples and outputs. */
struct by_alone {
    double noise, share;
};
struct by_alone_source {
    size_t source;
    struct by_alone measured; /* in few runs */
    struct by_alone run;      /* in one of its own, on other samples */
    struct by_alone half[2];  /* the same on every other one of these, and on the rest */
};
struct by_checked {
    size_t sources, samples;
    /* Spearman's correlation of what was measured with runs; NAN: no other sample is left. */
    double noise, share;
};

/* After by_decisions_measure(): so many sources, evenly over their order, are run alone on so many
 * samples of those that judge, without those that were measured on. alone: room for them; most
 * noise first. */
int by_decisions_check(struct by_decisions *d, size_t sources, size_t samples,
                       struct by_alone_source *alone, struct by_checked *checked,
                       struct baryon_error *err);

/* --- Ranges --- */

/* After by_decisions_measure() of activations alone: factors of ranges with which the errors at the
 * outputs are least together. Up to `most` sources, those with most noise, are measured with each
 * factor. chosen: by source, 1: as it is. *gain: dB of activations alone, as measured. Where a
 * factor may not apply (quant/range_factor.h) ranges stay. */
int by_decisions_ranges(struct by_decisions *d, size_t most, double *chosen, double *gain,
                        struct baryon_error *err);
/* The row has a range of its own, which is that of the source. */
bool by_decisions_has_range(const struct by_decisions *d, size_t source, size_t row);

/* --- Choosing --- */

struct by_prediction {
    double sqnr;       /* mean over the outputs or, smoothly, of the worst, dB */
    double cost;       /* of the whole model, in the ladder's units */
    double wide_share; /* of multiply-adds */
    double bytes;      /* of weights */
};

/* on: by decision. */
void by_decisions_predict(const struct by_decisions *d, const bool *on,
                          struct by_prediction *prediction);

struct by_choice_goal {
    double sqnr;       /* dB to be reached; INFINITY: the best under the limits */
    double wide_share; /* at most; 1: any */
    double bytes;      /* at most, of weights; INFINITY: any */
};

/* The least cost that reaches the goal, by the model; on: what has been chosen so far, and comes
 * out. False in *reached: it cannot be reached, `on` is the best. */
int by_decisions_choose(const struct by_decisions *d, const struct by_choice_goal *goal, bool *on,
                        bool *reached, struct baryon_error *err);

/* --- Searching --- */

/* What is known of a real candidate. */
struct by_verified {
    double sqnr; /* mean over the outputs, dB; -INFINITY: refused, or not finite */
    bool meets;  /* the caller's goals, limits not counted */
    bool nearly; /* it meets them without the margin that so few samples ask for */
    double asks; /* dB above the goal that its samples ask for */
    bool empty;  /* nothing is left to quantize, so it is no candidate */
};

/* A candidate with these decisions; it is asked once for each set as long as d is open. Quantizes
 * and judges it by the caller's measure. on: by decision. by_decisions_candidate() makes the model.
 */
typedef int by_verify_fn(void *context, const struct by_decisions *d, const bool *on,
                         struct by_verified *verified, struct baryon_error *err);

/* Which of the solved integers and biases a candidate keeps, where their row is as it was. All make
 * up for errors of what their layer reads: too much where a change takes these away. A quantization
 * with the rules solves anew, so it is about as good as the better of both, or better. */
enum by_decide_kept { BY_KEEPS_ALL, BY_KEEPS_BEFORE, BY_KEPT }; /* BEFORE: in front of changes */

/* In how many ways candidates can be made: 1, or BY_KEPT where weights were solved. */
size_t by_decisions_ways(const struct by_decisions *d, const bool *on);
/* A real candidate: the model quantized with the rules, of q's statistics. */
int by_decisions_candidate(const struct by_decisions *d, const bool *on, enum by_decide_kept kept,
                           struct baryon_model **model, struct baryon_error *err);
/* The better one, judged on the samples; each: room for by_judge_count(), or NULL. A candidate that
 * ONNX Runtime refuses or whose outputs are not finite has -INFINITY. */
int by_decisions_judge(const struct by_decisions *d, const bool *on, struct by_judgement *each,
                       double *sqnr, struct baryon_error *err);

/* Whether a set that nearly meets the goals meets them on more samples, too. */
typedef int by_confirm_fn(void *context, const struct by_decisions *d, const bool *on, bool *holds,
                          struct baryon_error *err);

struct by_search_step {
    const char *what; /* "widen", "correct", "around", "narrow" */
    size_t chosen;    /* decisions */
    struct by_prediction predicted;
    struct by_verified verified;
};

struct by_search_options {
    struct by_choice_goal limits; /* sqnr: the goal in dB, or NAN where only `verify` knows */
    by_verify_fn *verify;         /* NULL: by_decisions_judge() against limits.sqnr */
    by_confirm_fn *confirm; /* asked where the margin costs nearly all that is saved; may be NULL */
    void *context;
    size_t verifications; /* at most; 0: 12 */
    bool narrows;         /* down again, when the goal is met */
    bool brief; /* little is to be gained: nothing is verified where the best under the limits
                   misses the goal, and no source is measured in place */
    /* Told of each verified step; may be NULL. */
    int (*step)(void *context, const struct by_decisions *d, const bool *on,
                const struct by_search_step *step, struct baryon_error *err);
};

/* After by_decisions_measure(). on: where to begin, and the best that was met: the cheapest that
 * meets the goal, else the one with the greatest SQNR under the limits. Where what meets it leaves
 * hardly anything quantized, it is the cheapest that was confirmed to do so without the margin, and
 * *met is false. */
int by_decisions_search(struct by_decisions *d, const struct by_search_options *options, bool *on,
                        bool *met, struct baryon_error *err);
/* dB of a set that a search verified; NAN: none did. */
double by_decisions_verified(const struct by_decisions *d, const bool *on);

/* --- Rules --- */

/* Appends the rules of the decisions to a recipe's, for models as the user has them. */
int by_decisions_rules(const struct by_decisions *d, const bool *on, struct by_arena *arena,
                       struct by_rule_list *rules, struct baryon_error *err);
/* The same as YAML: the maps `nodes:` and `tensors:` of a config, without anything else; empty when
 * there is none. */
int by_decisions_write(const struct by_decisions *d, const bool *on, struct by_str *yaml,
                       struct baryon_error *err);

#endif
