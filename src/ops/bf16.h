/* Arithmetic in bf16, on floats that hold what bf16 can. */
#ifndef BY_OPS_BF16_H
#define BY_OPS_BF16_H

#include <stdint.h>
#include <string.h>

static inline uint32_t by_bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline float by_float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* To the nearest, ties to even, on the bits: what NaN carries is rounded as well, as Quark's
 * operators do it. */
static inline float by_to_bf16(float value)
{
    const uint32_t bits = by_bits_of(value);
    return by_float_of((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000);
}

#endif
