/*
 * What the files of a search share.
 *
 *   auto.c     the order of things
 *   points.c   a config is quantized, measured and compared with the best
 *   known.c    points of an earlier run
 *   climb.c    which configs are tried
 *   layers.c   decisions about tensors and layers
 *   pins.c     what samples chose, as options
 *   rest.c     the parts of a config
 *   down.c     narrower weights for what meets the goals
 *   worth.c    whether a step is worth its time
 *   final.c    the best config once more, for a report
 *   options.c  option rows
 *   report.c   sentences, JSON, config
 */
#ifndef BY_AUTO_INTERNAL_H
#define BY_AUTO_INTERNAL_H

#include "base/hash.h"
#include "base/journal.h"
#include "search/auto.h"
#include "search/candidate.h"
#include "search/command.h"

#define BY_AUTO_SOLVED   ".solved.part" /* after the output's path: layers that were solved */
#define BY_AUTO_NO_POINT SIZE_MAX
#define BY_AUTO_PINS_MAX 512

struct by_auto_work {
    struct by_auto *out;
    const struct by_auto_options *options;
    struct by_ladder ladder; /* with the user's costs */
    struct by_auto_source source;
    struct by_auto_samples *samples;
    struct by_auto_base base;
    struct by_auto_command command;
    struct by_pool *pool;
    struct by_str head; /* of all configs */
    struct by_journal *journal;
    struct by_arena known_arena;
    struct {
        struct by_auto_known *at;
        size_t count, cap;
    } known;
    struct by_auto_known *found; /* of the point in hand */
    size_t best;                 /* BY_AUTO_NO_POINT: there is none */
    struct baryon_model *model;  /* of the best point; NULL: it was taken up */
    double begin, stepped;       /* when the search and the step in hand began */
    double errors;               /* standard errors that margins are */
    double weights_sqnr;         /* of narrow weights with exact activations; NAN: not measured */
    size_t measured;             /* points whose tensors and layers were measured one by one */
    bool interrupted;            /* options->progress asked to stop */
    bool finishing;              /* the search is over: no limit of time holds any more */
};

/* --- points.c --- */

/* rest: of the config, after the head. *place: of the point; where the search has it already, of
 * that. A config that cannot be quantized is lost, and no error. */
int by_auto_try(struct by_auto_work *work, const char *name, const char *text, const char *rest,
                size_t *place, struct baryon_error *err);
/* Whether one point is better than another: what meets goals and limits first, then less cost. */
bool by_auto_is_better(const struct by_auto *search, const struct by_auto_point *one,
                       const struct by_auto_point *other);
/* By so much that the size decides and not the quality; the greatest size that is. */
double by_auto_smaller_bytes(const struct by_auto_point *than);
bool by_auto_is_smaller(const struct by_auto_point *one, const struct by_auto_point *other);
bool by_auto_is_over_time(const struct by_auto_work *work);
/* Asked by whatever runs, of the work: true ends it. */
bool by_auto_watch(void *context, const struct by_calibrate_progress *now);
/* Of each goal, the command's too, on the samples that choose. */
int by_auto_measure_values(struct by_auto_work *work, struct baryon_model *model,
                           struct by_auto_measured *measured, struct baryon_error *err);
/* Few samples may have none on which a model fails. Those that calibrate are more: where all of
 * them together miss what the ones that choose meet for sure, the margins become so much. */
int by_auto_measure_again(struct by_auto_work *work, struct baryon_model *model,
                          struct by_auto_measured *measured, bool *doubted,
                          struct baryon_error *err);
/* Whether goals of metrics are met or missed by less than a margin, on all samples but the last
 * ones. */
int by_auto_hold(struct by_auto_work *work, struct baryon_model *model, bool *holds,
                 struct baryon_error *err);

/* --- known.c --- */

struct by_auto_known {
    struct by_hash128 config;
    double choose[BY_AUTO_GOALS_MAX], margins[BY_AUTO_GOALS_MAX], last[BY_AUTO_GOALS_MAX];
    double sqnr, last_sqnr, seconds;
    struct by_auto_figures figures;
    uint64_t bytes;
    bool doubted; /* of by_auto_measure_again() */
    char why[300];
    char pins[2][BY_AUTO_PINS_MAX]; /* of by_auto_pin(): as it is, and with names kept */
};

/* Takes up what an earlier run kept. */
int by_auto_known_open(struct by_auto_work *work, struct baryon_model *model,
                       struct baryon_error *err);
const struct by_auto_known *by_auto_known_find(const struct by_auto_work *work,
                                               struct by_hash128 config);
int by_auto_known_add(struct by_auto_work *work, const struct by_auto_known *known,
                      struct baryon_error *err);
struct by_hash128 by_auto_config_hash(const char *yaml);

/* --- pins.c --- */

/* Lines of a config that say what samples chose, so that nothing is tried again. asked: before.
 * keeps_names: without what would add tensors that the user's model lacks. */
void by_auto_pin(const struct by_quantization *q, const struct by_recipe *asked, bool keeps_names,
                 struct by_str *rest);

/* --- rest.c --- */

/* A config: the head, and after it the rest. */
void by_auto_yaml(const struct by_auto_work *work, const char *rest, struct by_str *yaml);
/* The rest of a point's config. */
const char *by_auto_rest(const struct by_auto_work *work, const struct by_auto_point *point);
/* Appends two rests with the rules of both in one map for nodes and one for tensors. */
void by_auto_merge(const char *one, const char *other, struct by_str *rest);

/* --- layers.c --- */

struct by_auto_layers;

struct by_auto_layers_of {
    size_t place;     /* of the point */
    const char *rest; /* its config ends with it */
    const char *name; /* the same without tensors that the user's model lacks; NULL: no decision
                         names one */
    bool bytes;       /* they are what a decision saves, as no type is slower than another */
    bool gives_up;    /* by_auto_layers_are_in_vain(): nothing is measured then */
};

/* Decisions about the tensors and layers of a point, measured. Whatever comes out,
 * by_auto_layers_close() goes with it. */
int by_auto_layers_open(struct by_auto_layers **layers, struct by_auto_work *work,
                        const struct by_auto_layers_of *of, struct baryon_error *err);
/* What passes do to the model misses the goal by itself, whatever is not rounded. */
bool by_auto_layers_are_in_vain(const struct by_auto_layers *layers);
void by_auto_layers_close(struct by_auto_layers *layers);
/* What the point would gain without the noise of weights, dB. */
double by_auto_layers_weights_gain(const struct by_auto_layers *layers);
/* What it would have with exact activations, dB. */
double by_auto_layers_weights_sqnr(const struct by_auto_layers *layers);
/* Whether a few changes are predicted to meet the goals at about the cost of none. */
int by_auto_layers_are_cheap(const struct by_auto_layers *layers, bool *cheap,
                             struct baryon_error *err);
/* Tries the cheapest that meets the goals, else the best. */
int by_auto_layers_search(struct by_auto_layers *layers, struct baryon_error *err);

/* --- climb.c --- */

int by_auto_climb(struct by_auto_work *work, struct baryon_error *err);

/* The time limit; then there is a best point. */
bool by_auto_is_over(const struct by_auto_work *work);

/* --- down.c --- */

/* From the best point, which meets the goals. */
int by_auto_down(struct by_auto_work *work, struct baryon_error *err);

/* --- final.c --- */

/* Makes the model of the best point for who listens. */
int by_auto_final_make(struct by_auto_work *work, struct baryon_error *err);
void by_auto_final_close(struct by_auto_final *final);

/* --- report.c --- */

int by_auto_conclude(struct by_auto_work *work, struct baryon_error *err);

#endif
