/* Baryon: running a model. A part of <baryon.h>. */
#ifndef BARYON_RUN_H
#define BARYON_RUN_H

#include "model.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Run
 *
 * A session is a model made ready by ONNX Runtime, whose library is opened when the
 * first session is. It is looked for where options or the environment variable
 * BARYON_ONNXRUNTIME say (the library or its folder), then where building or
 * installing Baryon put it, then in the system's library path; version 1.17 or newer.
 *
 *  - A session needs nothing of what it was made from: bytes may be freed, and a
 *    model may be edited or freed. External data files must stay as they are.
 *  - Values are arrays in host memory, in C order and native byte order. Types under
 *    a byte are packed, the first element in the low bits. Strings are an array of
 *    const char *.
 *  - Inputs are read where they are, and may be freed after the run. What a run
 *    gives belongs to the run, which is freed before its session.
 *  - Several threads may run one session at once. Everything else is for one thread
 *    at a time, but for baryon_session_cancel().
 *
 * For example:
 *
 *     const int64_t dims[] = {1, 3};
 *     const float data[] = {1, 2, 3};
 *     const struct baryon_array x = {"x", 1, 2, dims, data, sizeof data};
 *     if (baryon_session_open(&session, "model.onnx", NULL, &err) ||
 *         baryon_session_run(session, &x, 1, NULL, 0, &run, &err))
 *         return -1;
 *     const struct baryon_array *y = baryon_run_output(run, 0);
 */
struct baryon_session;
struct baryon_run;

/* How far ONNX Runtime may rewrite the model before it runs. */
enum baryon_optimization {
    BARYON_OPTIMIZE_ALL = 0,
    BARYON_OPTIMIZE_NONE = 1,
    BARYON_OPTIMIZE_BASIC = 2,    /* what any hardware gains from */
    BARYON_OPTIMIZE_EXTENDED = 3, /* and fusions of nodes */
};

/* May be called from any thread, for as long as the session is open. */
typedef void baryon_log_fn(void *context, const char *text);

struct baryon_session_options {
    size_t size;
    const char *onnxruntime; /* its library, or the folder with it */
    unsigned threads;        /* inside a node; default: as many as the process may use */
    unsigned branches;       /* nodes that may run at once; default: 1 */
    enum baryon_optimization optimization;
    /*
     * Execution providers in order of preference, "cpu" by default; settings of the
     * provider's own may follow: "cuda:device_id=1". One that is not there is an error,
     * and so is a node that none of them takes: end the list with "cpu" for those.
     */
    const char *const *providers;
    size_t provider_count;
    const char *const *operator_libraries; /* with custom operators; their code is run */
    size_t operator_library_count;
    bool deterministic; /* only kernels that give the same bits in every run */
    bool low_memory;    /* give memory back after every run; slower */
    bool allow_links;   /* as in struct baryon_load_options */
    baryon_log_fn *log; /* for what ONNX Runtime has to say; default: nobody */
    void *log_context;
};

BARYON_API int baryon_session_open(struct baryon_session **session, const char *path,
                                   const struct baryon_session_options *options,
                                   struct baryon_error *err);
/* The same from memory, without external data. */
BARYON_API int baryon_session_open_bytes(struct baryon_session **session, const void *bytes,
                                         size_t size, const struct baryon_session_options *options,
                                         struct baryon_error *err);
/* A model as it is now, edits and all; of any size, and without a file. */
BARYON_API int baryon_session_open_model(struct baryon_session **session,
                                         struct baryon_model *model,
                                         const struct baryon_session_options *options,
                                         struct baryon_error *err);
BARYON_API void baryon_session_close(struct baryon_session *session);
/* The version of ONNX Runtime, "1.31.1". */
BARYON_API const char *baryon_session_runtime(const struct baryon_session *session);

/* An input or output. More members may follow in later versions. */
struct baryon_port {
    const char *name;
    const char *kind;           /* "tensor", "sequence", "map", "optional", ... */
    int type;                   /* of elements; 0 when it is no tensor */
    int rank;                   /* -1: any */
    const int64_t *dims;        /* -1 when it is not a number */
    const char *const *symbols; /* then its name, or NULL */
};

BARYON_API size_t baryon_session_input_count(const struct baryon_session *session);
BARYON_API const struct baryon_port *baryon_session_input(const struct baryon_session *session,
                                                          size_t place);
/* Inputs with a default value, which need not be given. */
BARYON_API size_t baryon_session_optional_count(const struct baryon_session *session);
BARYON_API const struct baryon_port *baryon_session_optional(const struct baryon_session *session,
                                                             size_t place);
BARYON_API size_t baryon_session_output_count(const struct baryon_session *session);
BARYON_API const struct baryon_port *baryon_session_output(const struct baryon_session *session,
                                                           size_t place);

struct baryon_array {
    const char *name;
    int type;
    int rank;
    const int64_t *dims; /* may be NULL when rank is 0 */
    const void *data;    /* may be NULL when size is 0 */
    size_t size;         /* of data, in bytes */
};

/*
 * Runs the model once. Inputs are matched by name; what is missing, unknown, or has
 * another type or shape than the model takes is refused, and so are inputs and
 * outputs that are no tensors. outputs are the names of those wanted, in that order;
 * NULL: all.
 */
BARYON_API int baryon_session_run(struct baryon_session *session, const struct baryon_array *inputs,
                                  size_t input_count, const char *const *outputs,
                                  size_t output_count, struct baryon_run **run,
                                  struct baryon_error *err);
BARYON_API size_t baryon_run_output_count(const struct baryon_run *run);
BARYON_API const struct baryon_array *baryon_run_output(const struct baryon_run *run, size_t place);
/* NULL when the run has no output of that name. */
BARYON_API const struct baryon_array *baryon_run_find_output(const struct baryon_run *run,
                                                             const char *name);
BARYON_API void baryon_run_free(struct baryon_run *run);

/* Runs in progress end after the node they are at, and no new ones begin: they fail with
 * BARYON_ERR_CANCELLED. May be called from another thread or a signal handler. */
BARYON_API void baryon_session_cancel(struct baryon_session *session);
/* Runs may begin again. */
BARYON_API void baryon_session_resume(struct baryon_session *session);

/*
 * Asks ONNX Runtime for the types and shapes that baryon_model_infer(), which comes
 * first, did not find: by opening the model, and unless inputs is NULL by running
 * that sample. Sizes that another sample could change stay unknown.
 */
BARYON_API int baryon_model_trace(struct baryon_model *model, const struct baryon_array *inputs,
                                  size_t input_count, const struct baryon_session_options *options,
                                  struct baryon_error *err);

#ifdef __cplusplus
}
#endif

#endif
