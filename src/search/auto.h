/*
 * The search for the cheapest quantization that meets goals.
 *
 *   split      samples: calibrate, choose, last                              parts.h
 *   first      global rungs of the target, cheapest first                    ladder.h
 *   layers     wider types for what hurts, by what each costs at the output  decision.h
 *   solve      rounding by reconstruction, where weights are the cause
 *   wide       rungs of wider types, and layers again
 *   narrow     what can become cheaper without missing the goal
 *
 * Every point is a config as text, quantized as `baryon quantize --config` does it, so the best
 * one's text gives the same bytes without a search. The answer does not depend on threads.
 */
#ifndef BY_AUTO_H
#define BY_AUTO_H

#include "onnx/frame.h"
#include "search/candidate.h"
#include "search/decision.h"
#include "search/figures.h"
#include "search/goals.h"
#include "search/parts.h"
#include "settings/settings.h"

struct by_auto_settings {
    struct by_setting_texts goal;
    const char *goal_command, *target, *costs, *labels;
    double goal_seconds, max_wide, time_limit;
    uint64_t max_size, max_memory;
    int effort; /* enum by_auto_effort */
    bool restart;
};

extern const struct by_option_group by_auto_group;

/* Who gets what a report has about the written model: its config is quantized once more, and
 * measured on the last samples. */
struct by_auto_listener {
    /* Before emission. */
    int (*planned)(void *context, const struct by_quantization *q, struct baryon_error *err);
    void *context;
    struct by_quality_details details;
    struct by_show show;
};

struct by_auto_options {
    const struct by_auto_settings *settings;
    const struct by_config *given; /* has the groups of samples and engine bound */
    const struct by_running_settings *running;
    const struct by_input_callback *samples; /* instead of running->data; NULL: none. With rewind */
    const char *out; /* where the result is going to be: OUT.part keeps what is known; NULL: nothing
                        is kept */
    uint64_t bytes_before;
    /* A goal of the caller's own, named "value"; NULL: settings->goal_command. */
    int (*value)(void *context, struct baryon_model *model, double *value,
                 struct baryon_error *err);
    bool (*progress)(void *context, const struct by_calibrate_progress *progress);
    void *context;                           /* of both */
    const struct by_auto_listener *listener; /* NULL: nobody */
    const struct by_log *log;
};

enum by_auto_state { BY_AUTO_DROPPED, BY_AUTO_BEST, BY_AUTO_FINAL };

/* A quantization that was met on the way. */
struct by_auto_point {
    const char *name, *text;
    const char *yaml; /* config for `baryon quantize` */
    const char *why;  /* it is lost; NULL: it was measured */
    /* Lines of a config that say what samples chose in it: as it is, and so that all tensors have
     * names that the user's model has. */
    const char *pins, *pins_by_name;
    const double *choose, *last; /* of each goal; NaN: unknown */
    const double *margins;       /* that are asked for, since last samples differ */
    double sqnr, last_sqnr;      /* dB, of the worst output */
    bool met, sure, allowed;     /* the goals, the same with the margins, the limits */
    bool doubted;                /* by the samples that calibrate alone */
    struct by_auto_figures figures;
    struct by_checked order; /* of what its tensors and layers lose; 0 sources: not measured */
    uint64_t bytes;          /* about */
    double seconds;
    bool taken_up; /* from an earlier run */
    enum by_auto_state state;
};

/* What was quantized for a listener. */
struct by_auto_final {
    struct by_auto_candidate candidate;
    struct by_quality quality;
};

struct by_auto {
    struct by_arena arena;
    const struct by_ladder *ladder;
    struct by_auto_goals goals;
    struct by_auto_parts parts;
    const char *samples; /* what was done to them */
    struct {
        struct by_auto_point *at;
        size_t count, cap;
    } points;
    size_t best; /* place of the point that is written */
    bool met;    /* its goals, on the samples that choose */
    bool timed_out;
    bool spared;         /* a margin that would leave hardly anything quantized was not asked for */
    const char *outcome; /* one sentence */
    const char *needs;   /* what a missed goal requires; NULL: it is met */
    size_t *frontier;    /* places of points, least cost first */
    size_t frontier_count;
    double seconds;
    struct by_frame frame;        /* of the float model, whose payloads the best one shares */
    struct baryon_model *model;   /* the best one, quantized */
    struct by_auto_final *final;  /* the same on its way; NULL: nobody listened */
    struct by_stats_store *store; /* of its statistics and those of candidates */
};

/* What cannot be is refused, without opening anything. */
int by_auto_check(const struct by_auto_settings *settings, bool has_value,
                  struct baryon_error *err);
/* The model is linked and inferred, and has to live as long. */
int by_auto_run(struct by_auto **out, struct baryon_model *model,
                const struct by_auto_options *options, struct baryon_error *err);
/* Once the result is written: removes what was kept. */
void by_auto_clean(const struct by_auto_options *options);
void by_auto_close(struct by_auto *search);
/* BARYON_ERR_GOAL where goals are missed. */
int by_auto_judge(const struct by_auto *search, struct baryon_error *err);

/* The config of the best point, with a head that says where it is from. */
void by_auto_write_config(const struct by_auto *search, const char *model, struct by_str *out);
/* Members target, outcome, goals, splits, steps and frontier. */
void by_auto_json(const struct by_auto *search, struct by_json *json);
/* The same without the outcome. */
void by_auto_members_json(const struct by_auto *search, struct by_json *json);

#endif
