/* Canonical decomposition and composition (Unicode Standard Annex 15). */
#include "llm/text/unicode.h"

#include "base/utf8.h"
#include "llm/text/unicode_data.h"

#include <stdlib.h>

/* Hangul syllables are computed from their letters. */
enum {
    S_FIRST = 0xac00,
    L_FIRST = 0x1100,
    V_FIRST = 0x1161,
    T_FIRST = 0x11a7,
    L_COUNT = 19,
    V_COUNT = 21,
    T_COUNT = 28,
    S_COUNT = L_COUNT * V_COUNT * T_COUNT,
};

/* Code points of a stretch that may still change. */
struct stretch {
    uint32_t *codes;
    uint8_t *classes;
    size_t count, cap;
    struct baryon_error *err;
    bool failed;
};

static uint8_t class_of(uint32_t code)
{
    return by_unicode_run(by_unicode_classes, by_unicode_classes_count, 8, code) & 255;
}

static int compare_codes(const uint32_t *key, const uint32_t *row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (key[i] != row[i])
            return key[i] < row[i] ? -1 : 1;
    return 0;
}

static int compare_one(const void *key, const void *row)
{
    return compare_codes(key, row, 1);
}

static int compare_two(const void *key, const void *row)
{
    return compare_codes(key, row, 2);
}

static void add_code(struct stretch *stretch, uint32_t code)
{
    if (stretch->count == stretch->cap && !stretch->failed) {
        size_t cap = stretch->cap ? 2 * stretch->cap : 64;
        uint32_t *codes = by_realloc(stretch->codes, cap, sizeof *codes, stretch->err);
        uint8_t *classes = codes ? by_realloc(stretch->classes, cap, 1, stretch->err) : NULL;
        stretch->codes = codes ? codes : stretch->codes;
        stretch->classes = classes ? classes : stretch->classes;
        stretch->cap = classes ? cap : stretch->cap;
        stretch->failed = !classes;
    }
    if (stretch->failed)
        return;
    stretch->codes[stretch->count] = code;
    stretch->classes[stretch->count++] = class_of(code);
}

static void cut(struct stretch *stretch, uint32_t code)
{
    if (code >= S_FIRST && code < S_FIRST + S_COUNT) {
        uint32_t index = code - S_FIRST, tail = index % T_COUNT;
        add_code(stretch, L_FIRST + index / (V_COUNT * T_COUNT));
        add_code(stretch, V_FIRST + index % (V_COUNT * T_COUNT) / T_COUNT);
        if (tail)
            add_code(stretch, T_FIRST + tail);
        return;
    }
    const uint32_t *row = bsearch(&code, by_unicode_cuts, by_unicode_cuts_count / 3,
                                  3 * sizeof *by_unicode_cuts, compare_one);
    if (!row) {
        add_code(stretch, code);
        return;
    }
    cut(stretch, row[1]);
    if (row[2])
        cut(stretch, row[2]);
}

/* Marks after each other are in the order of their classes; equal ones stay as they are. */
static void order(struct stretch *stretch)
{
    for (size_t i = 1; i < stretch->count; i++) {
        uint32_t code = stretch->codes[i];
        uint8_t class = stretch->classes[i];
        size_t to = i;
        for (; class && to && stretch->classes[to - 1] > class; to--) {
            stretch->codes[to] = stretch->codes[to - 1];
            stretch->classes[to] = stretch->classes[to - 1];
        }
        stretch->codes[to] = code;
        stretch->classes[to] = class;
    }
}

/* 0: they do not compose. */
static uint32_t join(uint32_t first, uint32_t second)
{
    const uint32_t key[2] = {first, second};
    if (first - L_FIRST < L_COUNT && second - V_FIRST < V_COUNT)
        return S_FIRST + ((first - L_FIRST) * V_COUNT + second - V_FIRST) * T_COUNT;
    if (first - S_FIRST < S_COUNT && (first - S_FIRST) % T_COUNT == 0 && second > T_FIRST &&
        second < T_FIRST + T_COUNT)
        return first + second - T_FIRST;
    const uint32_t *row = bsearch(key, by_unicode_joins, by_unicode_joins_count / 3,
                                  3 * sizeof *by_unicode_joins, compare_two);
    return row ? row[2] : 0;
}

static void compose(struct stretch *stretch)
{
    size_t starter = SIZE_MAX, to = 0;
    int last = -1; /* class of what stands between the starter and this one; -1: nothing does */
    for (size_t i = 0; i < stretch->count; i++) {
        uint8_t class = stretch->classes[i];
        uint32_t joined =
            starter != SIZE_MAX && last < class ? join(stretch->codes[starter], stretch->codes[i])
                                                : 0;
        if (joined) {
            stretch->codes[starter] = joined;
            continue;
        }
        if (!class)
            starter = to;
        last = class ? class : -1;
        stretch->codes[to] = stretch->codes[i];
        stretch->classes[to++] = class;
    }
    stretch->count = to;
}

static void flush(struct stretch *stretch, struct by_str *out, bool composed)
{
    char bytes[4];
    order(stretch);
    if (composed)
        compose(stretch);
    for (size_t i = 0; i < stretch->count; i++)
        by_str_add(out, bytes, by_utf8_put(bytes, stretch->codes[i]));
    stretch->count = 0;
}

int by_canonical(struct by_str *out, const char *text, size_t size, bool composed,
                 struct baryon_error *err)
{
    struct stretch stretch = {.err = err};
    const uint8_t *bytes = (const uint8_t *)text;
    uint32_t code;
    for (size_t at = 0, length; at < size && !stretch.failed; at += length) {
        length = by_utf8_next(bytes + at, size - at, &code);
        if (!length)
            break;
        /* ASCII composes with what follows it alone. */
        if (code < 0x80)
            flush(&stretch, out, composed);
        cut(&stretch, code);
    }
    flush(&stretch, out, composed);
    by_free(stretch.codes);
    by_free(stretch.classes);
    return stretch.failed ? -1 : by_str_error(out, err);
}
