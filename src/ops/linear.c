/*
 * ExtendedQuantizeLinear and ExtendedDequantizeLinear: integers, bf16 and half floats. Half floats
 * are converted, and neither scale nor zero point counts, as in Quark's library.
 */
#include "dtype/linear.h"
#include "base/half.h"
#include "dtype/family.h"
#include "ops/op.h"

#include <string.h>

#define GRAIN    65536
#define CHUNK    1024
#define HALF_MAX 65504

static const struct type_row {
    int64_t elem;
    const struct by_dtype *dtype;
} types[] = {
    {BY_ELEM_UINT8, &by_dtype_uint8},   {BY_ELEM_INT8, &by_dtype_int8},
    {BY_ELEM_UINT16, &by_dtype_uint16}, {BY_ELEM_INT16, &by_dtype_int16},
    {BY_ELEM_UINT32, &by_dtype_uint32}, {BY_ELEM_INT32, &by_dtype_int32},
    {BY_ELEM_BFLOAT16, &by_dtype_bf16}, {BY_ELEM_FLOAT16, &by_dtype_fp16},
};

struct kernel {
    int64_t axis;
};

/* A run of the operator: `channels` with a scale each, `inner` elements apart. */
struct work {
    struct by_op_tensor in, scale, zero, out;
    const struct by_dtype *dtype;
    size_t channels, inner;
    double *zeros;
};

static int prepare_linear(void *data, const struct by_ort *ort, const OrtKernelInfo *info,
                          struct baryon_error *err)
{
    struct kernel *kernel = data;
    return by_op_int(ort, info, "axis", -BY_RANK_MAX, BY_RANK_MAX - 1, &kernel->axis, err);
}

/* --- What belongs together --- */

static int find_type(struct work *work, struct baryon_error *err)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].elem == work->zero.elem) {
            work->dtype = types[i].dtype;
            return 0;
        }
    return by_fail(err, BARYON_ERR_INPUT,
                   "the zero point (input 2) has type %s, must be uint8, int8, uint16, int16, "
                   "uint32, int32, float16 or bfloat16",
                   by_elem_name(work->zero.elem));
}

static bool is_single(const struct by_op_tensor *tensor)
{
    return !tensor->rank || (tensor->rank == 1 && tensor->dims[0] == 1);
}

static int check_size(const struct by_op_tensor *tensor, const char *what, int64_t channels,
                      struct baryon_error *err)
{
    if (tensor->rank != 1)
        return by_fail(err, BARYON_ERR_INPUT, "the %s has rank %zu, must be 0, or 1 for channels",
                       what, tensor->rank);
    if (tensor->dims[0] != channels)
        return by_fail(err, BARYON_ERR_INPUT, "the %s has %lld elements, the axis has %lld", what,
                       (long long)tensor->dims[0], (long long)channels);
    return 0;
}

/* Scales and zero points are one or as many as channels. */
static int lay_out_linear(struct work *work, int64_t axis, struct baryon_error *err)
{
    const struct by_op_tensor *in = &work->in;
    const int64_t rank = (int64_t)in->rank;
    work->channels = 1;
    work->inner = in->count;
    if (is_single(&work->scale))
        return is_single(&work->zero)
                   ? 0
                   : by_fail(err, BARYON_ERR_INPUT,
                             "the zero point (input 2) has %zu elements, the scale has one",
                             work->zero.count);
    if (axis < -rank || axis >= rank)
        return by_fail(
            err, BARYON_ERR_INPUT,
            "attribute axis is %lld, must be an axis of the %lld dimensions of the input",
            (long long)axis, (long long)rank);
    axis += axis < 0 ? rank : 0;
    if (check_size(&work->scale, "scale (input 1)", in->dims[axis], err) ||
        check_size(&work->zero, "zero point (input 2)", in->dims[axis], err))
        return -1;
    work->channels = (size_t)in->dims[axis];
    work->inner = 1;
    for (int64_t i = axis + 1; i < rank; i++)
        work->inner *= (size_t)in->dims[i];
    return 0;
}

static double zero_at(const struct work *work, size_t i)
{
    const void *data = work->zero.data;
    switch (work->zero.elem) {
    case BY_ELEM_UINT8:
        return ((const uint8_t *)data)[i];
    case BY_ELEM_INT8:
        return ((const int8_t *)data)[i];
    case BY_ELEM_UINT16:
        return ((const uint16_t *)data)[i];
    case BY_ELEM_INT16:
        return ((const int16_t *)data)[i];
    case BY_ELEM_UINT32:
        return ((const uint32_t *)data)[i];
    case BY_ELEM_INT32:
        return ((const int32_t *)data)[i];
    case BY_ELEM_BFLOAT16:
        return (double)by_bf16_to_f32_one(((const uint16_t *)data)[i]);
    default:
        return 0;
    }
}

