/*
 * 16-bit floats to float32 and back: IEEE half (f16) and bfloat16 (bf16).
 *
 * To 16 bits: round half to even; NaN stays a quiet NaN and keeps its sign and top
 * payload bits; f16 overflow gives infinity. From 16 bits everything is exact; a
 * signalling NaN becomes quiet from f16 and is left alone from bf16. The plain _ref functions
 * define the result; the others choose a vector path at run time and give the same bits.
 */
#ifndef BY_HALF_H
#define BY_HALF_H

#include <stddef.h>
#include <stdint.h>

float by_f16_to_f32_one(uint16_t half);
uint16_t by_f32_to_f16_one(float value);
float by_bf16_to_f32_one(uint16_t bf16);
uint16_t by_f32_to_bf16_one(float value);

void by_f16_to_f32_ref(float *out, const uint16_t *in, size_t count);
void by_f32_to_f16_ref(uint16_t *out, const float *in, size_t count);
void by_bf16_to_f32_ref(float *out, const uint16_t *in, size_t count);
void by_f32_to_bf16_ref(uint16_t *out, const float *in, size_t count);

void by_f16_to_f32(float *out, const uint16_t *in, size_t count);
void by_f32_to_f16(uint16_t *out, const float *in, size_t count);
void by_bf16_to_f32(float *out, const uint16_t *in, size_t count);
void by_f32_to_bf16(uint16_t *out, const float *in, size_t count);

/*
 * Keys of 16-bit floats of either type, in the order of their values; the key of a key is the
 * float. by_half_extremes() finds the least and the greatest one, count > 0.
 */
int16_t by_half_key(uint16_t half);
void by_half_extremes_ref(const uint16_t *in, size_t count, int16_t *least, int16_t *most);
void by_half_extremes(const uint16_t *in, size_t count, int16_t *least, int16_t *most);

/* Name of the vector path in use: "avx512", "avx2", "neon", "plain". */
const char *by_half_path(void);

#endif
