/* Categories of code points, and the repair of what is no UTF-8. */
#include "llm/text/unicode.h"

#include "base/utf8.h"
#include "llm/text/unicode_data.h"

static const char names[BY_CATEGORIES][3] = {
    "Cn", "Cc", "Cf", "Co", "Cs", "Ll", "Lm", "Lo", "Lt", "Lu", "Mc", "Me", "Mn", "Nd", "Nl",
    "No", "Pc", "Pd", "Pe", "Pf", "Pi", "Po", "Ps", "Sc", "Sk", "Sm", "So", "Zl", "Zp", "Zs",
};

enum by_category by_category_of(uint32_t code)
{
    const uint32_t run =
        by_unicode_run(by_unicode_categories, by_unicode_categories_count, 5, code);
    return (enum by_category)(run & 31);
}

uint32_t by_category_mask(const char *name, size_t size)
{
    uint32_t mask = 0;
    if (size != 1 && size != 2)
        return 0;
    for (size_t i = 0; i < BY_CATEGORIES; i++)
        if (names[i][0] == name[0] && (size == 1 || names[i][1] == name[1]))
            mask |= 1u << i;
    return mask;
}

uint32_t by_word_mask(void)
{
    return by_category_mask("L", 1) | by_category_mask("M", 1) | 1u << BY_ND | 1u << BY_NL |
           1u << BY_PC;
}

bool by_is_white(uint32_t code)
{
    if (code < 0x80)
        return code == ' ' || (code >= '\t' && code <= '\r');
    return code == 0x85 || (by_category_of(code) >= BY_ZL);
}

/* Bytes of the longest part at the beginning that could begin a character; at least 1. */
static size_t broken_length(const uint8_t *bytes, size_t size)
{
    uint8_t first = bytes[0];
    size_t length = first >= 0xc2 && first <= 0xdf ? 2 : (first & 0xf0) == 0xe0 ? 3 : 4;
    if (first < 0xc2 || first > 0xf4)
        return 1;
    for (size_t i = 1; i < length; i++) {
        uint8_t low = 0x80, high = 0xbf;
        if (i == 1) {
            low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : low;
            high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : high;
        }
        if (i == size || bytes[i] < low || bytes[i] > high)
            return i;
    }
    return length;
}

void by_utf8_repair(struct by_str *out, const char *text, size_t size)
{
    const uint8_t *bytes = (const uint8_t *)text;
    uint32_t code;
    for (size_t at = 0, good = 0; at <= size;) {
        size_t length = at < size ? by_utf8_next(bytes + at, size - at, &code) : 0;
        if (length) {
            at += length;
            continue;
        }
        by_str_add(out, text + good, at - good);
        if (at == size)
            return;
        by_str_puts(out, "\xef\xbf\xbd");
        at += broken_length(bytes + at, size - at);
        good = at;
    }
}
