/*
 * What quality is asked for: bounds of measures (metric/metric.h), or of the number that a command
 * of the user's prints.
 */
#ifndef BY_AUTO_GOALS_H
#define BY_AUTO_GOALS_H

#include "evaluate/evaluate.h"

/* "sqnr>=20", "top1.worst>=0.9", "value<=1.5". */
struct by_auto_goal {
    const char *text, *name;
    const struct by_metric *metric; /* NULL: what the command prints */
    bool worst, most;               /* of the worst sample; most: the bound is the greatest value */
    double bound;
};

struct by_auto_goals {
    struct by_auto_goal *at;
    size_t count, cap;
    bool has_command;
};

#define BY_AUTO_GOALS_MAX 16

/* texts: none is "sqnr>=20". has_command, has_labels: what was given. Refuses goals that contradict
 * each other or cannot be met. */
int by_auto_goals_read(struct by_auto_goals *goals, const struct by_setting_texts *texts,
                       bool has_command, bool has_labels, struct by_arena *arena,
                       struct baryon_error *err);
bool by_auto_goal_is_met(const struct by_auto_goal *goal, double value);
/* What a value is for sure, with so much of a margin. */
double by_auto_goal_less(const struct by_auto_goal *goal, double value, double margin);
/* How far below the bound, as a share of it; 0: it is met. NaN counts as infinitely far. */
double by_auto_goal_lacks(const struct by_auto_goal *goal, double value);
/* Of all: values and margins have one for each; margins NULL: there are none. */
bool by_auto_goals_are_met(const struct by_auto_goals *goals, const double *values,
                           const double *margins);
double by_auto_goals_lack(const struct by_auto_goals *goals, const double *values,
                          const double *margins);
/* The goal that is SQNR in dB, NULL: there is none. */
const struct by_auto_goal *by_auto_goals_sqnr(const struct by_auto_goals *goals);

#endif
