/* Which way to compute tanh: the fastest whose bits are the C library's. */
#include "ops/tanh_path.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static bool tanh_plain_supported(void)
{
    return true;
}

static void one_by_one(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = tanhf(values[i]);
}

const struct by_tanh_path *const *by_tanh_paths(size_t *count)
{
    static const struct by_tanh_path plain = {"plain", tanh_plain_supported, one_by_one};
    static const struct by_tanh_path *const paths[] = {
#if defined(__x86_64__)
        &by_tanh_avx512,
        &by_tanh_avx2,
#endif
        &by_tanh_vector,
        &plain,
    };
    *count = sizeof paths / sizeof *paths;
    return paths;
}

/* Magnitudes between these are neither themselves nor 1; the stride is odd, so that all low bits
 * come up. */
#define LEAST  0x31800000u /* 2^-28 */
#define MOST   0x41200000u /* 10 */
#define STRIDE 65519u
#define CHUNK  256

bool by_tanh_agrees(const struct by_tanh_path *path)
{
    float in[CHUNK], out[CHUNK];
    for (uint32_t begin = LEAST; begin < MOST; begin += CHUNK * STRIDE) {
        for (uint32_t i = 0; i < CHUNK; i++) {
            const uint32_t bits = (begin + i * STRIDE) | i << 31;
            memcpy(&in[i], &bits, sizeof bits);
        }
        memcpy(out, in, sizeof out);
        path->tanh(out, CHUNK);
        one_by_one(in, CHUNK);
        if (memcmp(in, out, sizeof out) != 0)
            return false;
    }
    return true;
}

const struct by_tanh_path *by_tanh_path_chosen(void)
{
    static const struct by_tanh_path *_Atomic choice;
    const struct by_tanh_path *path = atomic_load_explicit(&choice, memory_order_relaxed);
    if (path)
        return path;
    size_t count;
    const struct by_tanh_path *const *paths = by_tanh_paths(&count);
    while (!(*paths)->supported() || !by_tanh_agrees(*paths))
        paths++;
    atomic_store_explicit(&choice, *paths, memory_order_relaxed);
    return *paths;
}

void by_tanh(float *values, size_t count)
{
    by_tanh_path_chosen()->tanh(values, count);
}
