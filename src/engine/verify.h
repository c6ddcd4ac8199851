/*
 * Opens a model that was written once in ONNX Runtime, as its users are going to, so that "done"
 * means that it loads.
 */
#ifndef BY_VERIFY_H
#define BY_VERIFY_H

#include "engine/session.h"

struct by_verify {
    const char *path;           /* of the written model */
    const char *before;         /* the model that it was made from; NULL: it ran */
    struct baryon_model *model; /* the written model, for its size */
    uint64_t bytes; /* of the written model and its data: big ones are left out, sooner where
                       nothing ran */
    struct by_session_options session; /* library and operators; the rest is set here */
    struct by_session **keep; /* the session, where it could be opened; NULL: it is closed */
};

/*
 * Fails where ONNX Runtime refuses the written model and opens `before`. A model that only opens
 * with optimizations disabled is a warning. Does nothing without ONNX Runtime.
 */
int by_verify_written(const struct by_verify *verify, const struct by_log *log,
                      struct baryon_error *err);

#endif
