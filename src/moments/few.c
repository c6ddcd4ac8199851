/* Multiplies a few columns with vector loops instead of a BLAS. */
#include "moments/moments_internal.h"

#include <string.h>

#define WIDE 8

typedef float floats __attribute__((vector_size(WIDE * sizeof(float))));

#define INLINE static inline __attribute__((always_inline))

/* Summed in a fixed order, so that every processor gives the same. */
INLINE float joined(const floats *sums, const float *a, const float *b, size_t count)
{
    const floats s = *sums;
    float sum = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
    for (size_t i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* One column by itself and up to three that follow it in `other`. */
INLINE void products_of(const float *column, const float *other, size_t count, size_t length,
                        float *out)
{
    floats sums[4] = {{0}}, a, b;
    size_t i = 0;
    for (; i + WIDE <= length; i += WIDE) {
        memcpy(&a, column + i, sizeof a);
        for (size_t k = 0; k < count; k++) {
            memcpy(&b, other + k * length + i, sizeof b);
            sums[k] += a * b;
        }
    }
    for (size_t k = 0; k < count; k++)
        out[k] = joined(&sums[k], column + i, other + k * length + i, length - i);
}

INLINE void all_products(const float *columns, size_t count, size_t length, float *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t k = i;
        for (; k + 4 <= count; k += 4, out += 4)
            products_of(columns + i * length, columns + k * length, 4, length, out);
        for (; k < count; k++)
            products_of(columns + i * length, columns + k * length, 1, length, out++);
    }
}

void by_few_products_ref(const float *columns, size_t count, size_t length, float *out)
{
    all_products(columns, count, length, out);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void products_avx2(const float *columns, size_t count,
                                                          size_t length, float *out)
{
    all_products(columns, count, length, out);
}
#endif

void by_few_products(const float *columns, size_t count, size_t length, float *out)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        products_avx2(columns, count, length, out);
        return;
    }
#endif
    by_few_products_ref(columns, count, length, out);
}
