/*
 * Decoding JPEG and PNG into 8-bit RGB. Header first, limits before any pixel.
 *
 * The pixels are those of Pillow's Image.open(...).convert("RGB") after
 * ImageOps.exif_transpose(): gray is repeated, palettes are looked up, 16-bit
 * channels keep their high byte, alpha is dropped (not blended), CMYK goes through
 * Pillow's formula. Colour profiles and gamma are ignored. Of an animated PNG the
 * default picture is taken.
 *
 * A file that is too short for the size it claims is refused before memory for its
 * pixels is taken; damaged ones (CRC, truncated or corrupt data) are refused.
 */
#ifndef BY_IMAGE_H
#define BY_IMAGE_H

#include "base/file.h"
#include "ir/model.h"

#define BY_IMAGE_SIDE_MAX   32768
#define BY_IMAGE_PIXELS_MAX 268435456u
#define BY_IMAGE_SCANS_MAX  500

struct by_image_info {
    const char *format;      /* "jpeg", "png" */
    size_t width, height;    /* as stored, before the orientation is applied */
    unsigned orientation;    /* EXIF, 1 when none */
    unsigned channels, bits; /* as stored; a palette is 1 channel */
    unsigned scans;          /* of a JPEG */
    bool had_profile, had_alpha, was_gray, was_16bit, was_palette, was_cmyk, animated;
};

struct by_image {
    size_t width, height; /* after the orientation */
    uint8_t *rgb;         /* width * height * 3, by_alloc'ed */
    struct by_image_info info;
};

bool by_image_sniff(const uint8_t *bytes, size_t size);
/* Reads and checks the whole structure of the file, but no pixels. */
int by_image_header(const uint8_t *bytes, size_t size, struct by_image_info *info,
                    struct baryon_error *err);
int by_image_decode(const uint8_t *bytes, size_t size, struct by_image *image,
                    struct baryon_error *err);
void by_image_release(struct by_image *image);

/* A format: one file, one row in image.c. */
struct by_image_format {
    const char *name;
    bool (*sniff)(const uint8_t *bytes, size_t size);
    int (*header)(const uint8_t *bytes, size_t size, struct by_image_info *info,
                  struct baryon_error *err);
    /* rgb has room for info->width * info->height * 3 bytes; orientation is the caller's. */
    int (*decode)(const uint8_t *bytes, size_t size, const struct by_image_info *info, uint8_t *rgb,
                  struct baryon_error *err);
};

extern const struct by_image_format by_jpeg, by_png;

/* Side and area limits of every format. */
int by_image_limits(size_t width, size_t height, struct baryon_error *err);

/*
 * Orientation of an EXIF block (a TIFF file, without "Exif\0\0"): 1 to 8, and 1
 * whenever the block does not say so plainly.
 */
unsigned by_exif_orientation(const uint8_t *tiff, size_t size);
/* The upright picture; *width and *height are exchanged for 5 to 8. Takes over rgb. */
int by_image_orient(uint8_t **rgb, size_t *width, size_t *height, unsigned orientation,
                    struct baryon_error *err);

#endif
