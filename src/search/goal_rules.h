/*
 * Rules that let a quantization reach an SQNR: wider types of single tensors and weights where
 * these are integers, and layers that stay float.
 */
#ifndef BY_GOAL_RULES_H
#define BY_GOAL_RULES_H

#include "base/map.h"
#include "search/decision.h"

struct by_goal_rules {
    double wanted, before, sqnr; /* dB on the samples that judge: goal, plan, and with the rules */
    bool met;
    size_t tensors, weights, layers; /* wider tensors, wider weights, float layers */
    double wide_share;               /* of multiply-adds in more than 8 bits */
    struct by_str yaml;              /* to be released */
};

/* "sqnr>=20". */
int by_goal_rules_read(const char *text, double *wanted, struct baryon_error *err);
/* Names of the tensors that a model has, which rules may speak of: before passes change it. */
int by_goal_rules_names(struct by_map *names, const struct baryon_model *model,
                        struct baryon_error *err);
/* q, judge: as by_decisions_open() has them. Whatever the result, by_goal_rules_release() is
 * required. */
int by_goal_rules_find(struct by_goal_rules *rules, struct by_quantization *q,
                       const struct by_judge *judge, double wanted,
                       const struct by_decide_options *options, struct baryon_error *err);
void by_goal_rules_release(struct by_goal_rules *rules);

#endif
