/* The sums inside resizing: 8-bit values times 22-bit weights, in 32 bits. */
#include "input/resize.h"

#include <string.h>

#define PRECISION 22
#define HALF      (1 << (PRECISION - 1))
#define BLOCK     64

#define INLINE static inline __attribute__((always_inline))

INLINE uint8_t clip(int32_t sum)
{
    const int32_t value = sum >> PRECISION;
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

INLINE void weigh_block(const uint8_t *rows, size_t stride, const int32_t *weight, size_t count,
                        uint8_t *out)
{
    int32_t sums[BLOCK];
    for (int i = 0; i < BLOCK; i++)
        sums[i] = HALF;
    for (size_t j = 0; j < count; j++) {
        const uint8_t *row = rows + j * stride;
        const int32_t factor = weight[j];
        for (int i = 0; i < BLOCK; i++)
            sums[i] += row[i] * factor;
    }
    for (int i = 0; i < BLOCK; i++)
        out[i] = clip(sums[i]);
}

INLINE void weigh_rows(const uint8_t *rows, size_t stride, const int32_t *weight, size_t count,
                       uint8_t *out, size_t size)
{
    size_t at = 0;
    for (; at + BLOCK <= size; at += BLOCK)
        weigh_block(rows + at, stride, weight, count, out + at);
    by_weigh_rows_ref(rows + at, stride, weight, count, out + at, size - at);
}

void by_weigh_rows_ref(const uint8_t *rows, size_t stride, const int32_t *weight, size_t count,
                       uint8_t *out, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        int32_t sum = HALF;
        for (size_t j = 0; j < count; j++)
            sum += rows[j * stride + i] * weight[j];
        out[i] = clip(sum);
    }
}

void by_weigh_columns_ref(const uint8_t *row, size_t channels, const struct by_taps *taps,
                          uint8_t *out, size_t out_w)
{
    for (size_t x = 0; x < out_w; x++)
        for (size_t c = 0; c < channels; c++) {
            const uint8_t *in = row + taps->first[x] * channels + c;
            const int32_t *weight = taps->weight + x * taps->width;
            int32_t sum = HALF;
            for (size_t j = 0; j < taps->count[x]; j++)
                sum += in[j * channels] * weight[j];
            out[x * channels + c] = clip(sum);
        }
}

static void weigh_columns_rgb(const uint8_t *row, const struct by_taps *taps, uint8_t *out,
                              size_t out_w)
{
    for (size_t x = 0; x < out_w; x++) {
        const uint8_t *in = row + taps->first[x] * 3;
        const int32_t *weight = taps->weight + x * taps->width;
        const size_t count = taps->count[x];
        int32_t red = HALF, green = HALF, blue = HALF;
        for (size_t j = 0; j < count; j++, in += 3) {
            red += in[0] * weight[j];
            green += in[1] * weight[j];
            blue += in[2] * weight[j];
        }
        out[x * 3] = clip(red);
        out[x * 3 + 1] = clip(green);
        out[x * 3 + 2] = clip(blue);
    }
}

void by_weigh_columns(const uint8_t *row, size_t channels, const struct by_taps *taps, uint8_t *out,
                      size_t out_w)
{
    if (channels == 3)
        weigh_columns_rgb(row, taps, out, out_w);
    else
        by_weigh_columns_ref(row, channels, taps, out, out_w);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void weigh_rows_avx2(const uint8_t *rows, size_t stride,
                                                            const int32_t *weight, size_t count,
                                                            uint8_t *out, size_t size)
{
    weigh_rows(rows, stride, weight, count, out, size);
}
#endif

void by_weigh_rows(const uint8_t *rows, size_t stride, const int32_t *weight, size_t count,
                   uint8_t *out, size_t size)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        weigh_rows_avx2(rows, stride, weight, count, out, size);
        return;
    }
#endif
    weigh_rows(rows, stride, weight, count, out, size);
}
