/* Decodes types of two to four levels: TQ1_0, TQ2_0, Q1_0, Q2_0. */
#include "llm/ggml/block.h"

#define SUPER BY_GGML_SUPER

/* The n-th of five digits to base 3 that a byte holds as a fraction of 256. */
static int trit(uint8_t byte, size_t n)
{
    static const uint8_t powers[5] = {1, 3, 9, 27, 81};
    return (uint8_t)(byte * powers[n]) * 3 >> 8;
}

/* Digits of 'bytes' bytes: first ones of all, then second ones. */
static float *put_trits(const uint8_t *in, size_t bytes, size_t digits, float scale, float *out)
{
    for (size_t n = 0; n < digits; n++)
        for (size_t i = 0; i < bytes; i++)
            *out++ = (float)(trit(in[i], n) - 1) * scale;
    return out;
}

void by_decode_tq1_0(const uint8_t *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += SUPER, in += 54) {
        const float scale = by_half_get(in + 52);
        out = put_trits(in, 32, 5, scale, out);
        out = put_trits(in + 32, 16, 5, scale, out);
        out = put_trits(in + 48, 4, 4, scale, out);
    }
}

void by_decode_tq2_0(const uint8_t *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += SUPER, in += 66) {
        const float scale = by_half_get(in + 64);
        for (size_t k = 0; k < SUPER; k++)
            *out++ = (float)((in[k / 128 * 32 + k % 32] >> k / 32 % 4 * 2 & 3) - 1) * scale;
    }
}

void by_decode_q1_0(const uint8_t *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += 128, in += 18) {
        const float scale = by_half_get(in);
        for (size_t k = 0; k < 128; k++)
            *out++ = in[2 + k / 8] >> k % 8 & 1 ? scale : -scale;
    }
}

void by_decode_q2_0(const uint8_t *in, size_t count, float *out)
{
    for (size_t i = 0; i < count; i += 64, in += 18) {
        const float scale = by_half_get(in);
        for (size_t k = 0; k < 64; k++)
            *out++ = (float)((in[2 + k / 4] >> k % 4 * 2 & 3) - 1) * scale;
    }
}
