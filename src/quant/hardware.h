/* What a quantized model has to keep for a target: one row each in hardware.c. */
#ifndef BY_HARDWARE_H
#define BY_HARDWARE_H

#include "base/str.h"
#include "ir/graph.h"

struct by_hardware_target {
    const char *name; /* "xint8" */
    const char *help;
    bool symmetric_int8; /* signed 8 bits, zero point 0; unsigned with 128 is the same */
    bool pow2;           /* one scale a tensor, a power of two */
    bool float_nodes;    /* may have parts that stay float */
};

const struct by_hardware_target *by_hardware_targets(size_t *count);
const struct by_hardware_target *by_hardware_target_find(const char *name); /* NULL */
/* What a model (linked, inferred) breaks of it: a line each, PLACE<tab>WHAT. */
int by_hardware_check(struct baryon_model *model, const struct by_hardware_target *target,
                      struct by_str *broken, size_t *count, struct baryon_error *err);

#endif
