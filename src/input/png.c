/*
 * PNG. The chunks are walked here: order, lengths, checksums and limits hold before
 * libpng sees a byte, and it sees none of the chunks that do not matter for pixels.
 */
#include "input/image.h"

#include <inttypes.h>
#include <png.h>
#include <setjmp.h>
#include <string.h>
#include <zlib.h>

#define SIGNATURE      "\x89PNG\r\n\x1a\n"
#define SIGNATURE_SIZE 8
#define DEFLATE_BEST   1032 /* bytes out of one, at most */

struct walker {
    const uint8_t *bytes;
    size_t size;
    struct by_image_info *info;
    size_t data; /* bytes of all IDAT chunks */
    bool ended, palette;
};

static uint32_t get32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static int bad(struct baryon_error *err, size_t offset, const char *message)
{
    by_fail(err, BARYON_ERR_INPUT, "%s", message);
    by_err_offset(err, offset);
    return -1;
}

static bool sniff(const uint8_t *bytes, size_t size)
{
    return size >= SIGNATURE_SIZE && memcmp(bytes, SIGNATURE, SIGNATURE_SIZE) == 0;
}

/* Channels of a colour type, 0 when there is no such type or not with these bits. */
static unsigned channels_of(unsigned colour, unsigned bits)
{
    static const struct {
        unsigned colour, channels, bits; /* bits: mask of the depths */
    } types[] = {{0, 1, 1 | 2 | 4 | 8 | 16},
                 {2, 3, 8 | 16},
                 {3, 1, 1 | 2 | 4 | 8},
                 {4, 2, 8 | 16},
                 {6, 4, 8 | 16}};
    const bool power = bits && (bits & (bits - 1)) == 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].colour == colour && power && (types[i].bits & bits))
            return types[i].channels;
    return 0;
}

static int read_header(struct walker *walker, const uint8_t *body, size_t size, size_t offset,
                       struct baryon_error *err)
{
    struct by_image_info *info = walker->info;
    if (size != 13)
        return bad(err, offset, "an IHDR chunk must have 13 bytes");
    info->width = get32(body);
    info->height = get32(body + 4);
    info->bits = body[8];
    const unsigned colour = body[9];
    info->channels = channels_of(colour, info->bits);
    if (!info->channels) {
        by_fail(err, BARYON_ERR_INPUT, "colour type %u with %u bits does not exist", colour,
                info->bits);
        by_err_offset(err, offset);
        return -1;
    }
    if (body[10] != 0 || body[11] != 0 || body[12] > 1)
        return bad(err, offset, "an unknown method of compression, filtering or interlacing");
    if (by_image_limits(info->width, info->height, err) < 0) {
        by_err_offset(err, offset);
        return -1;
    }
    info->was_palette = colour == 3;
    info->was_gray = colour == 0 || colour == 4;
    info->had_alpha = colour == 4 || colour == 6;
    info->was_16bit = info->bits == 16;
    return 0;
}

static int read_chunk(struct walker *walker, const uint8_t *type, const uint8_t *body, size_t size,
                      size_t offset, struct baryon_error *err)
{
    struct by_image_info *info = walker->info;
    if (memcmp(type, "IDAT", 4) == 0)
        walker->data += size;
    else if (memcmp(type, "IEND", 4) == 0)
        walker->ended = true;
    else if (memcmp(type, "PLTE", 4) == 0)
        walker->palette = true;
    else if (memcmp(type, "tRNS", 4) == 0)
        info->had_alpha = true;
    else if (memcmp(type, "iCCP", 4) == 0)
        info->had_profile = true;
    else if (memcmp(type, "acTL", 4) == 0)
        info->animated = true;
    else if (memcmp(type, "eXIf", 4) == 0)
        info->orientation = by_exif_orientation(body, size);
    else if (!(type[0] & 0x20)) {
        char quoted[BY_QUOTE_MAX];
        by_fail(err, BARYON_ERR_INPUT, "unknown critical chunk %s",
                by_quote_bytes(quoted, type, 4));
        by_err_offset(err, offset);
        return -1;
    }
    return 0;
}

/* Length and checksum of the chunk at `at`; its type and body follow the length. */
static int check_chunk(const struct walker *walker, size_t at, size_t *length,
                       struct baryon_error *err)
{
    if (walker->size - at < 12)
        return bad(err, walker->size, "the picture is truncated: no IEND chunk");
    *length = get32(walker->bytes + at);
    if (*length > walker->size - at - 12) {
        by_fail(err, BARYON_ERR_INPUT, "a chunk of %zu bytes, but %zu are left", *length,
                walker->size - at - 12);
        by_err_offset(err, at);
        return -1;
    }
    const uint32_t stored = get32(walker->bytes + at + 8 + *length);
    const uint32_t made =
        (uint32_t)crc32_z(crc32_z(0, NULL, 0), walker->bytes + at + 4, *length + 4);
    if (made == stored)
        return 0;
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_INPUT,
            "the checksum (CRC-32) of chunk %s is %08" PRIx32 ", the file states %08" PRIx32,
            by_quote_bytes(quoted, walker->bytes + at + 4, 4), made, stored);
    by_err_offset(err, at);
    return -1;
}

