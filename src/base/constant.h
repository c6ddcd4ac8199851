/*
 * Bytes that do not change, one copy for all that have the same: models, and sessions, which ONNX
 * Runtime would give a copy of its own each. Any thread may take and leave.
 */
#ifndef BY_CONSTANT_H
#define BY_CONSTANT_H

#include "base/mem.h"

struct by_constant;

struct by_constants {
    const struct by_constant **at;
    size_t count, cap;
};

/* Of one byte or more: a copy that stays until all that took it have left it. */
int by_constant_take(const struct by_constant **constant, const void *bytes, size_t size,
                     struct baryon_error *err);
const void *by_constant_bytes(const struct by_constant *constant);
/* NULL: nothing. */
void by_constant_leave(const struct by_constant *constant);

#endif
