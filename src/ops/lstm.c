/* ExtendedLSTM: attributes, inputs and outputs; lstm_run.c computes. */
#include "ops/lstm.h"

#include "dtype/family.h"
#include "dtype/linear.h"

#include <string.h>

#define MIDDLE 32768
#define INPUTS 4

struct kernel {
    int64_t hidden;
    struct by_lstm_scales scales;
};

struct work {
    const struct kernel *kernel;
    struct by_op_tensor in[INPUTS], out;
    int16_t *codes[INPUTS], *y; /* less the middle */
    struct by_lstm_sizes sizes;
    struct by_lstm_factors factors;
};

/* --- Attributes --- */

static int read_scale(const struct by_ort *ort, const OrtKernelInfo *info, char tensor,
                      struct by_lstm_scale *scale, struct baryon_error *err)
{
    char name[16] = "x_scale";
    name[0] = tensor;
    if (by_op_float(ort, info, name, true, &scale->scale, err))
        return -1;
    if (!(scale->scale > 0))
        return by_fail(err, BARYON_ERR_INPUT, "attribute %s is %g, must be greater than 0", name,
                       (double)scale->scale);
    memcpy(name + 1, "_zero_point", sizeof "_zero_point");
    scale->zero = -1;
    if (by_op_int(ort, info, name, 0, UINT16_MAX, &scale->zero, err))
        return -1;
    return scale->zero >= 0 ? 0 : by_fail(err, BARYON_ERR_INPUT, "attribute %s is missing", name);
}

static int read_form(const struct by_ort *ort, const OrtKernelInfo *info, struct kernel *kernel,
                     struct baryon_error *err)
{
    char direction[32] = "bidirectional", quoted[BY_QUOTE_MAX];
    int64_t none = 0;
    if (by_op_text(ort, info, "direction", direction, sizeof direction, err) ||
        by_op_int(ort, info, "input_forget", 0, 0, &none, err) ||
        by_op_int(ort, info, "layout", 0, 0, &none, err) ||
        by_op_int(ort, info, "hidden_size", 1, INT64_C(1) << 20, &kernel->hidden, err))
        return -1;
    if (strcmp(direction, "bidirectional") != 0)
        return by_fail(err, BARYON_ERR_UNSUPPORTED,
                       "attribute direction is %s, must be bidirectional",
                       by_quote(quoted, direction));
    return kernel->hidden ? 0 : by_fail(err, BARYON_ERR_INPUT, "attribute hidden_size is missing");
}

static int prepare_lstm(void *data, const struct by_ort *ort, const OrtKernelInfo *info,
                        struct baryon_error *err)
{
    struct kernel *kernel = data;
    struct by_lstm_scales *scales = &kernel->scales;
    return read_form(ort, info, kernel, err) || read_scale(ort, info, 'x', &scales->x, err) ||
                   read_scale(ort, info, 'w', &scales->w, err) ||
                   read_scale(ort, info, 'r', &scales->r, err) ||
                   read_scale(ort, info, 'b', &scales->b, err) ||
                   read_scale(ort, info, 'y', &scales->y, err)
               ? -1
               : 0;
}

/* --- Inputs --- */

/* 2 x rows x columns; columns 0: 2 x rows. */
static int check_dims(const struct by_op_tensor *tensor, const char *what, int64_t rows,
                      int64_t columns, struct baryon_error *err)
{
    const size_t rank = columns ? 3 : 2;
    if (tensor->rank == rank && tensor->dims[0] == 2 && tensor->dims[1] == rows &&
        (!columns || tensor->dims[2] == columns))
        return 0;
    if (!columns)
        return by_fail(err, BARYON_ERR_INPUT, "the shape of %s must be 2,%lld", what,
                       (long long)rows);
    return by_fail(err, BARYON_ERR_INPUT, "the shape of %s must be 2,%lld,%lld", what,
                   (long long)rows, (long long)columns);
}

static int lay_out_lstm(struct work *work, struct baryon_error *err)
{
    const struct by_op_tensor *x = &work->in[0];
    const int64_t hidden = work->kernel->hidden;
    if (x->rank != 3)
        return by_fail(err, BARYON_ERR_INPUT,
                       "X (input 0) has rank %zu, must be 3: steps x 1 x inputs", x->rank);
    if (x->dims[1] != 1)
        return by_fail(err, BARYON_ERR_UNSUPPORTED, "X (input 0) has a batch of %lld, must be 1",
                       (long long)x->dims[1]);
    if (x->dims[2] < 1)
        return by_fail(err, BARYON_ERR_INPUT, "X (input 0) has no inputs");
    work->sizes = (struct by_lstm_sizes){(size_t)x->dims[0], (size_t)x->dims[2], (size_t)hidden};
    return check_dims(&work->in[1], "W (input 1)", 4 * hidden, x->dims[2], err) ||
                   check_dims(&work->in[2], "R (input 2)", 4 * hidden, hidden, err) ||
                   check_dims(&work->in[3], "B (input 3)", 8 * hidden, 0, err)
               ? -1
               : 0;
}

