/* Packs levels and scales of the K types. */
#include "llm/ggml/k_bits.h"

#include <string.h>

#define COUNT 256

void by_k_put_two(const uint8_t *levels, uint8_t *out)
{
    for (size_t half = 0; half < 2; half++, levels += 128, out += 32)
        for (size_t i = 0; i < 32; i++)
            out[i] = (uint8_t)((levels[i] & 3) | (levels[i + 32] & 3) << 2 |
                               (levels[i + 64] & 3) << 4 | (levels[i + 96] & 3) << 6);
}

void by_k_get_two(const uint8_t *in, uint8_t *levels)
{
    for (size_t half = 0; half < 2; half++, levels += 128, in += 32)
        for (size_t i = 0; i < 32; i++)
            for (size_t part = 0; part < 4; part++)
                levels[part * 32 + i] = in[i] >> 2 * part & 3;
}

void by_k_put_third(const uint8_t *levels, uint8_t *out)
{
    memset(out, 0, 32);
    for (size_t i = 0; i < COUNT; i++)
        out[i % 32] = (uint8_t)(out[i % 32] | (levels[i] >> 2 & 1) << i / 32);
}

void by_k_add_third(const uint8_t *in, uint8_t *levels)
{
    for (size_t i = 0; i < COUNT; i++)
        levels[i] = (uint8_t)(levels[i] | (in[i % 32] >> i / 32 & 1) << 2);
}

void by_k_put_four(const uint8_t *levels, uint8_t *out)
{
    for (size_t part = 0; part < 4; part++, levels += 64, out += 32)
        for (size_t i = 0; i < 32; i++)
            out[i] = (uint8_t)((levels[i] & 15) | (levels[i + 32] & 15) << 4);
}

void by_k_get_four(const uint8_t *in, uint8_t *levels)
{
    for (size_t part = 0; part < 4; part++, levels += 64, in += 32)
        for (size_t i = 0; i < 32; i++) {
            levels[i] = in[i] & 15;
            levels[i + 32] = in[i] >> 4;
        }
}

void by_k_add_fifth(const uint8_t *in, uint8_t *levels)
{
    for (size_t i = 0; i < COUNT; i++)
        levels[i] = (uint8_t)(levels[i] | (in[i % 32] >> i / 32 & 1) << 4);
}

void by_k_put_fifth(const uint8_t *levels, uint8_t *out)
{
    memset(out, 0, 32);
    for (size_t i = 0; i < COUNT; i++)
        out[i % 32] = (uint8_t)(out[i % 32] | (levels[i] >> 4 & 1) << i / 32);
}

void by_k_put_six(const uint8_t *levels, uint8_t *out)
{
    uint8_t *high = out + 128;
    for (size_t half = 0; half < 2; half++, levels += 128, out += 64, high += 32)
        for (size_t i = 0; i < 32; i++) {
            const uint8_t a = levels[i], b = levels[i + 32], c = levels[i + 64], d = levels[i + 96];
            out[i] = (uint8_t)((a & 15) | (c & 15) << 4);
            out[i + 32] = (uint8_t)((b & 15) | (d & 15) << 4);
            high[i] = (uint8_t)(a >> 4 | b >> 4 << 2 | c >> 4 << 4 | d >> 4 << 6);
        }
}

void by_k_get_six(const uint8_t *in, uint8_t *levels)
{
    const uint8_t *high = in + 128;
    for (size_t half = 0; half < 2; half++, levels += 128, in += 64, high += 32)
        for (size_t i = 0; i < 32; i++) {
            levels[i] = (uint8_t)((in[i] & 15) | (high[i] & 3) << 4);
            levels[i + 32] = (uint8_t)((in[i + 32] & 15) | (high[i] >> 2 & 3) << 4);
            levels[i + 64] = (uint8_t)(in[i] >> 4 | (high[i] >> 4 & 3) << 4);
            levels[i + 96] = (uint8_t)(in[i + 32] >> 4 | high[i] >> 6 << 4);
        }
}

void by_k_put_pairs(const uint8_t *scales, const uint8_t *mins, uint8_t *out)
{
    for (size_t i = 0; i < 4; i++) {
        out[i] = (uint8_t)(scales[i] | scales[i + 4] >> 4 << 6);
        out[i + 4] = (uint8_t)(mins[i] | mins[i + 4] >> 4 << 6);
        out[i + 8] = (uint8_t)((scales[i + 4] & 15) | (mins[i + 4] & 15) << 4);
    }
}

void by_k_get_pairs(const uint8_t *in, uint8_t *scales, uint8_t *mins)
{
    for (size_t i = 0; i < 4; i++) {
        scales[i] = in[i] & 63;
        mins[i] = in[i + 4] & 63;
        scales[i + 4] = (uint8_t)((in[i + 8] & 15) | in[i] >> 6 << 4);
        mins[i + 4] = (uint8_t)(in[i + 8] >> 4 | in[i + 4] >> 6 << 4);
    }
}

void by_k_put_scales(const uint8_t *scales, uint8_t *out)
{
    for (size_t i = 0; i < 8; i++)
        out[i] = (uint8_t)((scales[i] & 15) | (scales[i + 8] & 15) << 4);
    for (size_t i = 0; i < 4; i++)
        out[8 + i] = (uint8_t)(scales[i] >> 4 | scales[i + 4] >> 4 << 2 | scales[i + 8] >> 4 << 4 |
                               scales[i + 12] >> 4 << 6);
}

void by_k_get_scales(const uint8_t *in, uint8_t *scales)
{
    for (size_t i = 0; i < 16; i++) {
        const int low = i < 8 ? in[i] & 15 : in[i - 8] >> 4;
        scales[i] = (uint8_t)(low | (in[8 + i % 4] >> 2 * (i / 4) & 3) << 4);
    }
}
