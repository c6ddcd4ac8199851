/*
 * An LSTM in whole numbers, as an NPU computes it: inputs, weights and outputs are 16 bits, sums
 * have 24 bits after the point.
 *
 * The arithmetic is Quark's to the bit, also where it is odd: numbers between -1 and 0 are rounded
 * as if they were positive, factors that need 2^15 turn negative, a zero point of the output below
 * the middle counts as one more.
 */
#ifndef BY_OPS_LSTM_H
#define BY_OPS_LSTM_H

#include "ops/op.h"

/* Of a tensor of uint16. */
struct by_lstm_scale {
    float scale;
    int64_t zero; /* 0 to 65535 */
};

struct by_lstm_scales {
    struct by_lstm_scale x, w, r, b, y;
};

struct by_lstm_sizes {
    size_t steps, inputs, hidden;
};

/* A product of scales as a factor of 16 bits and a shift. */
struct by_lstm_factor {
    int16_t factor;
    unsigned shift;
};

struct by_lstm_factors {
    double x, h, x_zero, h_zero; /* what a step of each product of integers is, times 2^24 */
    unsigned x_shift, h_shift;   /* of sums of products, before they are scaled */
    struct by_lstm_factor to_x, to_h, of_x, of_h;
    uint16_t out_factor;
    int16_t out_zero;
    unsigned out_shift;
};

/* Values less the middle of uint16, of one direction. */
struct by_lstm_direction {
    const int16_t *x;     /* steps x inputs */
    const int16_t *w, *r; /* 4 hidden x inputs, 4 hidden x hidden */
    const int16_t *w_bias, *r_bias;
    bool backward;
    int16_t *y; /* the first step's; those of the others are 2 hidden apart */
};

/* Refuses scales that leave 16 bits. */
int by_lstm_factors(const struct by_lstm_scales *scales, const struct by_lstm_sizes *sizes,
                    struct by_lstm_factors *factors, struct baryon_error *err);
int by_lstm_run(const struct by_lstm_direction *direction, const struct by_lstm_scales *scales,
                const struct by_lstm_sizes *sizes, const struct by_lstm_factors *factors,
                struct baryon_error *err);
/* As Quark rounds: away from zero, but see above. */
int32_t by_lstm_round(double value);

#endif
