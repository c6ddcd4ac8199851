/*
 * Large constants that stay integers in a session, as DequantizeLinear of ours, which ONNX Runtime
 * does not fold: floats of a weight live as long as a product needs them, not as long as the
 * session. For sessions that leave weights as they lie (few_runs).
 */
#ifndef BY_DEQUANTIZE_H
#define BY_DEQUANTIZE_H

#include "engine/session_internal.h"

#define BY_DEQUANTIZE_DOMAIN "baryon.constants"
#define BY_DEQUANTIZE_OP     "Dequantize"
#define BY_DEQUANTIZE_RUN    "run" /* attribute: so many levels in a row have a scale */

/* The node, of bytes with a zero point, becomes that operator. */
int by_dequantize_put(struct baryon_node *node, size_t run, struct baryon_error *err);

/* 0: it is another node, or none. */
size_t by_dequantize_run(const struct baryon_node *node);

/* Bytes that mean (level - zero) * scale; `run` of them in a row have a scale, then the next. */
struct by_byte_levels {
    const void *levels, *zeros;
    const float *scales;
    size_t scale_count, run;
};

void by_dequantize_bytes(bool is_signed, const struct by_byte_levels *levels, size_t count,
                         float *out);

bool by_dequantize_wanted(const struct baryon_model *model);
/* Adds the operator to the options of a session that is being opened. */
int by_dequantize_op_add(struct by_session *session, OrtSessionOptions *built,
                         struct baryon_error *err);

#endif
