/*
 * ONNX Runtime, opened at run time.
 *
 * Looked for, in this order: the path given, $BARYON_ONNXRUNTIME, the folder set
 * at build time, the system's library path. The API version we need is asked for;
 * older libraries are refused with what was found. One handle a process is enough:
 * by_ort_open() counts.
 */
#ifndef BY_ORT_H
#define BY_ORT_H

#include "base/mem.h"

#include <onnxruntime_c_api.h>

struct by_ort {
    const OrtApi *api;
    OrtEnv *env;
    const char *version; /* of the library, "1.31.1" */
    const char *path;    /* where it was found */
};

int by_ort_open(const struct by_ort **ort, const char *path, struct baryon_error *err);
void by_ort_close(const struct by_ort *ort);
/* Takes the status over: 0 when NULL, else -1 with its message in err. */
int by_ort_status(const struct by_ort *ort, OrtStatus *status, const char *doing,
                  struct baryon_error *err);

#endif
