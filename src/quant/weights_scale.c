/* Rounds scales to float32, float16, powers of two, or fractions of 16-bit integers. */
#include "base/half.h"
#include "quant/weights_search.h"

#include <math.h>

/* The least and greatest float16 above 0. */
#define F16_LEAST    0x1p-24f
#define F16_GREATEST 65504.0f

static float round_f16(double scale)
{
    float rounded = by_f16_to_f32_one(by_f32_to_f16_one((float)scale));
    if (rounded < F16_LEAST)
        return F16_LEAST;
    return rounded > F16_GREATEST ? F16_GREATEST : rounded;
}

/* M / 2^N, N from 0 to 16, M of 16 bits; the first of the nearest. */
static float round_int16(double scale)
{
    double best = 0, off = INFINITY;
    for (int n = 0; n <= 16; n++) {
        const double shifted = ldexp(scale, n);
        if (shifted > INT16_MAX)
            break;
        for (double m = floor(shifted); m <= ceil(shifted); m++)
            if (fabs(ldexp(m, -n) - scale) < off) {
                best = ldexp(m, -n);
                off = fabs(best - scale);
            }
    }
    if (isinf(off))
        return INT16_MAX;
    return best > 0 ? (float)best : 0x1p-14f;
}

float by_scale_round(enum by_scale_type type, double scale)
{
    switch (type) {
    case BY_SCALE_FLOAT16:
        return round_f16(scale);
    case BY_SCALE_INT16:
        return round_int16(scale);
    case BY_SCALE_POW2:
        return (float)ldexp(1, -(int)nearbyint(-log2(fmin(fmax(scale, 0x1p-126), 0x1p127))));
    case BY_SCALE_FLOAT32:
        break;
    }
    return (float)scale;
}

void by_weight_scale(const struct by_weight_search *search, double low, double high,
                     struct by_weight_choice *choice)
{
    const struct by_range range = {.low = low, .high = high};
    const enum by_scale_type type = search->spec->scale;
    struct by_scale scale;
    *choice = (struct by_weight_choice){.scale = 1, .error = INFINITY};
    if (by_scale_of_range(&range, &search->target, &scale, NULL) < 0)
        return;
    choice->scale = (float)scale.scale;
    choice->zero = scale.zero_point;
    if (type == BY_SCALE_FLOAT16 || type == BY_SCALE_INT16)
        choice->scale = by_scale_round(type, scale.scale);
}
