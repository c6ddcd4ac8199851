/*
 * A model ready to run. Values are plain host tensors in our own element types;
 * inputs and outputs go by name.
 *
 * Several threads may run one session at once; they share its threads. Opening and
 * closing is for one thread alone.
 */
#ifndef BY_SESSION_H
#define BY_SESSION_H

#include "array/array.h"
#include "base/log.h"
#include "ir/tensor.h"

/* All zero but for optimization is fine. */
struct by_session_options {
    const char *ort_path; /* NULL: by_ort_open's search */
    unsigned threads;     /* inside a node; 0: as many as the process may use */
    unsigned branches;    /* nodes at once; 0 and 1: one after the other */
    /* Work inside a node is cut as for so many threads, whatever number there is, so that results
     * do not depend on it; at most so many work. 0: as many as there are. */
    unsigned cuts;
    int optimization;             /* 0 none, 1 basic, 2 extended, 99 all; -1: all */
    const char *const *providers; /* in order of preference, see by_provider_at() */
    size_t provider_count;        /* 0: cpu */
    /* Custom-operator libraries; their code is run. None: ours, where a model imports the domains
     * of Quark's operators and the library is there (ops_find.h). */
    const char *const *op_libraries;
    size_t op_library_count;
    bool deterministic;
    /* Pairs of QuantizeLinear and DequantizeLinear are computed as they stand, not by integer
     * kernels, whose sums saturate on x86 processors without VNNI. */
    bool as_written;
    bool low_memory;          /* gives memory back after every run; slower */
    bool shares_memory;       /* of runs and weights, with all sessions that do */
    bool few_runs;            /* weights stay as they lie: opens sooner, each run takes longer */
    bool allow_links;         /* external data may be links (package caches) */
    const struct by_log *log; /* may be NULL; lives as long, called from any thread */
};

struct by_session;
struct by_ort;

/* Dimension of an input or output: -1 with a symbol ("" when it has none) or a size. */
struct by_port {
    const char *name;
    int64_t elem;     /* enum by_elem; 0 when it is not a tensor */
    const char *kind; /* "tensor", "sequence", "map", "optional", "sparse tensor", "opaque" */
    bool any_rank;    /* the model leaves it open; rank is 0 */
    size_t rank;
    const int64_t *dims;
    const char *const *symbols;
};

/*
 * The file is read and checked as by_model_load() does it, external data included,
 * before ONNX Runtime opens it.
 */
int by_session_open(struct by_session **session, const char *path,
                    const struct by_session_options *options, struct baryon_error *err);
/* bytes need not outlive the call; external data is refused. */
int by_session_open_bytes(struct by_session **session, const void *bytes, size_t size,
                          const struct by_session_options *options, struct baryon_error *err);
/*
 * The model as it is now, of any size; nothing is written to disk. It is linked, if it
 * was not, and may be edited and freed afterwards. Payloads of initializers of the main graph from
 * lend_min bytes on (0: 1 MiB; at least 1 KiB) are handed over as they lie in memory.
 */
int by_session_open_model(struct by_session **session, struct baryon_model *model, size_t lend_min,
                          const struct by_session_options *options, struct baryon_error *err);
void by_session_close(struct by_session *session);

/* What a run needs. */
const struct by_port *by_session_inputs(const struct by_session *session, size_t *count);
/* What a run may be given besides: inputs with a default value. */
const struct by_port *by_session_optional_inputs(const struct by_session *session, size_t *count);
const struct by_port *by_session_outputs(const struct by_session *session, size_t *count);
/* The outputs of these names, each of which there has to be; none: all. They live in the session,
 * the list in the arena. */
int by_session_choose_outputs(const struct by_session *session, const char *const *wanted,
                              size_t wanted_count, struct by_arena *arena, const char ***names,
                              size_t *count, struct baryon_error *err);
const struct by_ort *by_session_ort(const struct by_session *session);

struct by_run; /* the outputs of one run */

/*
 * Inputs are the caller's and not copied, except strings and data that is not aligned for its
 * type; outputs belong to the run that gave them.
 *
 * Inputs by name: missing, unknown or of a wrong type or shape are refused with
 * both sides named. outputs NULL: all of them, else those, in that order. Inputs and
 * outputs that are not tensors are refused. The result is freed with by_run_free(),
 * before the session is closed.
 */
int by_session_run(struct by_session *session, const struct by_array *inputs, size_t input_count,
                   const char *const *outputs, size_t output_count, struct by_run **run,
                   struct baryon_error *err);
const struct by_array *by_run_outputs(const struct by_run *run, size_t *count);
void by_run_free(struct by_run *run);

/*
 * Safe from another thread or a signal handler: runs in progress end early, later
 * ones do not begin; all of them fail with BARYON_ERR_CANCELLED. A run is left
 * between two nodes, so it may take as long as its slowest node.
 */
void by_session_cancel(struct by_session *session);
/* Runs may begin again. */
void by_session_resume(struct by_session *session);

/*
 * Execution providers: one row each in provider.c. In options a name may be followed
 * by settings of the provider's own, "cuda:device_id=1:do_copy=0". Nodes that none of
 * those given takes are an error unless "cpu" is one of them.
 */
struct by_provider {
    const char *name, *full; /* "cuda", "CUDAExecutionProvider" */
    const char *help;
};

const struct by_provider *by_provider_at(size_t index); /* NULL after the last */
/* The names of those that the library has, joined by ", ". */
int by_providers_available(const struct by_ort *ort, char *buf, size_t size,
                           struct baryon_error *err);

#endif
