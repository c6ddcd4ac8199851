/*
 * A model ready to run. Values are plain host tensors in our own element types;
 * inputs and outputs go by name.
 */
#ifndef BY_SESSION_H
#define BY_SESSION_H

#include "engine/ort.h"
#include "ir/tensor.h"

struct by_session_options {
    const char *ort_path;      /* NULL: by_ort_open's search */
    unsigned threads;          /* 0: all */
    int optimization;          /* 0 none, 1 basic, 2 extended, 99 all; -1: all */
    const char *const *providers; /* "cpu", "cuda", ... in order of preference */
    size_t provider_count;     /* 0: cpu */
    const char *const *op_libraries; /* custom-operator libraries */
    size_t op_library_count;
    bool deterministic;
};

struct by_session;

/* Dimension of an input or output: -1 with a symbol ("" when it has none) or a size. */
struct by_port {
    const char *name;
    int64_t elem;      /* enum by_elem; 0 when it is not a tensor */
    const char *kind;  /* "tensor", "sequence", "map", "optional" */
    size_t rank;
    const int64_t *dims;
    const char *const *symbols;
};

int by_session_open(struct by_session **session, const char *path,
                    const struct by_session_options *options, struct baryon_error *err);
/* bytes need not outlive the call. */
int by_session_open_bytes(struct by_session **session, const void *bytes, size_t size,
                          const struct by_session_options *options, struct baryon_error *err);
void by_session_close(struct by_session *session);

const struct by_port *by_session_inputs(const struct by_session *session, size_t *count);
const struct by_port *by_session_outputs(const struct by_session *session, size_t *count);
const struct by_ort *by_session_ort(const struct by_session *session);

/*
 * A tensor on the host. As an input, everything is the caller's. As an output,
 * `data` and `dims` belong to the run that gave it. Strings: data is an array of
 * const char *, size counts the pointers.
 */
struct by_array {
    const char *name;
    int64_t elem;
    size_t rank;
    int64_t dims[16];
    const void *data;
    size_t size; /* bytes */
};

struct by_run; /* the outputs of one run */

/*
 * Inputs by name: missing, unknown or of a wrong type or rank are refused with
 * both sides named. outputs NULL: all of them. The result is freed with
 * by_run_free().
 */
int by_session_run(struct by_session *session, const struct by_array *inputs, size_t input_count,
                   const char *const *outputs, size_t output_count, struct by_run **run,
                   struct baryon_error *err);
const struct by_array *by_run_outputs(const struct by_run *run, size_t *count);
void by_run_free(struct by_run *run);
/* Safe from another thread or a signal handler: the run in progress ends early. */
void by_session_cancel(struct by_session *session);

#endif
