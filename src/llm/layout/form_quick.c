/* Packs codes of 4, 6 and 8 bits in the bytes of 64-bit numbers. */
#include "llm/layout/form_quick.h"

#include <string.h>

#define LITTLE_ENDIAN_ (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
#define EIGHT          8
#define NIBBLES        0x0f0f0f0f0f0f0f0fu
#define PAIRS          16
#define TILE           64 /* rows and columns that are turned at once */

static uint64_t load(const uint8_t *at)
{
    uint64_t all;
    memcpy(&all, at, sizeof all);
    return all;
}

/* --- Eight codes to a word --- */

/* The low four bits of each byte, one after the other. */
static uint32_t pack4(uint64_t x)
{
    x &= NIBBLES;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffu;
    x = (x | x >> 8) & 0x0000ffff0000ffffu;
    return (uint32_t)(x | x >> 16);
}

/* The even ones, then the odd ones: AWQ's order. */
static uint32_t pack4_even_odd(uint64_t x)
{
    uint64_t even = x & 0x000f000f000f000fu, odd = x >> 8 & 0x000f000f000f000fu;
    uint64_t both = even | odd << 4; /* bits 0 to 3 and 4 to 7 of each pair */
    uint32_t first = 0, second = 0;
    for (unsigned k = 0; k < 4; k++) {
        first |= (uint32_t)(both >> 16 * k & 0x0f) << 4 * k;
        second |= (uint32_t)(both >> (16 * k + 4) & 0x0f) << 4 * k;
    }
    return first | second << 16;
}

/* Four codes of six bits in three bytes, twice. */
static uint64_t pack6(uint64_t x)
{
    x &= 0x3f3f3f3f3f3f3f3fu;
    x = (x & 0x003f003f003f003fu) | (x >> 2 & 0x0fc00fc00fc00fc0u);
    x = (x & 0x00000fff00000fffu) | (x >> 4 & 0x00fff00000fff000u);
    return (x & 0x0000000000ffffffu) | (x >> 8 & 0x0000ffffff000000u);
}

static bool is_even_odd(const uint8_t *order)
{
    static const uint8_t awq[EIGHT] = {0, 2, 4, 6, 1, 3, 5, 7};
    return order && !memcmp(order, awq, sizeof awq);
}

/* --- Along rows --- */

typedef uint16_t pairs __attribute__((vector_size(PAIRS * 2)));
typedef uint8_t narrow_pairs __attribute__((vector_size(PAIRS)));

/* In the compiler's own vectors: each number has two neighbours. Returns how many columns. */
static size_t put_pairs4(const struct by_llm_form *form, const uint8_t *codes, uint8_t *words)
{
    const uint16_t flip = (uint16_t)(0x0101u * form->flip);
    const size_t step = 2 * (size_t)PAIRS, done = form->columns - form->columns % step;
    for (size_t c = 0; c < done; c += step) {
        pairs x;
        memcpy(&x, codes + c, sizeof x);
        x ^= flip;
        x = (x & 0x0f) | (x >> 4 & 0xf0);
        const narrow_pairs word = __builtin_convertvector(x, narrow_pairs);
        memcpy(words + c / 2, &word, sizeof word);
    }
    return done;
}

static void put_row4(const struct by_llm_form *form, const uint8_t *codes, uint8_t *words)
{
    const uint64_t flip = 0x0101010101010101u * form->flip;
    const bool even_odd = form->order != NULL;
    const size_t begin = even_odd ? 0 : put_pairs4(form, codes, words);
    for (size_t c = begin; c < form->columns; c += EIGHT) {
        const uint64_t x = load(codes + c) ^ flip;
        const uint32_t word = even_odd ? pack4_even_odd(x) : pack4(x);
        memcpy(words + c / 2, &word, sizeof word);
    }
}

static void put_row6(const struct by_llm_form *form, const uint8_t *codes, uint8_t *words)
{
    for (size_t c = 0; c < form->columns; c += EIGHT) {
        const uint64_t word = pack6(load(codes + c));
        memcpy(words + c / 4 * 3, &word, 6);
    }
}

static size_t put_along_rows(const struct by_llm_form *form, const uint8_t *codes, size_t first,
                             size_t count, uint8_t *words)
{
    const size_t bytes = form->columns / EIGHT * form->bits;
    for (size_t r = 0; r < count; r++) {
        uint8_t *to = words + (first + r) * bytes;
        if (form->bits == 4)
            put_row4(form, codes + r * form->columns, to);
        else
            put_row6(form, codes + r * form->columns, to);
    }
    return count;
}

