/*
 * The loops of linear.h in the compiler's own vectors, after kernel.h. Integers of 8 and 16 bits
 * and their zero points are exact in float, those of 32 bits in double, or without a zero point.
 */
#ifndef BY_DTYPE_LINEAR_KERNEL_H
#define BY_DTYPE_LINEAR_KERNEL_H

#include "dtype/kernel.h"

#define NAN_BITS  0x7fc00000
#define NAN_FLOAT 0x7fc10000 /* the NaN that bf16 gets */

typedef int8_t vsigned8 __attribute__((vector_size(LANES)));
typedef int16_t vsigned16 __attribute__((vector_size(2 * LANES)));
typedef uint32_t vwords __attribute__((vector_size(4 * LANES)));
typedef uint32_t vhalf_words __attribute__((vector_size(2 * LANES)));
typedef int32_t vhalf_ints __attribute__((vector_size(2 * LANES)));

/* The scales and zero points of one vector. */
struct linear_lanes {
    vfloats scale, zero;
    vdoubles low, high; /* the zero points, for 32 bits */
};

INLINE struct linear_lanes lanes_at(const struct by_linear *linear, size_t i)
{
    struct linear_lanes lanes;
    if (linear->each) {
        memcpy(&lanes.scale, linear->scales + i, sizeof lanes.scale);
        memcpy(&lanes.low, linear->zeros + i, sizeof lanes.low);
        memcpy(&lanes.high, linear->zeros + i + LANES / 2, sizeof lanes.high);
    } else {
        lanes.scale = linear->scales[0] - (vfloats){0};
        lanes.low = lanes.high = linear->zeros[0] - (vdoubles){0};
    }
    const vhalf low = __builtin_convertvector(lanes.low, vhalf);
    const vhalf high = __builtin_convertvector(lanes.high, vhalf);
    memcpy(&lanes.zero, &low, sizeof low);
    memcpy((char *)&lanes.zero + sizeof low, &high, sizeof high);
    return lanes;
}

INLINE vfloats pick_floats(vints mask, vfloats yes, vfloats no)
{
    return (vfloats)choose(mask, (vints)yes, (vints)no);
}

/* --- To codes --- */

/* In float: limits and zero points are below 2^17. */
INLINE vints narrow_level(vfloats x, const struct linear_lanes *lanes, float low, float high)
{
    const vfloats scaled = x / lanes->scale, least = low - lanes->zero, most = high - lanes->zero;
    vfloats level = pick_floats(scaled > least, scaled, least);
    level = pick_floats(level < most, level, most);
    level = (level + 0x1.8p23f) - 0x1.8p23f; /* the nearest whole number, ties to even */
    const vints kept = (scaled > -0x1p63f) & (scaled < 0x1p63f);
    level = pick_floats(kept, level, pick_floats(lanes->zero < 0, most, least));
    return __builtin_convertvector(level + lanes->zero, vints);
}

/* int32 without a zero point, in float: from 2^23 on all are whole numbers. */
INLINE vints plain_level(vfloats x, const struct linear_lanes *lanes)
{
    const vfloats scaled = x / lanes->scale;
    const vfloats size = (vfloats)((vints)scaled & SIZE);
    const vfloats whole = pick_floats(size < 0x1p23f, (size + 0x1p23f) - 0x1p23f, size);
    const vints sign = (vints)scaled >> 31, fits = size < 0x1p31f;
    const vints level = __builtin_convertvector(pick_floats(fits, whole, (vfloats){0}), vints);
    const vints high = (scaled >= 0x1p31f) & (scaled < 0x1p63f);
    return choose(fits, (level ^ sign) - sign, choose(high, fill(INT32_MAX), fill(INT32_MIN)));
}

/* Half of the lanes, in double. */
INLINE vhalf_words wide_level(vhalf scaled, vdoubles zero, double low, double high)
{
    const vdoubles x = __builtin_convertvector(scaled, vdoubles);
    const vdoubles least = low - zero, most = high - zero;
    vdoubles level = pick(x > least, x, least);
    level = nearest(pick(level < most, level, most));
    const vlongs kept = (x > -0x1p63) & (x < 0x1p63);
    level = pick(kept, level, pick(zero < 0, most, least)) + zero;
    return __builtin_convertvector(__builtin_convertvector(level, vlongs), vhalf_words);
}

INLINE vwords wide_levels(vfloats x, const struct linear_lanes *lanes, double low, double high)
{
    const vfloats scaled = x / lanes->scale;
    const vhalf_words first = wide_level(LOW(scaled), lanes->low, low, high);
    const vhalf_words second = wide_level(HIGH(scaled), lanes->high, low, high);
    vwords levels;
    memcpy(&levels, &first, sizeof first);
    memcpy((char *)&levels + sizeof first, &second, sizeof second);
    return levels;
}

INLINE vints bf16_bits(vfloats x, const struct linear_lanes *lanes)
{
    const vints bits = (vints)(x / lanes->scale + lanes->zero);
    const vints half = bits + 0x7fff + (bits >> 16 & 1);
    return choose((bits & SIZE) > INFINITE, fill(NAN_FLOAT), half) >> 16;
}

