/* Exact sums and folds of a .stats file. */
#include "stats/store.h"

#include <string.h>

#define BLOCK 64u
/* 2^20 numbers of 40 bits and a sign; so what is read can be added without a care. */
#define SUM_BITS 61u

static unsigned exact_byte(const struct by_exact *sum, size_t index)
{
    return (unsigned)(sum->words[index / 8] >> (8 * (index % 8))) & 0xff;
}

void by_store_put_exact(struct by_str *out, const struct by_exact *sum)
{
    size_t first = 0, end = sizeof sum->words;
    unsigned sign = exact_byte(sum, end - 1) & 0x80 ? 0xff : 0;
    while (first < end && !exact_byte(sum, first))
        first++;
    while (end > first && exact_byte(sum, end - 1) == sign &&
           (end - 1 == first ? !sign : (exact_byte(sum, end - 2) & 0x80) == (sign & 0x80)))
        end--;
    if (first == sizeof sum->words)
        first = end = 0;
    by_store_put_varint(out, first);
    by_store_put_varint(out, end - first);
    for (size_t i = first; i < end; i++)
        by_store_put_byte(out, exact_byte(sum, i));
}

void by_store_take_exact(struct by_store_in *in, struct by_exact *sum)
{
    *sum = (struct by_exact){0};
    size_t first = (size_t)by_store_take_varint(in, sizeof sum->words, "the start of a sum");
    size_t count = (size_t)by_store_take_varint(in, sizeof sum->words - first, "a sum's length");
    const uint8_t *bytes = by_store_take(in, count);
    if (!bytes || in->failed || (!count && !first))
        return;
    uint8_t sign = count && bytes[count - 1] & 0x80 ? 0xff : 0;
    bool longer =
        count && bytes[count - 1] == sign && (count > 1 ? (bytes[count - 2] ^ sign) < 0x80 : !sign);
    if (!count || !bytes[0] || longer) {
        by_store_fail(in, "a sum is not in its shortest form");
        return;
    }
    uint8_t all[sizeof sum->words];
    memset(all, 0, first);
    memcpy(all + first, bytes, count);
    memset(all + first + count, sign, sizeof all - first - count);
    for (size_t i = 0; i < sizeof all; i++)
        sum->words[i / 8] |= (uint64_t)all[i] << (8 * (i % 8));
}

/* --- Planes --- */

/* The bits that any of the numbers needs: [*shift, *shift + width), the top one the sign. */
static unsigned block_width(const int64_t *values, size_t count, unsigned *shift)
{
    uint64_t any = 0, big = 0;
    for (size_t i = 0; i < count; i++) {
        any |= (uint64_t)values[i];
        big |= (uint64_t)(values[i] < 0 ? ~values[i] : values[i]);
    }
    if (!any)
        return 0;
    *shift = (unsigned)__builtin_ctzll(any);
    unsigned top = big ? 64 - (unsigned)__builtin_clzll(big) : 0;
    return top + 1 - *shift;
}

static void store_word(uint8_t *to, uint64_t word)
{
    for (unsigned i = 0; i < 8; i++)
        to[i] = (uint8_t)(word >> (8 * i));
}

static uint64_t load_word(const uint8_t *from)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)from[i] << (8 * i);
    return word;
}

static size_t block_bytes(size_t count, unsigned width)
{
    return (count * width + 7) / 8;
}

static void put_block(struct by_str *out, const int64_t *values, size_t count)
{
    uint8_t bytes[2 + 8 * BLOCK + 8];
    unsigned shift = 0, width = block_width(values, count, &shift);
    bytes[0] = (uint8_t)width;
    bytes[1] = (uint8_t)shift;
    if (!width) {
        by_str_add(out, bytes, 1);
        return;
    }
    uint64_t mask = UINT64_MAX >> (64 - width), word = 0;
    uint8_t *at = bytes + 2;
    unsigned used = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = (uint64_t)values[i] >> shift & mask;
        word |= bits << used;
        used += width;
        if (used < 64)
            continue;
        store_word(at, word);
        at += 8;
        used -= 64;
        word = used ? bits >> (width - used) : 0;
    }
    store_word(at, word);
    by_str_add(out, bytes, 2 + block_bytes(count, width));
}

static void put_plane(struct by_str *out, const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i += BLOCK)
        put_block(out, values + i, count - i < BLOCK ? count - i : BLOCK);
}

static void unpack(const uint8_t *bytes, size_t size, unsigned width, unsigned shift,
                   int64_t *values, size_t count)
{
    uint8_t padded[8 * BLOCK + 8];
    memcpy(padded, bytes, size);
    memset(padded + size, 0, sizeof padded - size);
    for (size_t i = 0; i < count; i++) {
        size_t bit = i * width;
        unsigned skip = bit % 64;
        uint64_t word = load_word(padded + bit / 64 * 8) >> skip;
        if (skip + width > 64)
            word |= load_word(padded + bit / 64 * 8 + 8) << (64 - skip);
        int64_t extended = (int64_t)(word << (64 - width)) >> (64 - width);
        values[i] = (int64_t)((uint64_t)extended << shift);
    }
}

static bool take_block(struct by_store_in *in, int64_t *values, size_t count)
{
    unsigned shift, needed = 0, width = by_store_take_byte(in, SUM_BITS);
    if (!width) {
        memset(values, 0, count * sizeof *values);
        return !in->failed;
    }
    shift = by_store_take_byte(in, SUM_BITS - width);
    size_t size = block_bytes(count, width);
    const uint8_t *bytes = by_store_take(in, size);
    if (!bytes || in->failed)
        return false;
    unpack(bytes, size, width, shift, values, count);
    unsigned padding = (unsigned)(8 * size - count * width);
    if (block_width(values, count, &needed) == width && needed == shift &&
        !(padding && bytes[size - 1] >> (8 - padding)))
        return true;
    in->at -= size + 2;
    by_store_fail(in, "%zu sums are not in their shortest form", count);
    return false;
}

static void take_plane(struct by_store_in *in, int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i += BLOCK)
        if (!take_block(in, values + i, count - i < BLOCK ? count - i : BLOCK))
            return;
}

/* Cells that floats can reach, with room. */
#define CELL_MAX 64

void by_store_put_fold(struct by_str *out, const struct by_fold *fold)
{
    if (fold->cell == BY_FOLD_NONE) {
        by_store_put_byte(out, 0);
        return;
    }
    uint64_t cell = (uint64_t)(fold->cell < 0 ? -2 * fold->cell - 1 : 2 * fold->cell);
    by_store_put_varint(out, cell + 1);
    put_plane(out, fold->high, fold->count);
    put_plane(out, fold->low, fold->count);
}

void by_store_take_fold(struct by_store_in *in, struct by_fold *fold)
{
    uint64_t cell = by_store_take_varint(in, 2 * CELL_MAX, "the cell of sums");
    if (!cell || in->failed)
        return;
    cell--;
    fold->cell = (int32_t)(cell & 1 ? -(int64_t)(cell / 2) - 1 : (int64_t)(cell / 2));
    take_plane(in, fold->high, fold->count);
    take_plane(in, fold->low, fold->count);
}
