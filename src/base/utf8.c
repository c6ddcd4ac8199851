/* Decodes, checks and encodes UTF-8. */
#include "base/utf8.h"

#include "base/str.h"

/* Bytes of a sequence and the smallest code point that may be written with so many. */
static size_t sequence_size(uint8_t lead, uint32_t *bits, uint32_t *smallest)
{
    if (lead < 0x80) {
        *bits = lead;
        *smallest = 0;
        return 1;
    }
    if ((lead & 0xe0) == 0xc0) {
        *bits = lead & 0x1f;
        *smallest = 0x80;
        return 2;
    }
    if ((lead & 0xf0) == 0xe0) {
        *bits = lead & 0x0f;
        *smallest = 0x800;
        return 3;
    }
    if ((lead & 0xf8) == 0xf0) {
        *bits = lead & 0x07;
        *smallest = 0x10000;
        return 4;
    }
    return 0;
}

size_t by_utf8_next(const uint8_t *bytes, size_t size, uint32_t *code)
{
    uint32_t value, smallest;
    if (!size)
        return 0;
    size_t length = sequence_size(bytes[0], &value, &smallest);
    if (!length || length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
        value = value << 6 | (bytes[i] & 0x3f);
    }
    if (value < smallest || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff))
        return 0;
    *code = value;
    return length;
}

bool by_utf8_valid(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size;) {
        uint32_t code;
        if (at[i] < 0x80) {
            i++;
            continue;
        }
        size_t length = by_utf8_next(at + i, size - i, &code);
        if (!length)
            return false;
        i += length;
    }
    return true;
}

bool by_utf8_is_hidden(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x2069) ||
           code == 0xfeff;
}

size_t by_utf8_put(char *out, uint32_t code)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(leads[length] | code);
    return length;
}
