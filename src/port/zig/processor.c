/* Asks an x86-64 processor which vectors it has, and whether the system saves their registers. */
#include "port/zig/processor.h"

#include <string.h>

#if defined(__x86_64__)

#include <cpuid.h>

/* Registers that the system saves, as XGETBV counts them. */
#define YMM 0x06u
#define ZMM 0xe6u

/* Where CPUID says it: leaf 1 or 7, register EBX or ECX, bit. */
static const struct feature {
    const char *name;
    unsigned leaf;
    bool in_ebx;
    unsigned bit, saved;
} features[] = {
    {"sse4.2", 1, false, bit_SSE4_2, 0},      {"avx", 1, false, bit_AVX, YMM},
    {"fma", 1, false, bit_FMA, YMM},          {"f16c", 1, false, bit_F16C, YMM},
    {"avx2", 7, true, bit_AVX2, YMM},         {"avx512f", 7, true, bit_AVX512F, ZMM},
    {"avx512bw", 7, true, bit_AVX512BW, ZMM}, {"avx512dq", 7, true, bit_AVX512DQ, ZMM},
    {"avx512vl", 7, true, bit_AVX512VL, ZMM}, {"avx512vnni", 7, false, bit_AVX512VNNI, ZMM},
};

#define FEATURE_COUNT (sizeof features / sizeof *features)

static unsigned saved_registers(void)
{
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
        return 0;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

bool by_processor_has(const char *name)
{
    unsigned a, b, c, d;
    for (size_t i = 0; i < FEATURE_COUNT; i++) {
        const struct feature *feature = &features[i];
        if (!strcmp(feature->name, name))
            return (saved_registers() & feature->saved) == feature->saved &&
                   __get_cpuid_count(feature->leaf, 0, &a, &b, &c, &d) &&
                   (feature->in_ebx ? b : c) & feature->bit;
    }
    return false;
}

#endif
