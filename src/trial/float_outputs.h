/*
 * What a model is measured by: its outputs of float types, but for those that others stand for, and
 * these, in parts where results of different kinds are joined.
 */
#ifndef BY_TRIAL_FLOAT_OUTPUTS_H
#define BY_TRIAL_FLOAT_OUTPUTS_H

#include "engine/session.h"
#include "trial/joined.h"
#include "trial/selects.h"

struct by_float_outputs {
    size_t count;          /* 0: nothing can be measured */
    size_t selected_count; /* of the last ones: values that stand for outputs */
    const char **names;
    struct by_joined *joined; /* their parts */
    size_t part_count;
    const char **parts; /* names of all parts */
};

/* session: of the graph, with what it selects outputs from after its own outputs. */
int by_float_outputs_choose(struct by_float_outputs *outputs, const struct by_session *session,
                            const struct baryon_graph *graph, const struct by_selects *selects,
                            struct by_arena *arena, struct baryon_error *err);

#endif
