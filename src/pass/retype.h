/*
 * Floats of a model in another type: of all of it, or of the nodes that are asked for. Each value
 * that crosses gets one Cast, whoever reads it, and none where a Cast already stands that the old
 * or the new type comes from. Nested graphs are part of it, their inputs and outputs have the type
 * that the node around them has.
 *
 * What becomes float16 or bfloat16 leaves in float32: operators that ONNX has no such form of in
 * the model's opset, what quantizes (its scales are too small for 16 bits), and what computes with
 * whole numbers, which 16 bits hold exactly only up to 2048 or 256.
 */
#ifndef BY_RETYPE_H
#define BY_RETYPE_H

#include "pass/pass.h"

enum by_kept_why {
    BY_KEPT_ASKED,   /* excluded */
    BY_KEPT_OPSET,   /* a newer opset has the form */
    BY_KEPT_NEVER,   /* no opset has it */
    BY_KEPT_UNKNOWN, /* not an operator of ONNX's own */
    BY_KEPT_TYPES,   /* types around it are not known, or are sequences and such */
    BY_KEPT_SCALES,
    BY_KEPT_COUNTS,
    BY_KEPT_BITS,
};

struct by_kept {
    const char *op_type;
    enum by_kept_why why;
    int64_t to, opset; /* opset: of BY_KEPT_OPSET */
    size_t count;
};

struct by_retype_report {
    struct by_arena *arena; /* of kept */
    size_t runs;            /* of passes that change types */
    size_t nodes, tensors, casts, cancelled;
    size_t clamped, vanished; /* elements of constants: beyond the type, and 0 in it */
    struct {
        struct by_kept *at;
        size_t count, cap;
    } kept;
};

struct by_retype_options {
    const struct by_pass_region *regions; /* none: the whole model */
    size_t region_count;
    bool keep_io;       /* inputs and outputs of the model; regions keep them anyway */
    bool keep_excluded; /* excluded nodes stay when floats become wider, too */
    bool clamp;         /* constants beyond the type become its greatest; else refused */
    struct by_retype_report *report; /* added to; may be NULL */
};

/* Values of the types in `from`, a bit each by element type, become `to`. */
int by_retype(struct by_pass_context *context, uint64_t from, int64_t to, struct baryon_error *err);

/* Why nodes stayed what they were. Returns buf. */
const char *by_kept_text(const struct by_kept *kept, char *buf, size_t size);

#endif
