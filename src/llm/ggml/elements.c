/* Element types of GGUF tensors: floats and integers of one element a block. */
#include "llm/ggml/block.h"

#include <string.h>

/* The bytes need not be aligned, so 16-bit floats go through a few aligned ones. */
#define CHUNK 512

void by_decode_f32(const uint8_t *in, size_t count, float *out)
{
    memcpy(out, in, count * sizeof *out);
}

void by_encode_f32(const float *in, size_t count, const float *importance, uint8_t *out)
{
    (void)importance;
    memcpy(out, in, count * sizeof *in);
}

static void decode_halves(const uint8_t *in, size_t count, float *out,
                          void (*convert)(float *out, const uint16_t *in, size_t count))
{
    uint16_t halves[CHUNK];
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t some = count - i < CHUNK ? count - i : CHUNK;
        memcpy(halves, in + i * sizeof *halves, some * sizeof *halves);
        convert(out + i, halves, some);
    }
}

static void encode_halves(const float *in, size_t count, uint8_t *out,
                          void (*convert)(uint16_t *out, const float *in, size_t count))
{
    uint16_t halves[CHUNK];
    for (size_t i = 0; i < count; i += CHUNK) {
        size_t some = count - i < CHUNK ? count - i : CHUNK;
        convert(halves, in + i, some);
        memcpy(out + i * sizeof *halves, halves, some * sizeof *halves);
    }
}

void by_decode_f16(const uint8_t *in, size_t count, float *out)
{
    decode_halves(in, count, out, by_f16_to_f32);
}

void by_encode_f16(const float *in, size_t count, const float *importance, uint8_t *out)
{
    (void)importance;
    encode_halves(in, count, out, by_f32_to_f16);
}

void by_decode_bf16(const uint8_t *in, size_t count, float *out)
{
    decode_halves(in, count, out, by_bf16_to_f32);
}

void by_encode_bf16(const float *in, size_t count, const float *importance, uint8_t *out)
{
    (void)importance;
    encode_halves(in, count, out, by_f32_to_bf16);
}

void by_encode_f64(const float *in, size_t count, const float *importance, uint8_t *out)
{
    (void)importance;
    for (size_t i = 0; i < count; i++) {
        const double value = in[i];
        memcpy(out + i * sizeof value, &value, sizeof value);
    }
}

#define DECODE(name, type)                                                                         \
    void by_decode_##name(const uint8_t *in, size_t count, float *out)                             \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            type value;                                                                            \
            memcpy(&value, in + i * sizeof value, sizeof value);                                   \
            out[i] = (float)value;                                                                 \
        }                                                                                          \
    }

DECODE(f64, double)
DECODE(i8, int8_t)
DECODE(i16, int16_t)
DECODE(i32, int32_t)
DECODE(i64, int64_t)