/* Words of eight neighbours, those of a column of words one after the other. */
static size_t put_down(const struct by_llm_form *form, const uint8_t *codes, size_t first,
                       size_t count, uint8_t *words)
{
    const uint64_t flip = 0x0101010101010101u * form->flip;
    const size_t per = form->bits == 4 ? EIGHT : 4;
    for (size_t c = 0; c < form->columns; c += EIGHT)
        for (size_t r = 0; r < count; r++) {
            const uint64_t x = load(codes + r * form->columns + c) ^ flip;
            const uint32_t low = form->bits == 4 ? pack4(x) : (uint32_t)x,
                           high = (uint32_t)(x >> 32);
            uint8_t *to = words + (c / per * form->rows + first + r) * sizeof low;
            memcpy(to, &low, sizeof low);
            if (form->bits == 8)
                memcpy(to + form->rows * sizeof low, &high, sizeof high);
        }
    return count;
}

/* --- Across rows --- */

/* Bytes of two numbers change places where the mask has none. */
static void swap(uint64_t *a, uint64_t *b, unsigned shift, uint64_t mask)
{
    const uint64_t differ = (*a >> shift ^ *b) & mask;
    *a ^= differ << shift;
    *b ^= differ;
}

/* Byte c of number r becomes byte r of number c. */
static void turn(uint64_t x[EIGHT])
{
    for (size_t i = 0; i < 4; i++)
        swap(&x[i], &x[i + 4], 32, 0x00000000ffffffffu);
    for (size_t i = 0; i < EIGHT; i += 4) {
        swap(&x[i], &x[i + 2], 16, 0x0000ffff0000ffffu);
        swap(&x[i + 1], &x[i + 3], 16, 0x0000ffff0000ffffu);
    }
    for (size_t i = 0; i < EIGHT; i += 2)
        swap(&x[i], &x[i + 1], 8, 0x00ff00ff00ff00ffu);
}

/* Eight bytes of each of eight lines of words: rows of codes, or two rows in a line. */
static void gather(const struct by_llm_form *form, const uint8_t *codes, uint64_t x[EIGHT])
{
    static const uint8_t natural[EIGHT] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint64_t flip = 0x0101010101010101u * form->flip;
    const uint8_t *order = form->order ? form->order : natural;
    for (size_t i = 0; i < EIGHT; i++) {
        if (form->bits == 8) {
            x[i] = load(codes + i * form->columns) ^ flip;
            continue;
        }
        const size_t word = i / 4 * EIGHT, place = i % 4 * 2;
        const uint64_t low = load(codes + (word + order[place]) * form->columns) ^ flip;
        const uint64_t high = load(codes + (word + order[place + 1]) * form->columns) ^ flip;
        x[i] = (low & NIBBLES) | (high & NIBBLES) << 4;
    }
}

/* Bytes [columns][rows / n]; tiles, so that lines of the cache are written whole. */
static size_t put_across(const struct by_llm_form *form, const uint8_t *codes, size_t first,
                         size_t count, uint8_t *words)
{
    const size_t step = form->bits == 8 ? EIGHT : 2 * EIGHT; /* rows in eight bytes */
    const size_t done = count - count % step, line = form->rows * form->bits / 8;
    const size_t tile = TILE * step / EIGHT;
    for (size_t begin = 0; begin < done; begin += tile)
        for (size_t c = 0; c < form->columns; c += EIGHT)
            for (size_t r = begin; r < done && r < begin + tile; r += step) {
                uint64_t x[EIGHT];
                gather(form, codes + r * form->columns + c, x);
                turn(x);
                for (size_t i = 0; i < EIGHT; i++)
                    memcpy(words + (c + i) * line + (first + r) / step * EIGHT, &x[i], EIGHT);
            }
    return done;
}

/* --- Which --- */

size_t by_llm_form_put_quickly(const struct by_llm_form *form, const uint8_t *codes, size_t first,
                               size_t count, uint8_t *words)
{
    const bool is_four = form->bits == 4 && (form->word == 32 || (form->word == 8 && !form->order));
    if (!LITTLE_ENDIAN_ || form->columns % EIGHT)
        return 0;
    if (form->direction == BY_FORM_ROWS &&
        ((is_four && (!form->order || is_even_odd(form->order))) ||
         (form->bits == 6 && form->word == 24 && !form->order && !form->flip)))
        return put_along_rows(form, codes, first, count, words);
    if (form->direction == BY_FORM_DOWN && form->word == 32 && !form->order &&
        (form->bits == 4 || form->bits == 8))
        return put_down(form, codes, first, count, words);
    if (form->direction == BY_FORM_ACROSS && form->rows % (2 * EIGHT) == 0 &&
        first % (2 * EIGHT) == 0 &&
        ((form->bits == 4 && form->word == 32) || (form->bits == 8 && form->word == 8)))
        return put_across(form, codes, first, count, words);
    return 0;
}