static struct by_linear linear_of(const struct by_lstm_scale *scale, double *zero)
{
    *zero = (double)scale->zero;
    return (struct by_linear){&by_dtype_uint16, &scale->scale, zero, false};
}

/* From uint16 to the same less the middle, which is another top bit, and back. */
static void flip(int16_t *codes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        codes[i] = (int16_t)(codes[i] ^ INT16_MIN);
}

static int16_t *quantized(const struct by_op_tensor *tensor, const struct by_lstm_scale *scale,
                          struct by_arena *arena, struct baryon_error *err)
{
    double zero;
    const struct by_linear linear = linear_of(scale, &zero);
    int16_t *codes = by_arena_alloc(arena, tensor->count, sizeof *codes, err);
    if (!codes)
        return NULL;
    by_linear_quantize(&linear, tensor->data, tensor->count, codes);
    flip(codes, tensor->count);
    return codes;
}

/* --- Computing --- */

static int do_directions(void *context, size_t begin, size_t end, unsigned worker,
                         struct baryon_error *err)
{
    const struct work *work = context;
    const size_t hidden = work->sizes.hidden, gates = 4 * hidden;
    (void)worker;
    for (size_t i = begin; i < end; i++) {
        const int16_t *bias = work->codes[3] + i * 2 * gates;
        const struct by_lstm_direction direction = {
            .x = work->codes[0],
            .w = work->codes[1] + i * gates * work->sizes.inputs,
            .r = work->codes[2] + i * gates * hidden,
            .w_bias = bias,
            .r_bias = bias + gates,
            .backward = i == 1,
            .y = work->y + i * hidden,
        };
        if (by_lstm_run(&direction, &work->kernel->scales, &work->sizes, &work->factors, err))
            return -1;
    }
    return 0;
}

static int run_lstm(struct work *work, const struct by_op_call *call, struct by_arena *arena,
                    struct baryon_error *err)
{
    const struct by_lstm_scales *scales = &work->kernel->scales;
    const struct by_lstm_scale *own[INPUTS] = {&scales->x, &scales->w, &scales->r, &scales->b};
    double zero;
    const struct by_linear linear = linear_of(&scales->y, &zero);
    for (size_t i = 0; i < INPUTS; i++) {
        work->codes[i] = quantized(&work->in[i], own[i], arena, err);
        if (!work->codes[i])
            return -1;
    }
    work->y = by_arena_alloc(arena, work->out.count, sizeof *work->y, err);
    if (!work->y || by_team_for(call->team, 2, 1, do_directions, work, err))
        return -1;
    flip(work->y, work->out.count);
    by_linear_dequantize(&linear, work->y, work->out.count, work->out.data);
    return 0;
}

static int compute(const void *kernel, const struct by_op_call *call, struct baryon_error *err)
{
    struct work work = {.kernel = kernel};
    struct by_arena arena;
    for (size_t i = 0; i < INPUTS; i++)
        if (by_op_input(call, i, &work.in[i], err))
            return -1;
    if (lay_out_lstm(&work, err) ||
        by_lstm_factors(&work.kernel->scales, &work.sizes, &work.factors, err))
        return -1;
    work.out = (struct by_op_tensor){
        .elem = BY_ELEM_FLOAT, .rank = 4, .dims = {work.in[0].dims[0], 2, 1, work.kernel->hidden}};
    if (by_op_output(call, &work.out, err))
        return -1;
    by_arena_init(&arena, 0);
    const int failed = run_lstm(&work, call, &arena, err);
    by_arena_release(&arena);
    return failed;
}

#define FLOAT ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT

const struct by_op_row by_op_lstm = {
    .name = "ExtendedLSTM",
    .old_name = "VitisLSTM",
    .inputs = INPUTS,
    .input_types = {FLOAT, FLOAT, FLOAT, FLOAT},
    .output_type = FLOAT,
    .kernel_size = sizeof(struct kernel),
    .prepare = prepare_lstm,
    .compute = compute,
};
