/* Quotes names for messages and escapes bytes that a terminal would act on. */
#include "base/err.h"
#include "base/utf8.h"

#include <string.h>

#define SHOWN_MAX 128u

static void put_escaped(char *out, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        *out++ = '\\';
        *out++ = 'x';
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
}

size_t by_escape(char *out, size_t room, const void *text, size_t size, size_t *taken)
{
    const uint8_t *bytes = text;
    size_t used = 0, i = 0;
    while (i < size) {
        uint32_t code = 0;
        size_t length = by_utf8_next(bytes + i, size - i, &code);
        bool plain = length && !by_utf8_is_hidden(code);
        length = length ? length : 1;
        size_t need = plain ? length : 4 * length;
        if (need > room - used)
            break;
        if (plain)
            memcpy(out + used, bytes + i, length);
        else
            put_escaped(out + used, bytes + i, length);
        used += need;
        i += length;
    }
    *taken = i;
    return used;
}

const char *by_quote_bytes(char out[BY_QUOTE_MAX], const void *text, size_t size)
{
    size_t taken;
    out[0] = '\'';
    size_t used = 1 + by_escape(out + 1, SHOWN_MAX, text, size, &taken);
    const char *end = taken < size ? "'..." : "'";
    memcpy(out + used, end, strlen(end) + 1);
    return out;
}

const char *by_quote(char out[BY_QUOTE_MAX], const char *text)
{
    return by_quote_bytes(out, text ? text : "", text ? strlen(text) : 0);
}
