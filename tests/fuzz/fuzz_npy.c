/*
 * .npy files. What is accepted is copied to native order, and a header written for
 * it is read back with the same meaning.
 */
#include "input/npy.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void write_again(const struct by_npy_header *header)
{
    char out[BY_NPY_WRITE_MAX];
    struct by_npy_header again;
    const size_t length =
        by_npy_header_write(out, sizeof out, header->elem, header->dims, header->rank);
    if (!length || length % 64 ||
        by_npy_header_parse((const uint8_t *)out, length, &again, NULL) < 0 ||
        again.elem != header->elem || again.rank != header->rank || again.data != length ||
        again.fortran || again.bytes != header->bytes ||
        memcmp(again.dims, header->dims, sizeof again.dims) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct by_npy_header header;
    struct baryon_error err;
    if (by_npy_parse(bytes, size, &header, &err) < 0) {
        if (by_npy_parse(bytes, size, &header, NULL) == 0 || err.code == BARYON_OK)
            abort();
        return 0;
    }
    write_again(&header);
    if (header.bytes != size - header.data || header.bytes > BYTES_MAX)
        return 0;
    void *out = by_alloc(header.bytes, 1, &err);
    if (out)
        by_npy_copy(&header, bytes, out);
    by_free(out);
    return 0;
}
