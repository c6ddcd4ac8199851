#include "base/err.h"
#include "base/utf8.h"

#include <string.h>

#define SHOWN_MAX 128u

/* Code points that act on a terminal or turn the text around instead of being seen. */
static bool is_invisible(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x2069) ||
           code == 0xfeff;
}

static char *escape(char *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        *out++ = '\\';
        *out++ = 'x';
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    return out;
}

const char *by_quote_bytes(char out[BY_QUOTE_MAX], const void *text, size_t size)
{
    const uint8_t *bytes = text;
    char *at = out;
    size_t i = 0;
    *at++ = '\'';
    while (i < size) {
        uint32_t code = 0;
        size_t length = by_utf8_next(bytes + i, size - i, &code);
        size_t taken = length ? length : 1;
        bool plain = length && !is_invisible(code);
        if ((size_t)(at - out) - 1 + (plain ? taken : 4 * taken) > SHOWN_MAX)
            break;
        if (plain) {
            memcpy(at, bytes + i, taken);
            at += taken;
        } else {
            at = escape(at, bytes + i, taken);
        }
        i += taken;
    }
    const char *end = i < size ? "'..." : "'";
    memcpy(at, end, strlen(end) + 1);
    return out;
}

const char *by_quote(char out[BY_QUOTE_MAX], const char *text)
{
    return by_quote_bytes(out, text ? text : "", text ? strlen(text) : 0);
}
