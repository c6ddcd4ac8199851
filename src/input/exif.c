/* Reads the orientation of a picture from its EXIF data. */
#include "input/image.h"

#include <string.h>

#define TAG_ORIENTATION 0x0112
#define TYPE_SHORT      3
#define ENTRY_BYTES     12

struct tiff {
    const uint8_t *bytes;
    size_t size;
    bool big; /* byte order */
};

static unsigned get16(const struct tiff *tiff, size_t at)
{
    const uint8_t *from = tiff->bytes + at;
    return tiff->big ? (unsigned)from[0] << 8 | from[1] : (unsigned)from[1] << 8 | from[0];
}

static uint32_t get32(const struct tiff *tiff, size_t at)
{
    const uint32_t first = get16(tiff, at), second = get16(tiff, at + 2);
    return tiff->big ? first << 16 | second : second << 16 | first;
}

static unsigned find_orientation(const struct tiff *tiff)
{
    const size_t start = get32(tiff, 4);
    if (start < 8 || start > tiff->size - 2)
        return 1;
    const size_t entries = get16(tiff, start);
    if (entries > (tiff->size - start - 2) / ENTRY_BYTES)
        return 1;
    for (size_t i = 0; i < entries; i++) {
        const size_t at = start + 2 + i * ENTRY_BYTES;
        if (get16(tiff, at) != TAG_ORIENTATION)
            continue;
        const unsigned value = get16(tiff, at + 8);
        const bool plain = get16(tiff, at + 2) == TYPE_SHORT && get32(tiff, at + 4) == 1;
        return plain && value >= 1 && value <= 8 ? value : 1;
    }
    return 1;
}

unsigned by_exif_orientation(const uint8_t *bytes, size_t size)
{
    struct tiff tiff = {bytes, size, false};
    if (size < 10)
        return 1;
    tiff.big = memcmp(bytes, "MM\0*", 4) == 0;
    if (!tiff.big && memcmp(bytes, "II*\0", 4) != 0)
        return 1;
    return find_orientation(&tiff);
}

/* Where in the stored picture the upright one begins, and its steps, all in pixels. */
struct walk {
    ptrdiff_t start, right, down;
};

static struct walk walk_of(unsigned orientation, size_t width, size_t height)
{
    const ptrdiff_t w = (ptrdiff_t)width, h = (ptrdiff_t)height;
    switch (orientation) {
    case 2:
        return (struct walk){w - 1, -1, w};
    case 3:
        return (struct walk){w * h - 1, -1, -w};
    case 4:
        return (struct walk){w * (h - 1), 1, -w};
    case 5:
        return (struct walk){0, w, 1};
    case 6:
        return (struct walk){w * (h - 1), -w, 1};
    case 7:
        return (struct walk){w * h - 1, -w, -1};
    default:
        return (struct walk){w - 1, w, -1};
    }
}

#define TILE 64

/* In tiles, so that both pictures are walked within the cache. */
static void turn(const uint8_t *in, const struct walk *walk, uint8_t *out, size_t width,
                 size_t height)
{
    for (size_t top = 0; top < height; top += TILE)
        for (size_t left = 0; left < width; left += TILE) {
            const size_t bottom = height - top < TILE ? height : top + TILE;
            const size_t end = width - left < TILE ? width : left + TILE;
            for (size_t y = top; y < bottom; y++) {
                const uint8_t *from =
                    in +
                    (walk->start + (ptrdiff_t)y * walk->down + (ptrdiff_t)left * walk->right) * 3;
                uint8_t *to = out + (y * width + left) * 3;
                for (size_t x = left; x < end; x++, to += 3) {
                    memcpy(to, from, 3);
                    if (x + 1 < end)
                        from += walk->right * 3;
                }
            }
        }
}

int by_image_orient(uint8_t **rgb, size_t *width, size_t *height, unsigned orientation,
                    struct baryon_error *err)
{
    if (orientation < 2 || orientation > 8)
        return 0;
    uint8_t *upright = by_alloc(*width * *height, 3, err);
    if (!upright)
        return -1;
    const struct walk walk = walk_of(orientation, *width, *height);
    if (orientation >= 5) {
        const size_t side = *width;
        *width = *height;
        *height = side;
    }
    turn(*rgb, &walk, upright, *width, *height);
    by_free(*rgb);
    *rgb = upright;
    return 0;
}
