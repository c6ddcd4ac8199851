/* Implements the custom operator that dequantizes constants when they are needed. */
#include "engine/dequantize.h"
#include "engine/own_op.h"
#include "ir/graph.h"

#include <string.h>

int by_dequantize_put(struct baryon_node *node, size_t run, struct baryon_error *err)
{
    struct baryon_value *inputs[] = {by_node_in(node, 0), by_node_in(node, 1), by_node_in(node, 2)};
    if (by_node_become(node, BY_DEQUANTIZE_OP, BY_DEQUANTIZE_DOMAIN, inputs, 3, err) < 0 ||
        by_node_set_int(node, BY_DEQUANTIZE_RUN, (int64_t)run, err) < 0)
        return -1;
    return by_model_set_opset(node->graph->model, BY_DEQUANTIZE_DOMAIN, 1, err);
}

size_t by_dequantize_run(const struct baryon_node *node)
{
    const bool is_ours = node && !strcmp(by_domain(node->domain), BY_DEQUANTIZE_DOMAIN);
    const int64_t run = is_ours ? by_node_int(node, BY_DEQUANTIZE_RUN, 0) : 0;
    return run > 0 ? (size_t)run : 0;
}

bool by_dequantize_wanted(const struct baryon_model *model)
{
    return by_model_opset(model, BY_DEQUANTIZE_DOMAIN) != 0;
}

/* --- Computing --- */

#define LANES 16 /* compilers make vectors of loops whose length they know */

/* As the runtime computes it: whole numbers, one rounding to float, one product. */
#define DEQUANTIZE(name, type)                                                                     \
    static void name##_lanes(const type *restrict levels, int32_t zero, float scale,               \
                             float *restrict out)                                                  \
    {                                                                                              \
        for (size_t i = 0; i < LANES; i++)                                                         \
            out[i] = (float)(levels[i] - zero) * scale;                                            \
    }                                                                                              \
                                                                                                   \
    static void name##_run(const type *levels, int32_t zero, float scale, size_t count,            \
                           float *out)                                                             \
    {                                                                                              \
        size_t at = 0;                                                                             \
        for (; at + LANES <= count; at += LANES)                                                   \
            name##_lanes(levels + at, zero, scale, out + at);                                      \
        for (; at < count; at++)                                                                   \
            out[at] = (float)(levels[at] - zero) * scale;                                          \
    }                                                                                              \
                                                                                                   \
    static void name##_row_lanes(const type *restrict levels, const float *restrict scales,        \
                                 const type *restrict zeros, float *restrict out)                  \
    {                                                                                              \
        for (size_t i = 0; i < LANES; i++)                                                         \
            out[i] = (float)(levels[i] - zeros[i]) * scales[i];                                    \
    }                                                                                              \
                                                                                                   \
    static void name##_row(const type *levels, const float *scales, const type *zeros,             \
                           size_t count, float *out)                                               \
    {                                                                                              \
        size_t at = 0;                                                                             \
        for (; at + LANES <= count; at += LANES)                                                   \
            name##_row_lanes(levels + at, scales + at, zeros + at, out + at);                      \
        for (; at < count; at++)                                                                   \
            out[at] = (float)(levels[at] - zeros[at]) * scales[at];                                \
    }                                                                                              \
                                                                                                   \
    static void name(const type *levels, const float *scales, const type *zeros,                   \
                     size_t scale_count, size_t run, size_t count, float *out)                     \
    {                                                                                              \
        const size_t step = run == 1 ? scale_count : run;                                          \
        for (size_t at = 0; at < count; at += step) {                                              \
            const size_t place = at / run % scale_count;                                           \
            if (run == 1)                                                                          \
                name##_row(levels + at, scales, zeros, step, out + at);                            \
            else                                                                                   \
                name##_run(levels + at, zeros[place], scales[place], step, out + at);              \
        }                                                                                          \
    }

DEQUANTIZE(dequantize_signed, int8_t)
DEQUANTIZE(dequantize_unsigned, uint8_t)

void by_dequantize_bytes(bool is_signed, const struct by_byte_levels *levels, size_t count,
                         float *out)
{
    if (is_signed)
        dequantize_signed(levels->levels, levels->scales, levels->zeros, levels->scale_count,
                          levels->run, count, out);
    else
        dequantize_unsigned(levels->levels, levels->scales, levels->zeros, levels->scale_count,
                            levels->run, count, out);
}

static OrtStatus *compute_dequantize(void *state, OrtKernelContext *context)
{
    const struct by_own_number *kernel = state;
    struct by_own_tensor inputs[3];
    float *out = NULL;
    OrtStatus *status = by_own_op_tensors(kernel->ort->api, context, inputs, 3, &out);
    if (status)
        return status;
    const struct by_byte_levels levels = {.levels = inputs[0].data,
                                          .zeros = inputs[2].data,
                                          .scales = inputs[1].data,
                                          .scale_count = inputs[1].count,
                                          .run = (size_t)kernel->number};
    by_dequantize_bytes(inputs[0].elem == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, &levels,
                        inputs[0].count, out);
    return NULL;
}

/* --- What the runtime asks --- */

static OrtStatus *create_dequantize(const OrtCustomOp *op, const OrtApi *api,
                                    const OrtKernelInfo *info, void **state)
{
    OrtStatus *status = by_own_op_number(op, api, info, BY_DEQUANTIZE_RUN, state);
    const struct by_own_number *made = *state;
    if (status || made->number > 0)
        return status;
    by_free(*state);
    *state = NULL;
    return api->CreateStatus(ORT_FAIL, "no run of levels");
}

static const char *dequantize_name(const OrtCustomOp *op)
{
    (void)op;
    return BY_DEQUANTIZE_OP;
}

static size_t dequantize_inputs(const OrtCustomOp *op)
{
    (void)op;
    return 3;
}

/* Levels and zero points are bytes, with and without a sign. */
static ONNXTensorElementDataType input_type(const OrtCustomOp *op, size_t index)
{
    (void)op;
    return index == 1 ? ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
                      : ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

int by_dequantize_op_add(struct by_session *session, OrtSessionOptions *built,
                         struct baryon_error *err)
{
    static const struct by_own_kernel kernel = {.domain = BY_DEQUANTIZE_DOMAIN,
                                                .name = dequantize_name,
                                                .inputs = dequantize_inputs,
                                                .create = create_dequantize,
                                                .compute = compute_dequantize,
                                                .input_type = input_type};
    return by_own_op_add(session, built, &kernel, err);
}
