/*
 * Quark's custom operators, for ONNX Runtime.
 *
 * An operator is one row: its names, the types of its inputs, a function that reads a node's
 * attributes into a kernel, and one that computes. To add one: a file with the row, a line in
 * register.c. Kernels are read only once they are made, so that runs may share a session.
 *
 * Nothing is printed and nothing ends the process: what goes wrong becomes an OrtStatus (op.c).
 */
#ifndef BY_OP_H
#define BY_OP_H

#include "engine/op_team.h"
#include "ir/tensor.h"

#define BY_OP_API    17 /* of ONNX Runtime, that is needed */
#define BY_OP_INPUTS 4

/* One run of a node. */
struct by_op_call {
    const struct by_ort *ort; /* only its api and minor are set */
    OrtKernelContext *context;
    const struct by_team *team;
};

struct by_op_row {
    const char *name;     /* in com.amd.quark */
    const char *old_name; /* in com.vai.quantize */
    size_t inputs;
    /* UNDEFINED: any, all of them the same one. */
    enum ONNXTensorElementDataType input_types[BY_OP_INPUTS], output_type;
    bool keeps_shape; /* the output has the first input's */
    bool in_place;    /* the output may take its place */
    size_t kernel_size;
    int (*prepare)(void *kernel, const struct by_ort *ort, const OrtKernelInfo *info,
                   struct baryon_error *err);
    int (*compute)(const void *kernel, const struct by_op_call *call, struct baryon_error *err);
};

extern const struct by_op_row by_op_quantize, by_op_dequantize, by_op_bfp, by_op_mx,
    by_op_instance_norm, by_op_lstm;

/* --- op.c --- */

struct by_op {
    OrtCustomOp op; /* first: the runtime hands on its address */
    const struct by_op_row *row;
    const char *name;
    const struct by_ort *ort;
};

void by_op_fill(struct by_op *op, const struct by_op_row *row, const char *name,
                const struct by_ort *ort);
/* --- attr.c: attributes; absent ones leave *value as it is --- */

int by_op_int(const struct by_ort *ort, const OrtKernelInfo *info, const char *name, int64_t least,
              int64_t most, int64_t *value, struct baryon_error *err);
/* needed: being absent is an error. */
int by_op_float(const struct by_ort *ort, const OrtKernelInfo *info, const char *name, bool needed,
                float *value, struct baryon_error *err);
int by_op_text(const struct by_ort *ort, const OrtKernelInfo *info, const char *name, char *value,
               size_t size, struct baryon_error *err);

/* --- tensor.c --- */

struct by_op_tensor {
    int64_t elem;
    size_t rank, count;
    int64_t dims[BY_RANK_MAX];
    void *data;
};

int by_op_input(const struct by_op_call *call, size_t index, struct by_op_tensor *tensor,
                struct baryon_error *err);
/* Of elem, with rank and dims as they are; fills the rest. */
int by_op_output(const struct by_op_call *call, struct by_op_tensor *tensor,
                 struct baryon_error *err);

#endif
