/* Codes in memory: one in an element, or packed. */
#include "dtype/family.h"

#include <string.h>

size_t by_dtype_code_bytes(const struct by_dtype *dtype)
{
    return dtype->bits <= 8 ? 1 : dtype->bits <= 16 ? 2 : 4;
}

void by_code_put(void *codes, size_t index, size_t bytes, uint32_t code)
{
    const uint8_t one = (uint8_t)code;
    const uint16_t two = (uint16_t)code;
    const void *from = bytes == 1 ? (const void *)&one : bytes == 2 ? (const void *)&two : &code;
    memcpy((char *)codes + index * bytes, from, bytes);
}

uint32_t by_code_get(const void *codes, size_t index, size_t bytes)
{
    uint8_t one;
    uint16_t two;
    uint32_t four;
    const char *at = (const char *)codes + index * bytes;
    switch (bytes) {
    case 1:
        memcpy(&one, at, 1);
        return one;
    case 2:
        memcpy(&two, at, 2);
        return two;
    default:
        memcpy(&four, at, 4);
        return four;
    }
}

int by_dtype_packed_bytes(const struct by_dtype *dtype, size_t count, size_t *bytes,
                          struct baryon_error *err)
{
    size_t bits;
    if (by_mul_overflow(count, dtype->bits, &bits) || bits > SIZE_MAX - 7)
        return by_fail(err, BARYON_ERR_INPUT, "%zu elements of %s overflow", count, dtype->name);
    *bytes = (bits + 7) / 8;
    return 0;
}

/* Codes of less than 8 bits go through a buffer whose low `filled` bits are in use. */
void by_dtype_pack(const struct by_dtype *dtype, const void *codes, size_t count, uint8_t *packed)
{
    if (dtype->bits % 8 == 0) {
        memcpy(packed, codes, count * dtype->bits / 8);
        return;
    }
    const uint8_t *at = codes;
    const unsigned mask = (1u << dtype->bits) - 1;
    unsigned buffer = 0, filled = 0;
    for (size_t i = 0; i < count; i++) {
        buffer |= (at[i] & mask) << filled;
        filled += dtype->bits;
        for (; filled >= 8; filled -= 8, buffer >>= 8)
            *packed++ = (uint8_t)buffer;
    }
    if (filled)
        *packed = (uint8_t)buffer;
}

void by_dtype_unpack(const struct by_dtype *dtype, const uint8_t *packed, size_t count, void *codes)
{
    if (dtype->bits % 8 == 0) {
        memcpy(codes, packed, count * dtype->bits / 8);
        return;
    }
    uint8_t *at = codes;
    const unsigned mask = (1u << dtype->bits) - 1;
    const unsigned sign = dtype->low < 0 ? 1u << (dtype->bits - 1) : 0;
    unsigned buffer = 0, filled = 0;
    for (size_t i = 0; i < count; i++) {
        if (filled < dtype->bits) {
            buffer |= (unsigned)*packed++ << filled;
            filled += 8;
        }
        at[i] = (uint8_t)(((buffer & mask) ^ sign) - sign);
        buffer >>= dtype->bits;
        filled -= dtype->bits;
    }
}