#define QUANTIZE(name, vector, levels)                                                             \
    TARGET static size_t name(void *codes, const float *in, size_t count,                          \
                              const struct by_linear *linear)                                      \
    {                                                                                              \
        const struct by_linear own = *linear; /* which no store into `codes` can change */         \
        const double low = (double)own.dtype->low, high = (double)own.dtype->high;                 \
        const size_t end = count - count % LANES;                                                  \
        struct linear_lanes lanes;                                                                 \
        (void)low, (void)high;                                                                     \
        for (size_t i = 0; i < end; i += LANES) {                                                  \
            if (own.each || !i)                                                                    \
                lanes = lanes_at(&own, i);                                                         \
            const vfloats x = (vfloats)load(in + i);                                               \
            const vector left = __builtin_convertvector(levels, vector);                           \
            memcpy((char *)codes + i * (sizeof left / LANES), &left, sizeof left);                 \
        }                                                                                          \
        return end;                                                                                \
    }

QUANTIZE(quantize8, vbytes, narrow_level(x, &lanes, (float)low, (float)high))
QUANTIZE(quantize16, vshorts, narrow_level(x, &lanes, (float)low, (float)high))
QUANTIZE(quantize32, vwords, wide_levels(x, &lanes, low, high))
QUANTIZE(quantize_plain, vints, plain_level(x, &lanes))
QUANTIZE(quantize_bf16, vshorts, bf16_bits(x, &lanes))

/* --- And back --- */

/* NaN as there is only one; then less the zero point. */
INLINE vfloats bf16_distance(vints code, vfloats zero)
{
    const vints bits = code << 16;
    return (vfloats)choose((bits & SIZE) > INFINITE, fill(NAN_BITS), bits) - zero;
}

INLINE vfloats narrow_distance(vints level, vfloats zero)
{
    return __builtin_convertvector(level, vfloats) - zero;
}

#define WIDE(type, half)                                                                           \
    INLINE vfloats distance_##type(type levels, const struct linear_lanes *lanes)                  \
    {                                                                                              \
        half first, second;                                                                        \
        vfloats out;                                                                               \
        memcpy(&first, &levels, sizeof first);                                                     \
        memcpy(&second, (const char *)&levels + sizeof first, sizeof second);                      \
        const vhalf low =                                                                          \
            __builtin_convertvector(__builtin_convertvector(first, vdoubles) - lanes->low, vhalf); \
        const vhalf high = __builtin_convertvector(                                                \
            __builtin_convertvector(second, vdoubles) - lanes->high, vhalf);                       \
        memcpy(&out, &low, sizeof low);                                                            \
        memcpy((char *)&out + sizeof low, &high, sizeof high);                                     \
        return out;                                                                                \
    }

WIDE(vwords, vhalf_words)
WIDE(vints, vhalf_ints)

#define DEQUANTIZE(name, vector, distance)                                                         \
    TARGET static size_t name(float *out, const void *codes, size_t count,                         \
                              const struct by_linear *linear)                                      \
    {                                                                                              \
        const struct by_linear own = *linear;                                                      \
        const size_t end = count - count % LANES;                                                  \
        struct linear_lanes lanes;                                                                 \
        for (size_t i = 0; i < end; i += LANES) {                                                  \
            vector level;                                                                          \
            if (own.each || !i)                                                                    \
                lanes = lanes_at(&own, i);                                                         \
            memcpy(&level, (const char *)codes + i * (sizeof level / LANES), sizeof level);        \
            store(out + i, (vints)((distance)*lanes.scale));                                       \
        }                                                                                          \
        return end;                                                                                \
    }

#define NARROW narrow_distance(__builtin_convertvector(level, vints), lanes.zero)
DEQUANTIZE(from_u8, vbytes, NARROW)
DEQUANTIZE(from_s8, vsigned8, NARROW)
DEQUANTIZE(from_u16, vshorts, NARROW)
DEQUANTIZE(from_s16, vsigned16, NARROW)
DEQUANTIZE(from_u32, vwords, distance_vwords(level, &lanes))
DEQUANTIZE(from_s32, vints, distance_vints(level, &lanes))
DEQUANTIZE(from_bf16, vshorts, bf16_distance(__builtin_convertvector(level, vints), lanes.zero))
#undef NARROW

/* --- By type --- */

static size_t quantize_linear(void *codes, const float *in, size_t count,
                              const struct by_linear *linear)
{
    if (!linear->dtype->high)
        return quantize_bf16(codes, in, count, linear);
    const bool plain = linear->dtype->low < 0 && !linear->each && linear->zeros[0] == 0;
    return linear->dtype->bits == 8    ? quantize8(codes, in, count, linear)
           : linear->dtype->bits == 16 ? quantize16(codes, in, count, linear)
           : plain                     ? quantize_plain(codes, in, count, linear)
                                       : quantize32(codes, in, count, linear);
}

static size_t dequantize(float *out, const void *codes, size_t count,
                         const struct by_linear *linear)
{
    const bool has_sign = linear->dtype->low < 0;
    if (!linear->dtype->high)
        return from_bf16(out, codes, count, linear);
    switch (linear->dtype->bits) {
    case 8:
        return has_sign ? from_s8(out, codes, count, linear) : from_u8(out, codes, count, linear);
    case 16:
        return has_sign ? from_s16(out, codes, count, linear) : from_u16(out, codes, count, linear);
    default:
        return has_sign ? from_s32(out, codes, count, linear) : from_u32(out, codes, count, linear);
    }
}

#endif
