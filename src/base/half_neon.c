/* Converts 16-bit floats with NEON. */
#include "base/half_path.h"

#if defined(__aarch64__)

#include <arm_neon.h>

static bool half_neon_supported(void)
{
    return true;
}

static void f16_to_f32(float *out, const uint16_t *in, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(out + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(in + i))));
    by_f16_to_f32_ref(out + i, in + i, count - i);
}

static void f32_to_f16(uint16_t *out, const float *in, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1_u16(out + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(in + i))));
    by_f32_to_f16_ref(out + i, in + i, count - i);
}

static uint32x4_t load_bits(const float *in)
{
    return vreinterpretq_u32_f32(vld1q_f32(in));
}

static void bf16_to_f32(float *out, const uint16_t *in, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(out + i, vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(vld1_u16(in + i)), 16)));
    by_bf16_to_f32_ref(out + i, in + i, count - i);
}

static void f32_to_bf16(uint16_t *out, const float *in, size_t count)
{
    size_t i = 0;
    for (; i + 4 <= count; i += 4) {
        uint32x4_t bits = load_bits(in + i);
        uint32x4_t top = vshrq_n_u32(bits, 16);
        uint32x4_t bias = vaddq_u32(vandq_u32(top, vdupq_n_u32(1)), vdupq_n_u32(0x7fff));
        uint32x4_t rounded = vshrq_n_u32(vaddq_u32(bits, bias), 16);
        uint32x4_t size = vandq_u32(bits, vdupq_n_u32(0x7fffffff));
        uint32x4_t is_nan = vcgtq_u32(size, vdupq_n_u32(0x7f800000));
        uint32x4_t quiet = vorrq_u32(top, vdupq_n_u32(0x40));
        vst1_u16(out + i, vmovn_u32(vbslq_u32(is_nan, quiet, rounded)));
    }
    by_f32_to_bf16_ref(out + i, in + i, count - i);
}

static int16x8_t keys(const uint16_t *in)
{
    const int16x8_t halves = vreinterpretq_s16_u16(vld1q_u16(in));
    return veorq_s16(halves, vandq_s16(vshrq_n_s16(halves, 15), vdupq_n_s16(0x7fff)));
}

static void half_extremes(const uint16_t *in, size_t count, int16_t *least, int16_t *most)
{
    int16_t leasts[8], mosts[8];
    size_t i = 0;
    int16x8_t low = vdupq_n_s16(by_half_key(in[0])), high = low;
    for (; i + 8 <= count; i += 8) {
        const int16x8_t key = keys(in + i);
        low = vminq_s16(low, key);
        high = vmaxq_s16(high, key);
    }
    vst1q_s16(leasts, low);
    vst1q_s16(mosts, high);
    by_half_extremes_join(leasts, mosts, 8, least, most);
    by_half_extremes_more(in + i, count - i, least, most);
}

const struct by_half_path by_half_neon = {
    "neon", half_neon_supported, f16_to_f32, f32_to_f16, bf16_to_f32, f32_to_bf16, half_extremes};

#endif
