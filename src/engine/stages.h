/*
 * A model run piece by piece, all samples side by side: what lies between two pieces waits in a
 * depot. A piece is the nodes that a value needs and that did not run yet; its session is made of
 * the model as it is at that moment. So constants of nodes that did not run may change, which is
 * what a solver does that goes from layer to layer.
 *
 * Each node runs once for each sample, but DequantizeLinear and nodes that read constants alone:
 * they run wherever they are needed, so that values wait as the integers they are. Values stay as
 * long as a node that did not run reads them, or they are wanted.
 */
#ifndef BY_STAGES_H
#define BY_STAGES_H

#include "base/par.h"
#include "engine/parked.h"
#include "engine/session.h"
#include "ir/graph.h"

struct by_stages;

struct by_stages_options {
    struct by_session_options session; /* it gets one thread, samples run side by side */
    struct by_pool *pool;              /* NULL: one sample after the other */
    struct by_depot *depot;            /* where values wait, and the inputs */
    bool outputs_wait;                 /* outputs of the graph do, to be in a rest */
};

/* inputs[i]: those of sample i, by name; they stay the caller's and have to live as long. The
 * model is linked and settled, and nodes neither come nor go. */
int by_stages_open(struct by_stages **stages, struct baryon_model *model,
                   const struct by_parked *const *inputs, size_t input_count, size_t samples,
                   const struct by_stages_options *options, struct baryon_error *err);
void by_stages_close(struct by_stages *stages);

/* Runs what the values need. They are wanted from now on. Values of the main graph, no constants;
 * once let go, one cannot be reached again. */
int by_stages_reach(struct by_stages *stages, struct baryon_value *const *values, size_t count,
                    struct baryon_error *err);
/* Whether the value waits: it is wanted, or some node is to read it. */
bool by_stages_has(const struct by_stages *stages, const struct baryon_value *value);
/* Whether a piece or a rest can still give it. */
bool by_stages_may_reach(const struct by_stages *stages, const struct baryon_value *value);
/* What a value that waits is in a sample; as long as it does, and the room is not used again. */
int by_stages_look(const struct by_stages *stages, const struct baryon_value *value, size_t sample,
                   struct by_unpark_room *room, struct by_array *array, struct baryon_error *err);
/* It is wanted no longer. */
void by_stages_let_go(struct by_stages *stages, const struct baryon_value *value);

/* Everything that is still to run for values, as one session, to be run again and again: of what
 * waits nothing changes by that. Gives them in their order; what is a constant is left empty. The
 * values have to be there as long as the rest, and no other piece may run in between. */
struct by_stages_rest;
typedef int by_stages_seen_fn(void *context, size_t sample, const struct by_array *values,
                              size_t count, struct baryon_error *err);
int by_stages_rest_open(struct by_stages_rest **rest, const struct by_stages *stages,
                        struct baryon_value *const *values, size_t count, struct baryon_error *err);
/* Of several samples at once, each by another worker of the pool. */
int by_stages_rest_run(const struct by_stages_rest *rest, size_t sample, unsigned worker,
                       by_stages_seen_fn *seen, void *context, struct baryon_error *err);
void by_stages_rest_close(struct by_stages_rest *rest);

/* Bytes of all that waits, in memory or not. */
uint64_t by_stages_bytes(const struct by_stages *stages);

#endif