static int walk_png_chunks(struct walker *walker, struct baryon_error *err)
{
    for (size_t at = SIGNATURE_SIZE; !walker->ended;) {
        size_t length = 0;
        if (check_chunk(walker, at, &length, err) < 0)
            return -1;
        const uint8_t *type = walker->bytes + at + 4;
        const bool is_header = memcmp(type, "IHDR", 4) == 0;
        if (is_header != (at == SIGNATURE_SIZE))
            return bad(err, at, "the IHDR chunk must come first, and once");
        int failed = is_header ? read_header(walker, type + 4, length, at, err)
                               : read_chunk(walker, type, type + 4, length, at, err);
        if (failed < 0)
            return -1;
        at += length + 12;
    }
    return 0;
}

static int header(const uint8_t *bytes, size_t size, struct by_image_info *info,
                  struct baryon_error *err)
{
    struct walker walker = {.bytes = bytes, .size = size, .info = info};
    if (walk_png_chunks(&walker, err) < 0)
        return -1;
    if (info->was_palette && !walker.palette)
        return bad(err, 0, "a palette picture without a PLTE chunk");
    const size_t row = (info->width * info->channels * info->bits + 7) / 8;
    if (row * info->height / DEFLATE_BEST <= walker.data)
        return 0;
    by_fail(err, BARYON_ERR_INPUT,
            "%zu x %zu pixels from %zu packed bytes, deflate reaches at most %d to 1", info->width,
            info->height, walker.data, DEFLATE_BEST);
    by_err_offset(err, 0);
    return -1;
}

/* What libpng's callbacks work on. */
struct reader {
    const uint8_t *bytes;
    size_t size, at;
    png_structp png;
    png_infop info;
    bool no_memory;
    char message[160];
};

static void read_bytes(png_structp png, png_bytep out, size_t size)
{
    struct reader *reader = png_get_io_ptr(png);
    if (size > reader->size - reader->at)
        png_error(png, "the file ends too early");
    memcpy(out, reader->bytes + reader->at, size);
    reader->at += size;
}

static void keep_error(png_structp png, png_const_charp message)
{
    struct reader *reader = png_get_error_ptr(png);
    size_t length = strlen(message);
    if (length >= sizeof reader->message)
        length = sizeof reader->message - 1;
    memcpy(reader->message, message, length);
    reader->message[length] = '\0';
    png_longjmp(png, 1);
}

static void drop_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static png_voidp png_take(png_structp png, png_alloc_size_t size)
{
    struct reader *reader = png_get_mem_ptr(png);
    void *block = by_alloc(1, size, NULL);
    reader->no_memory |= block == NULL;
    return block;
}

static void png_give(png_structp png, png_voidp block)
{
    (void)png;
    by_free(block);
}

/* 8-bit RGB whatever is stored, without gamma: 16 bits lose the low byte, alpha is dropped. */
static void set_up(struct reader *reader)
{
    png_structp png = reader->png;
    png_set_user_limits(png, BY_IMAGE_SIDE_MAX, BY_IMAGE_SIDE_MAX);
    png_set_crc_action(png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_read_fn(png, reader, read_bytes);
    png_read_info(png, reader->info);
    png_set_strip_16(png);
    png_set_palette_to_rgb(png);
    png_set_expand_gray_1_2_4_to_8(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
}

/* Everything that may jump back stays in this function and below it. */
static int read_pixels(struct reader *reader, const struct by_image_info *info, uint8_t *rgb)
{
    if (setjmp(png_jmpbuf(reader->png)))
        return -1;
    set_up(reader);
    const int passes = png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    if (png_get_rowbytes(reader->png, reader->info) != info->width * 3 ||
        png_get_image_height(reader->png, reader->info) != info->height)
        png_error(reader->png, "rows of an unexpected length");
    for (int pass = 0; pass < passes; pass++)
        for (size_t y = 0; y < info->height; y++)
            png_read_row(reader->png, rgb + y * info->width * 3, NULL);
    png_read_end(reader->png, NULL);
    return 0;
}

static int decode_png(const uint8_t *bytes, size_t size, const struct by_image_info *info,
                      uint8_t *rgb, struct baryon_error *err)
{
    struct reader reader = {.bytes = bytes, .size = size};
    char quoted[BY_QUOTE_MAX];
    reader.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &reader, keep_error, drop_warning,
                                          &reader, png_take, png_give);
    if (reader.png)
        reader.info = png_create_info_struct(reader.png);
    if (!reader.info) {
        png_destroy_read_struct(&reader.png, NULL, NULL);
        return by_err_nomem(err, sizeof reader);
    }
    int failed = read_pixels(&reader, info, rgb);
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    if (failed < 0 && reader.no_memory)
        return by_err_nomem(err, info->width * info->height);
    if (failed < 0)
        by_fail(err, BARYON_ERR_INPUT, "the PNG data is damaged: %s",
                by_quote(quoted, reader.message));
    return failed;
}

const struct by_image_format by_png = {
    .name = "png",
    .sniff = sniff,
    .header = header,
    .decode = decode_png,
};
