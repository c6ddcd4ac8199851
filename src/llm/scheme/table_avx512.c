/* Looks codes up with AVX-512 VBMI: tables of 128 bytes in two registers. */
#include "llm/scheme/table_path.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define VALUES 64 /* at once */

struct registers {
    __m512i low, high;       /* places of the low and high bytes of words */
    __m512i steps[2];        /* by mantissa */
    __m512i even[2], odd[2]; /* bases by exponent: those of the even ones and of the odd ones */
};

static bool avx512_supported(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");
}

TARGET static void load_codes(struct registers *registers, const struct by_llm_table *table)
{
    uint8_t bytes[6][VALUES];
    for (size_t i = 0; i < VALUES; i++) {
        bytes[0][i] = (uint8_t)(2 * i);
        bytes[1][i] = (uint8_t)(2 * i + 1);
        bytes[2][i] = table->bases[2 * i];
        bytes[3][i] = table->bases[2 * (i + VALUES)];
        bytes[4][i] = table->bases[2 * i + 1];
        bytes[5][i] = table->bases[2 * (i + VALUES) + 1];
    }
    *registers = (struct registers){
        .low = _mm512_loadu_si512(bytes[0]),
        .high = _mm512_loadu_si512(bytes[1]),
        .steps = {_mm512_loadu_si512(table->steps), _mm512_loadu_si512(table->steps + VALUES)},
        .even = {_mm512_loadu_si512(bytes[2]), _mm512_loadu_si512(bytes[3])},
        .odd = {_mm512_loadu_si512(bytes[4]), _mm512_loadu_si512(bytes[5])},
    };
}

/* Values whose codes do not follow from exponent and mantissa. */
static void look_up_odd(const struct by_llm_table *table, const uint16_t *values, uint64_t odd,
                        uint8_t *codes)
{
    for (; odd; odd &= odd - 1) {
        const int i = __builtin_ctzll(odd);
        codes[i] = table->codes[values[i]];
    }
}

/*
 * A word is the sign, eight bits of exponent and seven of mantissa: its high byte without the sign
 * is the number of a base among those of even, or of odd exponents, which the first bit of the low
 * byte tells; the rest of the low byte is the number of a step. The tables leave the first bit out.
 */
TARGET static void avx512_codes(const struct by_llm_table *table, const uint16_t *values,
                                size_t count, uint8_t *codes)
{
    struct registers r;
    const __m512i sign = _mm512_set1_epi8((char)0x80);
    size_t i = 0;
    load_codes(&r, table);
    for (; i + VALUES <= count; i += VALUES) {
        const __m512i first = _mm512_loadu_si512(values + i);
        const __m512i second = _mm512_loadu_si512(values + i + VALUES / 2);
        const __m512i low = _mm512_permutex2var_epi8(first, r.low, second);
        const __m512i high = _mm512_permutex2var_epi8(first, r.high, second);
        const __m512i step = _mm512_permutex2var_epi8(r.steps[0], low, r.steps[1]);
        const __m512i even = _mm512_permutex2var_epi8(r.even[0], high, r.even[1]);
        const __m512i odd = _mm512_permutex2var_epi8(r.odd[0], high, r.odd[1]);
        const __m512i base = _mm512_mask_blend_epi8(_mm512_movepi8_mask(low), even, odd);
        const __m512i code = _mm512_add_epi8(base, step);
        const uint64_t strange = _mm512_movepi8_mask(base);
        _mm512_storeu_si512(codes + i, _mm512_or_si512(code, _mm512_and_si512(high, sign)));
        if (strange)
            look_up_odd(table, values + i, strange, codes + i);
    }
    by_llm_table_plain.codes(table, values + i, count - i, codes + i);
}

const struct by_llm_table_path by_llm_table_avx512 = {"avx512", avx512_supported, true,
                                                      avx512_codes};

#endif
