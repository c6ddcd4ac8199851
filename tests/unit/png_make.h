/*
 * PNG files chunk by chunk, right or wrong on purpose. Include cmocka.h first.
 */
#ifndef BY_TEST_PNG_MAKE_H
#define BY_TEST_PNG_MAKE_H

#include <stdint.h>
#include <string.h>
#include <zlib.h>

struct png_file {
    uint8_t bytes[1 << 16];
    size_t size;
};

static inline void png_put32(uint8_t *at, uint32_t value)
{
    for (size_t i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static inline void png_begin(struct png_file *file)
{
    memcpy(file->bytes, "\x89PNG\r\n\x1a\n", 8);
    file->size = 8;
}

static inline void png_chunk(struct png_file *file, const char *type, const void *body, size_t size)
{
    uint8_t *at = file->bytes + file->size;
    assert_true(file->size + size + 12 <= sizeof file->bytes);
    png_put32(at, (uint32_t)size);
    memcpy(at + 4, type, 4);
    if (size)
        memcpy(at + 8, body, size);
    png_put32(at + 8 + size, (uint32_t)crc32_z(0, at + 4, size + 4));
    file->size += size + 12;
}

static inline void png_header(struct png_file *file, uint32_t width, uint32_t height, uint8_t bits,
                              uint8_t colour)
{
    uint8_t body[13] = {0};
    png_put32(body, width);
    png_put32(body + 4, height);
    body[8] = bits;
    body[9] = colour;
    png_begin(file);
    png_chunk(file, "IHDR", body, sizeof body);
}

/* Rows with a filter byte before each, packed as one IDAT chunk. */
static inline void png_data(struct png_file *file, const void *rows, size_t size)
{
    uint8_t packed[4096];
    uLongf length = sizeof packed;
    assert_int_equal(compress2(packed, &length, rows, size, 9), Z_OK);
    png_chunk(file, "IDAT", packed, length);
}

#endif
