/*
 * ExtendedInstanceNormalization: InstanceNormalization in the arithmetic of an NPU. Inputs are
 * rounded to bf16, sums are floats, one value after the other, and so is what follows: bf16 at
 * every step.
 */
#include "ops/bf16.h"
#include "ops/op.h"
#include "ops/variance.h"

#include <math.h>

#define GRAIN   16384
#define ABREAST 4 /* sums wait for themselves: so many planes at once */
#define SPAN    16

struct kernel {
    float epsilon;
};

struct work {
    const struct kernel *kernel;
    struct by_op_tensor in, scale, bias, out;
    size_t channels, size; /* planes of a sample, elements of a plane */
};

/* What all elements of a plane have in common, all in bf16. */
struct plane {
    float mean, inverse, scale, bias;
};

static int prepare_instance_norm(void *data, const struct by_ort *ort, const OrtKernelInfo *info,
                                 struct baryon_error *err)
{
    struct kernel *kernel = data;
    kernel->epsilon = 1e-5f;
    return by_op_float(ort, info, "epsilon", false, &kernel->epsilon, err);
}

/* --- Sums --- */

struct sums {
    float values, squares;
};

/* Squares are added in double, for they may be beyond the range of float. */
static void add_up(const float *in, size_t size, size_t planes, struct sums sums[ABREAST])
{
    for (size_t p = 0; p < planes; p++)
        sums[p] = (struct sums){0, 0};
    for (size_t i = 0; i < size; i++)
        for (size_t p = 0; p < planes; p++) {
            const float x = by_to_bf16(in[p * size + i]);
            sums[p].values += x;
            sums[p].squares = (float)((double)sums[p].squares + (double)x * (double)x);
        }
}

static struct plane plane_of(const struct work *work, const struct sums *sums, size_t channel)
{
    const float share = (float)(1.0 / (double)work->size);
    const float mean = sums->values * share;
    const float variance = by_less_product(mean, mean, sums->squares * share);
    const float inverse = by_to_bf16(powf(variance + work->kernel->epsilon, -0.5f));
    return (struct plane){.mean = by_to_bf16(by_to_bf16(mean) * inverse),
                          .inverse = inverse,
                          .scale = by_to_bf16(((const float *)work->scale.data)[channel]),
                          .bias = by_to_bf16(((const float *)work->bias.data)[channel])};
}

/* --- Elements --- */

static float normalized(const struct plane *plane, float x)
{
    const float scaled = by_to_bf16(by_to_bf16(x) * plane->inverse);
    return by_to_bf16(plane->scale * by_to_bf16(scaled - plane->mean) + plane->bias);
}

/* SPAN at a time, which the compiler makes vectors of. */
static void normalize(const struct plane *plane, const float *in, size_t size, float *out)
{
    const struct plane own = *plane;
    size_t i = 0;
    for (; i + SPAN <= size; i += SPAN)
        for (size_t k = 0; k < SPAN; k++)
            out[i + k] = normalized(&own, in[i + k]);
    for (; i < size; i++)
        out[i] = normalized(&own, in[i]);
}

static int do_planes(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *err)
{
    const struct work *work = context;
    struct sums sums[ABREAST];
    (void)worker, (void)err;
    for (size_t first = begin; first < end; first += ABREAST) {
        const size_t planes = end - first < ABREAST ? end - first : ABREAST;
        const float *in = (const float *)work->in.data + first * work->size;
        float *out = (float *)work->out.data + first * work->size;
        if (planes == ABREAST)
            add_up(in, work->size, ABREAST, sums);
        else
            add_up(in, work->size, planes, sums);
        for (size_t p = 0; p < planes; p++) {
            const struct plane plane = plane_of(work, &sums[p], (first + p) % work->channels);
            normalize(&plane, in + p * work->size, work->size, out + p * work->size);
        }
    }
    return 0;
}

/* --- The operator --- */

static int check_channels(const struct by_op_tensor *tensor, const char *what, size_t channels,
                          struct baryon_error *err)
{
    if (tensor->count == channels)
        return 0;
    return by_fail(err, BARYON_ERR_INPUT, "the %s has %zu elements, the input has %zu channels",
                   what, tensor->count, channels);
}

static int lay_out_instance_norm(struct work *work, struct baryon_error *err)
{
    if (work->in.rank < 2)
        return by_fail(err, BARYON_ERR_INPUT,
                       "input 0 has rank %zu, must be at least 2: samples x channels",
                       work->in.rank);
    work->channels = (size_t)work->in.dims[1];
    work->size = 1;
    for (size_t i = 2; i < work->in.rank; i++)
        work->size *= (size_t)work->in.dims[i];
    return check_channels(&work->scale, "scale (input 1)", work->channels, err) ||
                   check_channels(&work->bias, "bias (input 2)", work->channels, err)
               ? -1
               : 0;
}

static int compute(const void *kernel, const struct by_op_call *call, struct baryon_error *err)
{
    struct work work = {.kernel = kernel};
    if (by_op_input(call, 0, &work.in, err) || by_op_input(call, 1, &work.scale, err) ||
        by_op_input(call, 2, &work.bias, err) || lay_out_instance_norm(&work, err))
        return -1;
    work.out = work.in;
    if (by_op_output(call, &work.out, err))
        return -1;
    if (!work.in.count)
        return 0;
    const size_t grain = work.size * ABREAST < GRAIN ? GRAIN / work.size : ABREAST;
    return by_team_for(call->team, work.in.count / work.size, grain, do_planes, &work, err);
}

#define FLOAT ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT

const struct by_op_row by_op_instance_norm = {
    .name = "ExtendedInstanceNormalization",
    .old_name = "VitisInstanceNormalization",
    .inputs = 3,
    .input_types = {FLOAT, FLOAT, FLOAT},
    .output_type = FLOAT,
    .keeps_shape = true,
    .kernel_size = sizeof(struct kernel),
    .prepare = prepare_instance_norm,
    .compute = compute,
};
