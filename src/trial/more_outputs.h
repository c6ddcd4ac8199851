/*
 * Values of a model that a session gives after its outputs.
 */
#ifndef BY_TRIAL_MORE_OUTPUTS_H
#define BY_TRIAL_MORE_OUTPUTS_H

#include "engine/session.h"
#include "ir/graph.h"

/* The graph has these as further outputs, after its own, until they are hidden again: to open a
 * session. Whatever comes out, by_more_outputs_hide() goes with it. */
struct by_more_outputs {
    struct baryon_graph *graph;
    struct by_ptrs own;
    struct by_arena arena;
};

int by_more_outputs_show(struct baryon_model *model, struct baryon_value *const *values,
                         size_t count, struct by_more_outputs *shown, struct baryon_error *err);
void by_more_outputs_hide(struct by_more_outputs *shown);
/* A session that gives these values after the outputs. */
int by_more_outputs_session(struct by_session **session, struct baryon_model *model,
                            struct baryon_value *const *values, size_t count,
                            const struct by_session_options *options, struct baryon_error *err);

#endif
