/*
 * ONNX Runtime, opened at run time.
 *
 * Looked for, in this order:
 *  - the path given, a library or the folder it is in;
 *  - $BARYON_ONNXRUNTIME, the same;
 *  - baryon/ and ../lib/baryon/ beside the library or program that this code is in,
 *    where `make install` puts it;
 *  - the folders set at build time;
 *  - libonnxruntime.so.1 and libonnxruntime.so in the system's library path.
 * What is named must work; the search goes on only where there is nothing. A library
 * that is older than the API we need is refused with both versions.
 *
 * Opening the same library again gives the same handle. It stays loaded until the
 * process ends, because its threads and destructors do not survive being unloaded.
 */
#ifndef BY_ORT_H
#define BY_ORT_H

#include "base/log.h"
#include "base/mem.h"

#include <onnxruntime_c_api.h>

struct by_ort {
    const OrtApi *api;
    OrtEnv *env;
    const char *version; /* of the library, "1.31.1" */
    const char *path;    /* where it was found */
    int minor;           /* 31; more than any when the version is of another form */
};

/* Safe from several threads. path may be NULL. */
int by_ort_open(const struct by_ort **ort, const char *path, struct baryon_error *err);
void by_ort_close(const struct by_ort *ort);

/*
 * Memory that sessions share: what one frees another takes, so that several in turn hold as much as
 * the largest. It goes back with the last of them. Where the process has made an arena for
 * all sessions itself, that one is shared.
 */
int by_ort_share_memory(const struct by_ort *ort, struct baryon_error *err);
void by_ort_unshare_memory(const struct by_ort *ort);

/*
 * Takes the status over: 0 when NULL, else -1 with "ONNX Runtime cannot DOING: its
 * message" in err, the message in one line and without places in its source.
 */
int by_ort_status(const struct by_ort *ort, OrtStatus *status, const char *doing,
                  struct baryon_error *err);
/* Text of ONNX Runtime in one line, fit for people; cut to size (at least 4). Returns buf. */
const char *by_ort_text(const char *text, char *buf, size_t size);

/* Numbers of element types agree up to int4 only. */
enum ONNXTensorElementDataType by_ort_elem(int64_t elem);
int64_t by_ort_elem_back(enum ONNXTensorElementDataType type);

#endif
