/*
 * What the files stages*.c share.
 *
 *   stages_find.c   which nodes a piece has, what it reads and what it gives
 *   stages_cut.c    a session of those nodes
 *   stages.c        runs it, and keeps what waits
 *   stages_rest.c   runs all that is left, which changes nothing
 */
#ifndef BY_STAGES_INTERNAL_H
#define BY_STAGES_INTERNAL_H

#include "engine/stages.h"

struct by_held {
    struct by_parked *parked; /* by sample; NULL: it is not there */
    bool wanted;
    bool given; /* an input: it waits for the caller */
};

struct by_stages {
    struct by_stages_options options;
    struct baryon_model *model;
    size_t samples;
    struct by_held *held; /* by value->index */
    size_t value_count;   /* values made later are constants */
    bool *done;           /* by node->index */
    size_t node_count;
    uint64_t bytes;
};

struct by_value_list {
    struct baryon_value **at;
    size_t count, cap;
};

/* A piece. */
struct by_stage {
    struct by_arena arena;
    bool *needed;                                    /* by node->index */
    bool *seen;                                      /* values, by value->index */
    struct by_value_list inputs, constants, outputs; /* each value once */
};

/* What a worker reads; one a value that the piece reads. */
struct by_stage_reading {
    struct by_array *inputs;
    struct by_unpark_room *rooms;
};

/* Runs wherever it is needed. */
bool by_stage_is_free(const struct baryon_node *node);
/* Some node that did not run reads it. needed: those are as good as done; NULL: none. */
bool by_stage_is_awaited(const struct by_stages *stages, const bool *needed,
                         const struct baryon_value *value);
/* The stage has memory of its arena alone. */
int by_stage_find(struct by_stage *stage, const struct by_stages *stages,
                  struct baryon_value *const *values, size_t count, struct baryon_error *err);
int by_stage_open(struct by_session **session, const struct by_stage *stage,
                  const struct by_stages *stages, struct baryon_error *err);

/* By worker, in the stage's arena. */
int by_stage_readings_open(struct by_stage_reading **readings, const struct by_stages *stages,
                           struct by_stage *stage, struct baryon_error *err);
void by_stage_readings_close(struct by_stage_reading *readings, const struct by_stages *stages,
                             const struct by_stage *stage);
/* names: of the stage's outputs. */
int by_stage_run(const struct by_stages *stages, const struct by_stage *stage,
                 struct by_session *session, const char *const *names, size_t sample,
                 const struct by_stage_reading *reading, struct by_run **run,
                 struct baryon_error *err);

#endif
