/* Declares what the files that resolve excluded nodes share. */
#ifndef BY_EXCLUDE_INTERNAL_H
#define BY_EXCLUDE_INTERNAL_H

#include "quant/place.h"

/* The user's nodes while exclusions are resolved; [i] is user node i. */
struct by_exclusion {
    const struct by_recipe *recipe;
    struct baryon_model *model;
    struct by_origins *origins;
    const struct by_log *log;
    struct by_user_node *users;
    struct baryon_node **nodes;
    size_t count;
    bool *marks;            /* by node->index of the main graph, scratch */
    struct by_arena *arena; /* of the model, for reasons */
};

/* The name that a user calls a node by: of one without, that of its first output. */
const char *by_exclude_name(const struct by_user_node *user);
void by_exclude_mark(struct by_exclusion *exclusion, size_t user, const char *why);
const char *by_exclude_text(struct by_exclusion *exclusion, struct baryon_error *err,
                            const char *format, ...) BARYON_PRINTF(3, 4);
/* Nodes of the main graph that the patterns pick, each at least one; by_free() *found. With
 * `tensors` a name may also be that of an output, and means the node that gives it. */
int by_exclude_find(struct by_exclusion *exclusion, const struct by_pattern *patterns, size_t count,
                    bool tensors, struct baryon_node ***found, size_t *found_count,
                    struct baryon_error *err);

/* A pattern that picks none of the nodes is refused, with the nearest name. */
int by_exclude_check_node(struct by_exclusion *exclusion, const struct by_pattern *pattern,
                          struct baryon_error *err);
/* --- exclude_unknown.c: operators and nodes that no model has, or not this one --- */
int by_exclude_unknown(struct by_exclusion *exclusion, struct baryon_error *err);
/* --- exclude_span.c: what lies between, before or after nodes --- */
int by_exclude_spans(struct by_exclusion *exclusion, struct baryon_error *err);
int by_exclude_rules(struct by_exclusion *exclusion, struct baryon_error *err);
int by_exclude_ends(struct by_exclusion *exclusion, struct baryon_error *err);

#endif
