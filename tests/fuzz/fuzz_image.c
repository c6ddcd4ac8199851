/*
 * Pictures: the structure, and the pixels of those that are small. The checksums of
 * PNG chunks are put right first, since no fuzzer guesses them.
 */
#include "input/image.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define PIXELS_MAX 65536u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void repair_png(uint8_t *bytes, size_t size)
{
    if (size < 8 || memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) != 0)
        return;
    for (size_t at = 8; size - at >= 12;) {
        const size_t length = get32(bytes + at);
        if (length > size - at - 12)
            return;
        const uint32_t sum = (uint32_t)crc32_z(0, bytes + at + 4, length + 4);
        for (size_t i = 0; i < 4; i++)
            bytes[at + 8 + length + i] = (uint8_t)(sum >> (24 - 8 * i));
        at += length + 12;
    }
}

static void look(const uint8_t *bytes, size_t size)
{
    struct by_image_info info;
    struct by_image image;
    struct baryon_error err;
    if (by_image_header(bytes, size, &info, &err) < 0)
        return;
    if (info.width < 1 || info.height < 1 || info.width > BY_IMAGE_SIDE_MAX ||
        info.height > BY_IMAGE_SIDE_MAX || info.orientation < 1 || info.orientation > 8)
        abort();
    if (info.width * info.height > PIXELS_MAX || by_image_decode(bytes, size, &image, &err) < 0)
        return;
    if (image.width * image.height != info.width * info.height)
        abort();
    volatile uint8_t last = image.rgb[image.width * image.height * 3 - 1];
    (void)last;
    by_image_release(&image);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, bytes, size);
    repair_png(copy, size);
    look(copy, size);
    free(copy);
    return 0;
}
