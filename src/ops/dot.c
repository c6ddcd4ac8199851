/* Sums products of 16-bit integers, with AVX2, SSE2 or plain C. */
#include "ops/dot.h"

#include <string.h>

int64_t by_dot_plain(const int16_t *a, const int16_t *b, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (int32_t)a[i] * (int32_t)b[i];
    return sum;
}

#if defined(__x86_64__)

#include <stdatomic.h>

/* Two products are above -LEAST and at most 2^31: with LEAST added they are 32 bits without a sign.
 */
#define LEAST 0x7fff0000u

/* Vectors of `lanes` values, on processors with `needs`. */
#define DOT(name, lanes, needs, multiply_add)                                                      \
    __attribute__((target(needs))) static int64_t name(const int16_t *a, const int16_t *b,         \
                                                       size_t count)                               \
    {                                                                                              \
        typedef short words __attribute__((vector_size(2 * (lanes))));                             \
        typedef uint32_t pairs __attribute__((vector_size(2 * (lanes))));                          \
        typedef uint64_t sums __attribute__((vector_size(2 * (lanes))));                           \
        const size_t whole = count - count % (lanes);                                              \
        sums even = {0}, odd = {0};                                                                \
        uint64_t all = 0;                                                                          \
        for (size_t i = 0; i < whole; i += (lanes)) {                                              \
            words x, y;                                                                            \
            memcpy(&x, a + i, sizeof x);                                                           \
            memcpy(&y, b + i, sizeof y);                                                           \
            const sums both = (sums)((pairs)multiply_add(x, y) + LEAST);                           \
            even += both & 0xffffffff;                                                             \
            odd += both >> 32;                                                                     \
        }                                                                                          \
        for (size_t i = 0; i < (lanes) / 4; i++)                                                   \
            all += even[i] + odd[i];                                                               \
        return (int64_t)all - (int64_t)(whole / 2) * LEAST +                                       \
               by_dot_plain(a + whole, b + whole, count - whole);                                  \
    }

DOT(dot_sse2, 8, "sse2", __builtin_ia32_pmaddwd128)
DOT(dot_avx2, 16, "avx2", __builtin_ia32_pmaddwd256)

typedef int64_t dot(const int16_t *a, const int16_t *b, size_t count);

int64_t by_dot(const int16_t *a, const int16_t *b, size_t count)
{
    static dot *_Atomic choice;
    dot *chosen = atomic_load_explicit(&choice, memory_order_relaxed);
    if (!chosen) {
        chosen = __builtin_cpu_supports("avx2") ? dot_avx2 : dot_sse2;
        atomic_store_explicit(&choice, chosen, memory_order_relaxed);
    }
    return chosen(a, b, count);
}

#else

int64_t by_dot(const int16_t *a, const int16_t *b, size_t count)
{
    return by_dot_plain(a, b, count);
}

#endif
