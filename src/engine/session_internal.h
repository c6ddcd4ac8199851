/*
 * What the files of the session share.
 */
#ifndef BY_SESSION_INTERNAL_H
#define BY_SESSION_INTERNAL_H

#include "base/map.h"
#include "engine/crew.h"
#include "engine/session.h"

#include <stdatomic.h>

struct by_ports {
    struct by_port *at;
    size_t count;
    struct by_map by_name; /* name -> struct by_port */
};

#define BY_OWN_DOMAINS 4  /* pairs; constants; products; taps */
#define BY_SAID_MOST   16 /* messages of the runtime; further ones are dropped */

/* Read by the session where it lies. */
struct by_kept_constant {
    const struct by_constant *constant;
    OrtValue *value;
};

struct by_kept_constants {
    struct by_kept_constant *at;
    size_t count, cap;
};

struct by_session {
    const struct by_ort *ort;
    OrtSession *handle;
    OrtRunOptions *run_options; /* one for all runs: cancelling is for all */
    OrtMemoryInfo *memory;      /* plain host memory */
    struct by_crew *crew;       /* its threads, when their number must not matter; else NULL */
    struct by_arena arena;      /* names and dimensions of ports */
    struct by_kept_constants constants;
    struct by_ports inputs, optional_inputs, outputs;
    atomic_bool cancelled;
    bool shares_memory;
    struct by_log log;                          /* a copy */
    _Atomic uint64_t said[BY_SAID_MOST];        /* hashes of what the runtime has said; 0: none */
    OrtCustomOpDomain *own_ops[BY_OWN_DOMAINS]; /* of ours; NULL at the end; go after the handle */
    uint64_t brings;                            /* operators, for by_opening_begin() */
};

/* --- session.c --- */

/* A domain of operators of ours, which live as long as the session. */
int by_session_add_ops(struct by_session *session, OrtSessionOptions *built, const char *domain,
                       const OrtCustomOp *const *ops, size_t count, struct baryon_error *err);

/* Has a last word on how the model is opened. */
typedef int by_session_extend_fn(void *context, struct by_session *session,
                                 OrtSessionOptions *built, struct baryon_error *err);

/* by_session_open_model() with such a word. */
int by_session_open_extended(struct by_session **session, struct baryon_model *model,
                             size_t lend_min, const struct by_session_options *options,
                             by_session_extend_fn *extend, void *context, struct baryon_error *err);

/* --- session_options.c --- */

/* What has to be known of the model. */
struct by_session_needs {
    bool dynamic; /* an input has a dimension that is not a number */
    bool ops;     /* it imports the domains of Quark's operators */
};

/* Released by the caller, also when it fails. */
int by_session_options_build(struct by_session *session, const struct by_session_options *options,
                             const struct by_session_needs *needs, OrtSessionOptions **out,
                             struct baryon_error *err);

/* --- provider.c --- */

int by_providers_append(const struct by_ort *ort, OrtSessionOptions *built,
                        const struct by_session_options *options, struct baryon_error *err);

/* --- ports.c --- */

/* model: the one that the session runs. */
int by_ports_read(struct by_session *session, const struct baryon_model *model,
                  struct baryon_error *err);
void by_ports_release(struct by_session *session);

/* --- run_value.c --- */

/* The array as a value of ONNX Runtime; scratch lives as long as the value. */
int by_value_wrap(const struct by_session *session, const struct by_array *array,
                  struct by_arena *scratch, OrtValue **value, struct baryon_error *err);
/* A view of a tensor, but for array->name; what has to be copied goes to the arena. */
int by_value_unwrap(const struct by_ort *ort, OrtValue *value, struct by_arena *arena,
                    struct by_array *array, struct baryon_error *err);

/* --- run_check.c --- */

/* The inputs are all that the model needs, each once, and fit. */
int by_run_check_inputs(const struct by_session *session, const struct by_array *inputs,
                        size_t count, struct baryon_error *err);
/* The port of an output that can be had. */
const struct by_port *by_run_find_output(const struct by_session *session, const char *name,
                                         struct baryon_error *err);

/* --- lend.c --- */

/* A weight of a product or a recurrent layer: the runtime reads it where it lies, if it is told to
 * leave weights as they are. */
struct by_use;
bool by_use_is_factor(const struct by_use *use);

struct by_lent;

/* Writes the model without the payloads that it lends; by_lent_free() when the session is made. */
int by_model_lend(struct by_lent **lent, struct by_session *session, struct baryon_model *model,
                  size_t lend_min, const struct by_session_options *options,
                  struct baryon_error *err);
int by_lent_add(const struct by_lent *lent, OrtSessionOptions *built, struct baryon_error *err);
const void *by_lent_bytes(const struct by_lent *lent, size_t *size);
void by_lent_free(struct by_lent *lent);

#endif
