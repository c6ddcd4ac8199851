/* Payloads of .npy files in native byte order and C layout. */
#include "array/npy.h"

#include <string.h>

static void swap_bytes(uint8_t *bytes, size_t count, size_t width)
{
    switch (width) {
    case 2:
        for (size_t i = 0; i < count; i++) {
            uint16_t value;
            memcpy(&value, bytes + i * 2, 2);
            value = __builtin_bswap16(value);
            memcpy(bytes + i * 2, &value, 2);
        }
        break;
    case 4:
        for (size_t i = 0; i < count; i++) {
            uint32_t value;
            memcpy(&value, bytes + i * 4, 4);
            value = __builtin_bswap32(value);
            memcpy(bytes + i * 4, &value, 4);
        }
        break;
    default:
        for (size_t i = 0; i < count; i++) {
            uint64_t value;
            memcpy(&value, bytes + i * 8, 8);
            value = __builtin_bswap64(value);
            memcpy(bytes + i * 8, &value, 8);
        }
        break;
    }
}

/* The last dimension is the one with the widest stride in the file. */
static void copy_fortran(const struct by_npy_header *header, const uint8_t *in, uint8_t *out)
{
    const size_t width = header->bytes / header->count;
    size_t strides[16] = {0}, index[16] = {0}, at = 0, step = width;
    for (size_t i = 0; i < header->rank; i++) {
        strides[i] = step;
        step *= (size_t)header->dims[i];
    }
    for (size_t done = 0; done < header->count; done++) {
        memcpy(out + done * width, in + at, width);
        for (size_t i = header->rank; i-- > 0;) {
            at += strides[i];
            if (++index[i] < (size_t)header->dims[i])
                break;
            at -= strides[i] * (size_t)header->dims[i];
            index[i] = 0;
        }
    }
}

void by_npy_copy(const struct by_npy_header *header, const uint8_t *bytes, void *out)
{
    const uint8_t *in = bytes + header->data;
    if (!header->count)
        return;
    if (header->fortran && header->rank > 1)
        copy_fortran(header, in, out);
    else
        memcpy(out, in, header->bytes);
    if (!header->swap)
        return;
    const bool complex = header->elem == BY_ELEM_COMPLEX64 || header->elem == BY_ELEM_COMPLEX128;
    const size_t width = header->bytes / header->count / (complex ? 2 : 1);
    swap_bytes(out, header->bytes / width, width);
}
