/* Parses integers, decimal numbers and byte counts from text. */
#include "base/format.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool by_parse_i64(const char *text, int64_t *value)
{
    bool negative = *text == '-';
    if (*text == '-' || *text == '+')
        text++;
    if (!is_digit(*text))
        return false;
    int64_t sum = 0;
    for (; is_digit(*text); text++) {
        int64_t digit = *text - '0';
        /* Counted downwards: the lowest number has no positive twin. */
        if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_sub_overflow(sum, digit, &sum))
            return false;
    }
    if (*text || (!negative && sum == INT64_MIN))
        return false;
    *value = negative ? sum : -sum;
    return true;
}

static const char *skip_digits(const char *text)
{
    while (is_digit(*text))
        text++;
    return text;
}

/* [+-] digits [. digits] [e [+-] digits], with a digit before or after the point. */
static bool looks_decimal(const char *text)
{
    if (*text == '-' || *text == '+')
        text++;
    const char *point = skip_digits(text);
    bool digits = point > text;
    if (*point == '.') {
        text = skip_digits(point + 1);
        digits |= text > point + 1;
    } else {
        text = point;
    }
    if (!digits)
        return false;
    if (*text == 'e' || *text == 'E') {
        text++;
        if (*text == '-' || *text == '+')
            text++;
        const char *end = skip_digits(text);
        if (end == text)
            return false;
        text = end;
    }
    return !*text;
}

bool by_parse_double(const char *text, double *value)
{
    if (!looks_decimal(text))
        return false;
    double parsed = strtod_l(text, NULL, by_c_locale());
    if (!__builtin_isfinite(parsed))
        return false;
    *value = parsed;
    return true;
}

/* "k" is 1000, "KiB" is 1024; a B may follow the letter in both. */
static bool parse_unit(const char *unit, uint64_t *factor)
{
    static const char letters[] = "kMGT";
    *factor = 1;
    if (!*unit || !strcmp(unit, "B"))
        return true;
    const char *letter = strchr(letters, *unit == 'K' ? 'k' : *unit);
    if (!letter)
        return false;
    bool binary = unit[1] == 'i';
    const char *rest = unit + (binary ? 2 : 1);
    if (binary ? strcmp(rest, "B") != 0 : *rest && strcmp(rest, "B") != 0)
        return false;
    for (const char *step = letters; step <= letter; step++)
        *factor *= binary ? 1024 : 1000;
    return true;
}

bool by_parse_bytes(const char *text, uint64_t *value)
{
    uint64_t whole = 0, parts = 0, scale = 1, factor;
    if (!is_digit(*text))
        return false;
    for (; is_digit(*text); text++)
        if (__builtin_mul_overflow(whole, 10u, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*text - '0'), &whole))
            return false;
    if (*text == '.') {
        if (!is_digit(*++text))
            return false;
        for (; is_digit(*text) && scale < 1000000; text++, scale *= 10)
            parts = parts * 10 + (uint64_t)(*text - '0');
    }
    if (!parse_unit(text, &factor) || (scale > 1 && factor == 1))
        return false;
    return !__builtin_mul_overflow(whole, factor, &whole) &&
           !__builtin_add_overflow(whole, parts * factor / scale, value);
}
