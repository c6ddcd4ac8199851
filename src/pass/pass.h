/*
 * Passes: rewrites of the float graph that make it easier to quantize and keep what it computes.
 * One file and one row in passes.c each; the order of rows is the order they run in.
 *
 * Names. Users speak of the nodes of their own model. by_origins remembers, for every node
 * there is, which of the user's nodes it came from; by_passes_run() keeps it by itself: a node
 * that a pass made or widened has the origins of those whose outputs' names it gives and of those
 * that vanished before it (the 256 nearest). What a pass put before a node has that node's.
 * Constants are nobody's origin. So passes keep the names of values that live on.
 */
#ifndef BY_PASS_H
#define BY_PASS_H

#include "base/log.h"
#include "engine/session.h"
#include "ir/infer.h"

struct by_origins;
struct by_retype_options;

/* Every node of the model is its own origin. */
int by_origins_open(struct by_origins **origins, struct baryon_model *model,
                    struct baryon_error *err);
/* Of a copy of the model: nodes are their own origins, and have those that the original's nodes
 * have at the same places. The user's names live as long as `from`. */
int by_origins_copy(struct by_origins **origins, const struct by_origins *from,
                    struct baryon_model *copy, struct baryon_error *err);
void by_origins_close(struct by_origins *origins);
/* Index of the user's nodes a node came from, into by_origins_user(). */
const size_t *by_origins_of(const struct by_origins *origins, const struct baryon_node *node,
                            size_t *count);
/* The user's nodes as they were, for patterns. */
struct by_user_node {
    const char *name, *op_type; /* name "" when it had none */
    const char *output;         /* its first output */
    bool excluded;              /* stays float */
    const char *why;            /* of excluded */
    uint64_t spans;             /* bit i: it lies in the span of the i-th rule that has one */
};
struct by_user_node *by_origins_user(struct by_origins *origins, size_t *count);
/* The reason why a node stays float by what it came from; NULL: it need not. */
const char *by_origins_excluded(const struct by_origins *origins, const struct baryon_node *node);
/* The spans of all nodes that it came from. */
uint64_t by_origins_spans(const struct by_origins *origins, const struct baryon_node *node);
/* Around everything that edits the model: what there is, and what became of it. A failed edit
 * needs no by_origins_after(). */
int by_origins_before(struct by_origins *origins, struct baryon_error *err);
int by_origins_after(struct by_origins *origins, struct baryon_error *err);

/* Nodes on a path from a start to an end; without starts all before the ends, without ends all
 * after the starts. Names of the user's nodes. */
struct by_pass_region {
    const char *const *starts, *const *ends;
    size_t start_count, end_count;
};

struct by_pass_context {
    struct baryon_model *model; /* linked, settled */
    struct by_origins *origins;
    const struct by_log *log;                 /* may be NULL */
    const struct by_session_options *session; /* for folding by the runtime */
    int64_t opset;                            /* to convert to, 0: none */
    size_t changes;                           /* what the pass counts */
    size_t total;                             /* of all passes that ran */
    bool compat;                              /* the peer's formula where it differs */
    /* Called before the first pass that simulates, with the model that passes have left exact so
     * far. NULL: not asked for. */
    int (*exact)(void *context, struct baryon_error *err);
    void *exact_context;

    /* --- What single passes are told --- */
    const char *fix_shapes;                  /* "NAME:[1,3,224,224];..."; NULL: none */
    struct by_names nhwc;                    /* inputs; none: all with four axes */
    struct by_names copy_for, copy_bias_for; /* operators; none: all, and those with a bias */
    const struct by_retype_options *retype;  /* of fp16-to-fp32 and its like; NULL: all */
};

/* True when two nodes may become one: both or none of them are excluded. */
bool by_pass_may_join(const struct by_pass_context *context, const struct baryon_node *one,
                      const struct baryon_node *other);
/* A constant's elements as float, into the arena; NULL without an error when it is none. */
int by_pass_constant(const struct by_pass_context *context, const struct baryon_value *value,
                     struct by_arena *arena, float **values, size_t *count,
                     struct baryon_error *err);

struct by_pass {
    const char *name;  /* "fold-batch-norm" */
    const char *alias; /* the peer's option, "FoldBatchNorm"; NULL: none */
    const char *help;  /* one sentence, no full stop */
    /* On by default; _NPU: for NPUs; _DPU: where the arithmetic of DPUs is simulated. */
    enum { BY_PASS_ON, BY_PASS_OFF, BY_PASS_NPU, BY_PASS_DPU } fallback;
    bool exact;     /* outputs stay the same but for rounding */
    bool simulates; /* other outputs are what it is for: those of hardware */
    bool shapes;    /* reads types or shapes: they are found anew before it where needed */
    /* What it changes may be work for those beside it: neighbours in the list that say so run
     * in turn until none of them changes anything, eight times at most. */
    bool again;
    int (*run)(struct by_pass_context *context, struct baryon_error *err);
};

const struct by_pass *const *by_passes(size_t *count);
const struct by_pass *by_pass_find(const char *name); /* name or alias; NULL */
/* Whether the pass of that name, or alias, is to run; an unknown one is an error with the nearest
 * name. */
int by_pass_switch(bool *on, const char *name, bool to, struct baryon_error *err);

/* What the fallbacks say; the caller changes it where the user does. */
void by_passes_defaults(bool *on, bool npu, bool dpu);
/* Runs those with on[i], in order, and says what each changed; what nothing reads any more after
 * a change is removed; dump_folder (may be NULL) gets the
 * model after each that changed something, "03-fold-batch-norm.onnx". Types and shapes are known
 * afterwards. */
int by_passes_run(struct by_pass_context *context, const bool *on, const char *dump_folder,
                  struct baryon_error *err);

#endif
