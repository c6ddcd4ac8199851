/*
 * What a family of formats does with a run of values, for dtype.c; plain, and the definition of the
 * result. `first` is the place of the run in the whole, which stochastic rounding draws by.
 */
#ifndef BY_DTYPE_FAMILY_H
#define BY_DTYPE_FAMILY_H

#include "dtype/dtype.h"

struct by_dtype_family {
    void (*encode)(const struct by_dtype *dtype, const float *in, size_t count, size_t first,
                   const struct by_cast *cast, void *codes);
    void (*decode)(const struct by_dtype *dtype, const void *codes, size_t count,
                   const struct by_cast *cast, float *out);
};

extern const struct by_dtype_family by_family_int, by_family_float, by_family_e8m0;

/* The rows, by family. */
extern const struct by_dtype by_dtype_int2, by_dtype_uint2, by_dtype_int4, by_dtype_uint4,
    by_dtype_int8, by_dtype_uint8, by_dtype_int16, by_dtype_uint16, by_dtype_int32, by_dtype_uint32;
extern const struct by_dtype by_dtype_fp16, by_dtype_bf16;
extern const struct by_dtype by_dtype_fp8_e4m3, by_dtype_fp8_e5m2, by_dtype_fp8_e4m3fnuz,
    by_dtype_fp8_e5m2fnuz, by_dtype_fp6_e3m2, by_dtype_fp6_e2m3, by_dtype_fp4_e2m1, by_dtype_e8m0;
extern const struct by_dtype by_dtype_bfp16, by_dtype_bfp16_raised, by_dtype_mx4, by_dtype_mx6,
    by_dtype_mx9;
extern const struct by_dtype by_dtype_mxint8, by_dtype_mxfp8_e5m2, by_dtype_mxfp8_e4m3,
    by_dtype_mxfp6_e3m2, by_dtype_mxfp6_e2m3, by_dtype_mxfp4_e2m1, by_dtype_nvfp4;

/* How one value is rounded to a whole number. */
struct by_draw {
    enum by_ties ties;
    uint64_t seed, index;
};

double by_round_level(double value, const struct by_draw *draw);

/* Codes of one element; saturate as in struct by_cast. The value may be beyond the range of float.
 */
uint32_t by_float_code(const struct by_float_layout *layout, double value,
                       const struct by_draw *draw, bool saturate);
double by_float_value(const struct by_float_layout *layout, uint32_t code);
/* By by_dtype_steps(), where 1 stands for `unit`, a power of two. */
void by_float_step(const struct by_dtype *dtype, double unit, float value, float *step,
                   float *held);
/* Greatest code of a number, without the sign. */
uint32_t by_float_max_code(const struct by_float_layout *layout);

/* Whether values go in and come out as they are. */
bool by_cast_is_plain(const struct by_cast *cast);

/* Codes in memory, by their bytes. */
void by_code_put(void *codes, size_t index, size_t bytes, uint32_t code);
uint32_t by_code_get(const void *codes, size_t index, size_t bytes);

#endif