static int read_zeros(struct work *work, struct baryon_error *err)
{
    work->zeros = by_alloc(work->channels, sizeof *work->zeros, err);
    if (!work->zeros)
        return -1;
    for (size_t i = 0; i < work->channels; i++)
        work->zeros[i] = zero_at(work, i);
    return 0;
}

static int open_work(struct work *work, const struct kernel *kernel, const struct by_op_call *call,
                     struct baryon_error *err)
{
    work->zeros = NULL;
    if (by_op_input(call, 0, &work->in, err) || by_op_input(call, 1, &work->scale, err) ||
        by_op_input(call, 2, &work->zero, err) || find_type(work, err) ||
        lay_out_linear(work, kernel->axis, err))
        return -1;
    work->out = work->in;
    return by_op_output(call, &work->out, err) || read_zeros(work, err) ? -1 : 0;
}

/* --- Runs of elements --- */

/* From element `begin` on, up to `end`: how many have one scale, or one each. */
static size_t next_run(const struct work *work, size_t begin, size_t end, struct by_linear *linear)
{
    const size_t channel = begin / work->inner % work->channels;
    linear->dtype = work->dtype;
    linear->scales = (const float *)work->scale.data + channel;
    linear->zeros = work->zeros + channel;
    linear->each = work->inner == 1 && work->channels > 1;
    const size_t left = linear->each ? work->channels - channel : work->inner - begin % work->inner;
    return left < end - begin ? left : end - begin;
}

static int quantize_piece(void *context, size_t begin, size_t end, unsigned worker,
                          struct baryon_error *err)
{
    const struct work *work = context;
    const size_t bytes = by_dtype_code_bytes(work->dtype);
    struct by_linear linear;
    (void)worker, (void)err;
    for (size_t run; begin < end; begin += run) {
        run = next_run(work, begin, end, &linear);
        by_linear_quantize(&linear, (const float *)work->in.data + begin, run,
                           (char *)work->out.data + begin * bytes);
    }
    return 0;
}

static int dequantize_piece(void *context, size_t begin, size_t end, unsigned worker,
                            struct baryon_error *err)
{
    const struct work *work = context;
    const size_t bytes = by_dtype_code_bytes(work->dtype);
    struct by_linear linear;
    (void)worker, (void)err;
    for (size_t run; begin < end; begin += run) {
        run = next_run(work, begin, end, &linear);
        by_linear_dequantize(&linear, (const char *)work->in.data + begin * bytes, run,
                             (float *)work->out.data + begin);
    }
    return 0;
}

/* --- Half floats --- */

static int to_halves(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct work *work = context;
    const float *in = work->in.data;
    uint16_t *out = work->out.data;
    float cut[CHUNK];
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i += CHUNK) {
        const size_t count = end - i < CHUNK ? end - i : CHUNK;
        for (size_t k = 0; k < count; k++) {
            const float value = in[i + k];
            cut[k] = value < -HALF_MAX ? -HALF_MAX : value > HALF_MAX ? HALF_MAX : value;
        }
        by_f32_to_f16(out + i, cut, count);
    }
    return 0;
}

static int from_halves(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct work *work = context;
    (void)worker, (void)err;
    by_f16_to_f32((float *)work->out.data + begin, (const uint16_t *)work->in.data + begin,
                  end - begin);
    return 0;
}

/* --- The operators --- */

static int run_linear(const void *kernel, const struct by_op_call *call, by_piece_fn *piece,
                      by_piece_fn *halves, struct baryon_error *err)
{
    struct work work;
    const int failed = open_work(&work, kernel, call, err) ||
                       by_team_for(call->team, work.in.count, GRAIN,
                                   work.dtype == &by_dtype_fp16 ? halves : piece, &work, err);
    by_free(work.zeros);
    return failed ? -1 : 0;
}

static int quantize_linear_op(const void *kernel, const struct by_op_call *call,
                              struct baryon_error *err)
{
    return run_linear(kernel, call, quantize_piece, to_halves, err);
}

static int dequantize(const void *kernel, const struct by_op_call *call, struct baryon_error *err)
{
    return run_linear(kernel, call, dequantize_piece, from_halves, err);
}

#define FLOAT ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
#define ANY   ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED

const struct by_op_row by_op_quantize = {
    .name = "ExtendedQuantizeLinear",
    .old_name = "VitisQuantizeLinear",
    .inputs = 3,
    .input_types = {FLOAT, FLOAT, ANY},
    .output_type = ANY,
    .keeps_shape = true,
    .kernel_size = sizeof(struct kernel),
    .prepare = prepare_linear,
    .compute = quantize_linear_op,
};

const struct by_op_row by_op_dequantize = {
    .name = "ExtendedDequantizeLinear",
    .old_name = "VitisDequantizeLinear",
    .inputs = 3,
    .input_types = {ANY, FLOAT, ANY},
    .output_type = FLOAT,
    .keeps_shape = true,
    .kernel_size = sizeof(struct kernel),
    .prepare = prepare_linear,
    .compute = dequantize,
};
