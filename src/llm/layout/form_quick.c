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

#define COLUMNS 16 /* that are turned at once */

typedef uint8_t bytes __attribute__((vector_size(COLUMNS)));
typedef uint16_t twos __attribute__((vector_size(COLUMNS)));
typedef uint32_t fours __attribute__((vector_size(COLUMNS)));

/* The first and the second halves of two vectors, one of each after the other. */
#define LOW8(a, b)                                                                                 \
    __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define HIGH8(a, b)                                                                                \
    __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define LOW16(a, b)  __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define HIGH16(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define LOW32(a, b)  __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define HIGH32(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)

/* Byte c of line i becomes byte i of column c: two columns in each of `out`. */
static inline void turn(const bytes x[EIGHT], fours out[EIGHT])
{
    twos pair[EIGHT]; /* columns 0 to 7 of lines 0 and 1, 2 and 3, ...; columns 8 to 15 of them */
    for (size_t i = 0; i < 4; i++) {
        pair[i] = (twos)LOW8(x[2 * i], x[2 * i + 1]);
        pair[4 + i] = (twos)HIGH8(x[2 * i], x[2 * i + 1]);
    }
    for (size_t half = 0; half < 2; half++) {
        const twos *of = pair + 4 * half;
        const fours a = (fours)LOW16(of[0], of[1]), b = (fours)HIGH16(of[0], of[1]);
        const fours c = (fours)LOW16(of[2], of[3]), d = (fours)HIGH16(of[2], of[3]);
        out[4 * half] = LOW32(a, c);
        out[4 * half + 1] = HIGH32(a, c);
        out[4 * half + 2] = LOW32(b, d);
        out[4 * half + 3] = HIGH32(b, d);
    }
}

static inline bytes load_bytes(const uint8_t *at)
{
    bytes x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* Sixteen bytes of each of eight lines of words: rows of codes, or two rows in a line. */
static inline void gather(const struct by_llm_form *form, const uint8_t *codes,
                          const uint8_t *order, bytes x[EIGHT])
{
    for (size_t i = 0; i < EIGHT; i++) {
        if (form->bits == 8) {
            x[i] = load_bytes(codes + i * form->columns) ^ form->flip;
            continue;
        }
        const size_t word = i / 4 * EIGHT, place = i % 4 * 2;
        const bytes low = load_bytes(codes + (word + order[place]) * form->columns);
        const bytes high = load_bytes(codes + (word + order[place + 1]) * form->columns);
        x[i] = ((low ^ form->flip) & 0x0f) | (high ^ form->flip) << 4;
    }
}

/* Bytes [columns][rows / n]; tiles, so that lines of the cache are written whole. */
static size_t put_across(const struct by_llm_form *form, const uint8_t *codes, size_t first,
                         size_t count, uint8_t *words)
{
    static const uint8_t natural[EIGHT] = {0, 1, 2, 3, 4, 5, 6, 7};
    const uint8_t *order = form->order ? form->order : natural;
    const size_t step = form->bits == 8 ? EIGHT : 2 * EIGHT; /* rows in eight bytes */
    const size_t done = count - count % step, line = form->rows * form->bits / 8;
    const size_t tile = TILE * step / EIGHT;
    for (size_t begin = 0; begin < done; begin += tile)
        for (size_t c = 0; c < form->columns; c += COLUMNS)
            for (size_t r = begin; r < done && r < begin + tile; r += step) {
                uint8_t *to = words + c * line + (first + r) / step * EIGHT;
                bytes x[EIGHT];
                fours two[EIGHT];
                gather(form, codes + r * form->columns + c, order, x);
                turn(x, two);
                for (size_t i = 0; i < EIGHT; i++) {
                    memcpy(to + 2 * i * line, &two[i], EIGHT);
                    memcpy(to + (2 * i + 1) * line, (const uint8_t *)&two[i] + EIGHT, EIGHT);
                }
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
    if (form->direction == BY_FORM_ACROSS && form->columns % COLUMNS == 0 &&
        form->rows % (2 * EIGHT) == 0 && first % (2 * EIGHT) == 0 &&
        ((form->bits == 4 && form->word == 32) || (form->bits == 8 && form->word == 8)))
        return put_across(form, codes, first, count, words);
    return 0;
}
