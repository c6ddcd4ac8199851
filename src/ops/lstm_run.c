/* One direction of an LSTM, step by step. */
#include "ops/dot.h"
#include "ops/lstm.h"
#include "ops/tanh.h"

#define ONE 0x1p24

struct state {
    const struct by_lstm_direction *direction;
    const struct by_lstm_sizes *sizes;
    const struct by_lstm_factors *factors;
    size_t gates;      /* 4 for each hidden value: input, output, forget, cell */
    int32_t *constant; /* what does not depend on the step */
    int32_t *sums;
    float *opened;
    int16_t *h;
    float *c;
};

/* Half away from zero; to 32 bits. */
static int32_t shifted(int64_t value, unsigned shift)
{
    const int64_t half = shift ? INT64_C(1) << (shift - 1) : 0;
    const int64_t size = ((value < 0 ? -value : value) + half) >> shift;
    const int64_t left = value < 0 ? -size : size;
    return (int32_t)(left < INT32_MIN ? INT32_MIN : left > INT32_MAX ? INT32_MAX : left);
}

static int32_t scaled(int32_t value, const struct by_lstm_factor *factor)
{
    return shifted((int64_t)value * factor->factor, factor->shift);
}

static int64_t sum_of(const int16_t *values, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* The part of each gate that zero points and biases make. */
static void make_constant(struct state *state, const struct by_lstm_scales *scales)
{
    const struct by_lstm_direction *direction = state->direction;
    const struct by_lstm_factors *factors = state->factors;
    const size_t inputs = state->sizes->inputs, hidden = state->sizes->hidden;
    const double x_zero = (double)(scales->x.zero - 32768);
    const double y_zero = (double)(scales->y.zero - 32768);
    const double b_zero = (double)(scales->b.zero - 32768);
    const double common =
        (double)inputs * factors->x_zero * x_zero + (double)hidden * factors->h_zero * y_zero;
    for (size_t i = 0; i < state->gates; i++) {
        double value = common;
        value -= factors->x * x_zero * (double)sum_of(direction->w + i * inputs, inputs);
        value -= factors->h * y_zero * (double)sum_of(direction->r + i * hidden, hidden);
        value += (double)scales->b.scale * ONE *
                 ((double)direction->w_bias[i] + (double)direction->r_bias[i] - 2.0 * b_zero);
        state->constant[i] = by_lstm_round(value);
    }
}

/* The sums wrap around where they leave 32 bits. */
static void sum_gates(struct state *state, const int16_t *x)
{
    const struct by_lstm_direction *direction = state->direction;
    const struct by_lstm_factors *factors = state->factors;
    const size_t inputs = state->sizes->inputs, hidden = state->sizes->hidden;
    const uint32_t less = (uint32_t)scaled((int32_t)sum_of(x, inputs), &factors->of_x) +
                          (uint32_t)scaled((int32_t)sum_of(state->h, hidden), &factors->of_h);
    for (size_t i = 0; i < state->gates; i++) {
        const int32_t from_x =
            shifted(by_dot(x, direction->w + i * inputs, inputs), factors->x_shift);
        const int32_t from_h =
            shifted(by_dot(state->h, direction->r + i * hidden, hidden), factors->h_shift);
        state->sums[i] = (int32_t)((uint32_t)scaled(from_x, &factors->to_x) +
                                   (uint32_t)scaled(from_h, &factors->to_h) - less +
                                   (uint32_t)state->constant[i]);
    }
}

/* The logistic function, of the tanh of half its argument. */
static float sigmoid(float tanh_of_half)
{
    return (float)(tanh_of_half * 0.5 + 0.5);
}

/* 16 bits, of which those above are lost. */
static int16_t output(const struct by_lstm_factors *factors, float value)
{
    const unsigned shift = factors->out_shift;
    const int64_t exact = (int64_t)by_lstm_round(value * ONE) * factors->out_factor +
                          (int64_t)factors->out_zero * (INT64_C(1) << shift);
    const int32_t left = shifted(exact, shift);
    return (int16_t)(left < -65536 ? -65536 : left > 65535 ? 65535 : left);
}

/* The tanh that each gate is made of. */
static void open_gates(struct state *state)
{
    const size_t cell = 3 * state->sizes->hidden;
    for (size_t i = 0; i < cell; i++)
        state->opened[i] = (float)(state->sums[i] / (2.0 * ONE));
    for (size_t i = cell; i < state->gates; i++)
        state->opened[i] = (float)(state->sums[i] / ONE);
    by_tanh(state->opened, state->gates);
}

static void update(struct state *state, int16_t *y)
{
    const size_t hidden = state->sizes->hidden;
    float *in = state->opened, *out = in + hidden, *keep = out + hidden, *cell = keep + hidden;
    open_gates(state);
    for (size_t i = 0; i < hidden; i++)
        cell[i] = state->c[i] = sigmoid(in[i]) * cell[i] + sigmoid(keep[i]) * state->c[i];
    by_tanh(cell, hidden);
    for (size_t i = 0; i < hidden; i++)
        y[i] = state->h[i] = output(state->factors, sigmoid(out[i]) * cell[i]);
}

static void run_steps(struct state *state)
{
    const size_t steps = state->sizes->steps, hidden = state->sizes->hidden;
    for (size_t i = 0; i < hidden; i++) {
        state->h[i] = state->factors->out_zero;
        state->c[i] = 0;
    }
    for (size_t i = 0; i < steps; i++) {
        const size_t step = state->direction->backward ? steps - 1 - i : i;
        sum_gates(state, state->direction->x + step * state->sizes->inputs);
        update(state, state->direction->y + step * 2 * hidden);
    }
}

int by_lstm_run(const struct by_lstm_direction *direction, const struct by_lstm_scales *scales,
                const struct by_lstm_sizes *sizes, const struct by_lstm_factors *factors,
                struct baryon_error *err)
{
    struct state state = {
        .direction = direction, .sizes = sizes, .factors = factors, .gates = 4 * sizes->hidden};
    struct by_arena arena;
    by_arena_init(&arena, 0);
    state.constant = by_arena_alloc(&arena, state.gates, sizeof *state.constant, err);
    state.sums =
        state.constant ? by_arena_alloc(&arena, state.gates, sizeof *state.sums, err) : NULL;
    state.opened =
        state.sums ? by_arena_alloc(&arena, state.gates, sizeof *state.opened, err) : NULL;
    state.h = state.opened ? by_arena_alloc(&arena, sizes->hidden, sizeof *state.h, err) : NULL;
    state.c = state.h ? by_arena_alloc(&arena, sizes->hidden, sizeof *state.c, err) : NULL;
    if (state.c) {
        make_constant(&state, scales);
        run_steps(&state);
    }
    by_arena_release(&arena);
    return state.c ? 0 : -1;
}
