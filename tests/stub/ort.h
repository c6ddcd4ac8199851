/*
 * An ONNX Runtime for tests. It hands every call on to a real library, except for
 * what the plan says: another version, other execution providers, and one call that
 * fails. A test opens build/tests/stub/ort.so by itself, finds `stub_plan` in it, and
 * then lets the engine open the same file.
 */
#ifndef STUB_ORT_H
#define STUB_ORT_H

#include <onnxruntime_c_api.h>

struct stub_plan {
    const char *real;         /* path of a real library; must be set */
    const char *version;      /* NULL: the real one's */
    bool no_api;              /* GetApi() knows no version */
    unsigned fail_at;         /* the k-th call that can fail does; 0: none */
    const char *fail_name;    /* and every call of this function; NULL: none */
    OrtErrorCode code;        /* of the failure */
    const char *message;      /* NULL: "the stub fails in " and the function's name */
    const char *const *extra; /* providers that it has besides "CPUExecutionProvider" */
    size_t extra_count;

    unsigned calls;     /* that could have failed so far */
    unsigned asked_api; /* calls of GetApi() */
    int statuses;       /* handed out and not released */
    char failed[64];    /* name of the function that failed last */
    char appended[256]; /* "NAME(key=value)" of each provider that was appended */
    char set[512];      /* "NAME(value) " of each option of a session that was set */
};

#endif
