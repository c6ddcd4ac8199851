/* Matches a name against a pattern with `*`, `?` and `[...]`. */
#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

/* One character of the text; a byte that is no UTF-8 counts as a character of its own. */
static size_t next_character(const char *text, uint32_t *code)
{
    size_t length = by_utf8_next((const uint8_t *)text, strnlen(text, 4), code);
    if (length)
        return length;
    *code = 0x110000u + (uint8_t)*text;
    return *text ? 1 : 0;
}

/* [abc] [a-z] [!abc]: `set` is after the bracket. NULL when it is never closed. */
static const char *match_set(const char *set, uint32_t code, bool *matched)
{
    bool inverted = *set == '!' || *set == '^', found = false;
    if (inverted)
        set++;
    for (bool first = true; *set && (first || *set != ']'); first = false) {
        uint32_t low, high;
        set += next_character(set, &low);
        high = low;
        if (set[0] == '-' && set[1] && set[1] != ']')
            set += 1 + next_character(set + 1, &high);
        found |= low <= code && code <= high;
    }
    if (*set != ']')
        return NULL;
    *matched = found != inverted;
    return set + 1;
}

/* Matches one pattern element that is not '*' with one character; NULL: no match. */
static const char *match_one(const char *pattern, uint32_t code)
{
    uint32_t wanted;
    bool matched;
    if (*pattern == '?')
        return pattern + 1;
    if (*pattern == '[') {
        const char *end = match_set(pattern + 1, code, &matched);
        if (end)
            return matched ? end : NULL;
    }
    if (*pattern == '\\' && pattern[1])
        pattern++;
    size_t length = next_character(pattern, &wanted);
    return length && wanted == code ? pattern + length : NULL;
}

bool by_glob(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL; /* after the last '*', and where it gave up */
    while (*name) {
        uint32_t code;
        size_t length = next_character(name, &code);
        if (*pattern == '*') {
            star = ++pattern;
            retry = name;
            continue;
        }
        const char *next = match_one(pattern, code);
        if (next) {
            pattern = next;
            name += length;
        } else if (star) {
            pattern = star;
            retry += next_character(retry, &code);
            name = retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return !*pattern;
}
