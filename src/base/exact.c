/* Adds doubles exactly in a fixed-point number of several words. */
#include "base/exact.h"

#include <math.h>
#include <string.h>

#define WORDS BY_EXACT_WORDS

/* Adds low and high at a word and the one above it, and carries on. */
static void add_at(struct by_exact *sum, size_t word, uint64_t low, uint64_t high)
{
    uint64_t *at = sum->words + word;
    unsigned long long carry = __builtin_add_overflow(at[0], low, &at[0]);
    carry = __builtin_add_overflow(at[1], carry, &at[1]);
    carry += __builtin_add_overflow(at[1], high, &at[1]);
    for (at += 2; carry && at < sum->words + WORDS; at++)
        carry = __builtin_add_overflow(*at, carry, at);
}

static void subtract_at(struct by_exact *sum, size_t word, uint64_t low, uint64_t high)
{
    uint64_t *at = sum->words + word;
    unsigned long long borrow = __builtin_sub_overflow(at[0], low, &at[0]);
    borrow = __builtin_sub_overflow(at[1], borrow, &at[1]);
    borrow += __builtin_sub_overflow(at[1], high, &at[1]);
    for (at += 2; borrow && at < sum->words + WORDS; at++)
        borrow = __builtin_sub_overflow(*at, borrow, at);
}

void by_exact_add(struct by_exact *sum, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits & 0xfffffffffffff;
    unsigned exponent = bits >> 52 & 0x7ff;
    if (exponent)
        fraction |= 0x10000000000000;
    unsigned shift = exponent ? exponent - 1 : 0;
    uint64_t low = fraction << shift % 64;
    uint64_t high = shift % 64 ? fraction >> (64 - shift % 64) : 0;
    if (bits >> 63)
        subtract_at(sum, shift / 64, low, high);
    else
        add_at(sum, shift / 64, low, high);
}

void by_exact_merge(struct by_exact *sum, const struct by_exact *other)
{
    unsigned long long carry = 0;
    for (size_t i = 0; i < WORDS; i++) {
        unsigned long long next = __builtin_add_overflow(sum->words[i], carry, &sum->words[i]);
        next += __builtin_add_overflow(sum->words[i], other->words[i], &sum->words[i]);
        carry = next;
    }
}

/* 64 bits from bit `from` on. */
static uint64_t bits_from(const uint64_t words[WORDS], size_t from)
{
    size_t word = from / 64, shift = from % 64;
    uint64_t low = words[word] >> shift;
    return shift && word + 1 < WORDS ? low | words[word + 1] << (64 - shift) : low;
}

static bool any_below(const uint64_t words[WORDS], size_t end)
{
    for (size_t i = 0; i < end / 64; i++)
        if (words[i])
            return true;
    return end % 64 && words[end / 64] << (64 - end % 64);
}

static double magnitude_of_words(const uint64_t words[WORDS])
{
    size_t top = WORDS;
    while (top && !words[top - 1])
        top--;
    if (!top)
        return 0;
    size_t bits = top * 64 - (size_t)__builtin_clzll(words[top - 1]);
    if (bits <= 53)
        return ldexp((double)words[0], -1074);
    size_t drop = bits - 53;
    uint64_t kept = bits_from(words, drop) & 0x1fffffffffffff;
    bool half = bits_from(words, drop - 1) & 1;
    if (half && (kept & 1 || any_below(words, drop - 1)))
        kept++;
    return ldexp((double)kept, (int)drop - 1074);
}

double by_exact_value(const struct by_exact *sum)
{
    if (!(sum->words[WORDS - 1] >> 63))
        return magnitude_of_words(sum->words);
    uint64_t negated[WORDS];
    bool carry = true;
    for (size_t i = 0; i < WORDS; i++)
        carry = __builtin_add_overflow(~sum->words[i], (uint64_t)carry, &negated[i]);
    return -magnitude_of_words(negated);
}
