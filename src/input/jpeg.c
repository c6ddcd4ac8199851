/*
 * JPEG. The markers are walked here, so that limits hold before libjpeg-turbo sees a
 * byte; it then decodes as Pillow's does: exact DCT, smooth upsampling.
 */
#include "input/image.h"

#include <string.h>
#include <turbojpeg.h>

#define SOI  0xd8
#define EOI  0xd9
#define SOS  0xda
#define APP1 0xe1
#define APP2 0xe2

#define COMPONENTS_MAX 4

struct jpeg {
    const uint8_t *bytes;
    size_t size, at;
    bool has_frame, progressive;
    size_t blocks; /* of the component that has most */
    struct by_image_info *info;
};

static int bad(struct baryon_error *err, size_t offset, const char *message)
{
    by_fail(err, BARYON_ERR_INPUT, "%s", message);
    by_err_offset(err, offset);
    return -1;
}

static int unsupported(struct baryon_error *err, size_t offset, const char *message)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED, "%s", message);
    by_err_offset(err, offset);
    return -1;
}

static size_t get16(const uint8_t *at)
{
    return (size_t)at[0] << 8 | at[1];
}

static bool sniff(const uint8_t *bytes, size_t size)
{
    return size >= 3 && bytes[0] == 0xff && bytes[1] == SOI && bytes[2] == 0xff;
}

static int check_process(unsigned marker, size_t offset, struct baryon_error *err)
{
    if (marker <= 0xc2)
        return 0;
    if (marker == 0xc9 || marker == 0xca)
        return unsupported(err, offset, "a JPEG with arithmetic coding, which is not supported");
    if (marker == 0xc3)
        return unsupported(err, offset, "a lossless JPEG, which is not supported");
    return unsupported(err, offset, "a hierarchical or lossless JPEG, which is not supported");
}

static size_t divide_up(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* Blocks of 8 x 8 that a component has at the least, from its share of the sampling. */
static int count_blocks(struct jpeg *jpeg, const uint8_t *components, size_t count, size_t offset,
                        struct baryon_error *err)
{
    size_t widest = 0, highest = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t h = components[i * 3 + 1] >> 4, v = components[i * 3 + 1] & 15;
        if (h < 1 || h > 4 || v < 1 || v > 4)
            return bad(err, offset, "a sampling factor must be 1 to 4");
        widest = h > widest ? h : widest;
        highest = v > highest ? v : highest;
    }
    for (size_t i = 0; i < count; i++) {
        const size_t h = components[i * 3 + 1] >> 4, v = components[i * 3 + 1] & 15;
        const size_t columns = divide_up(divide_up(jpeg->info->width * h, widest), 8);
        const size_t rows = divide_up(divide_up(jpeg->info->height * v, highest), 8);
        jpeg->blocks = columns * rows > jpeg->blocks ? columns * rows : jpeg->blocks;
    }
    return 0;
}

static int read_frame(struct jpeg *jpeg, unsigned marker, const uint8_t *body, size_t size,
                      size_t offset, struct baryon_error *err)
{
    struct by_image_info *info = jpeg->info;
    if (jpeg->has_frame)
        return bad(err, offset, "a second frame header");
    if (check_process(marker, offset, err) < 0)
        return -1;
    if (size < 6 || size != 6 + 3 * (size_t)body[5])
        return bad(err, offset, "a frame header of wrong length");
    if (body[0] != 8) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "a JPEG of %u bits, must have 8", body[0]);
        by_err_offset(err, offset);
        return -1;
    }
    info->height = get16(body + 1);
    info->width = get16(body + 3);
    info->channels = body[5];
    info->bits = 8;
    if (by_image_limits(info->width, info->height, err) < 0) {
        by_err_offset(err, offset);
        return -1;
    }
    if (info->channels != 1 && info->channels != 3 && info->channels != COMPONENTS_MAX) {
        by_fail(err, BARYON_ERR_INPUT, "%u colour components, must be 1, 3 or 4", info->channels);
        by_err_offset(err, offset);
        return -1;
    }
    info->was_gray = info->channels == 1;
    info->was_cmyk = info->channels == COMPONENTS_MAX;
    jpeg->has_frame = true;
    jpeg->progressive = marker == 0xc2;
    return count_blocks(jpeg, body + 6, info->channels, offset, err);
}

static void read_application(struct jpeg *jpeg, unsigned marker, const uint8_t *body, size_t size)
{
    if (marker == APP1 && size > 6 && memcmp(body, "Exif\0\0", 6) == 0 &&
        jpeg->info->orientation == 1)
        jpeg->info->orientation = by_exif_orientation(body + 6, size - 6);
    if (marker == APP2 && size > 12 && memcmp(body, "ICC_PROFILE\0", 12) == 0)
        jpeg->info->had_profile = true;
}

/* Entropy-coded bytes end at a marker that is neither a stuffed zero nor a restart. */
static void skip_scan(struct jpeg *jpeg)
{
    while (jpeg->at < jpeg->size) {
        const uint8_t *found = memchr(jpeg->bytes + jpeg->at, 0xff, jpeg->size - jpeg->at);
        if (!found || (size_t)(found - jpeg->bytes) + 1 >= jpeg->size) {
            jpeg->at = jpeg->size;
            return;
        }
        jpeg->at = (size_t)(found - jpeg->bytes);
        const unsigned next = found[1];
        if (next == 0xff)
            jpeg->at += 1;
        else if (next == 0 || (next >= 0xd0 && next <= 0xd7))
            jpeg->at += 2;
        else
            return;
    }
}

static int read_scan(struct jpeg *jpeg, size_t offset, struct baryon_error *err)
{
    if (!jpeg->has_frame)
        return bad(err, offset, "a scan before the frame header");
    if (++jpeg->info->scans > BY_IMAGE_SCANS_MAX) {
        by_fail(err, BARYON_ERR_INPUT, "more than %d scans", BY_IMAGE_SCANS_MAX);
        by_err_offset(err, offset);
        return -1;
    }
    skip_scan(jpeg);
    return 0;
}

static int read_segment(struct jpeg *jpeg, unsigned marker, size_t offset, struct baryon_error *err)
{
    if (jpeg->size - jpeg->at < 2)
        return bad(err, jpeg->size, "the picture ends in the middle of a segment");
    const size_t length = get16(jpeg->bytes + jpeg->at);
    if (length < 2)
        return bad(err, offset, "a segment of less than 2 bytes");
    if (length > jpeg->size - jpeg->at) {
        by_fail(err, BARYON_ERR_INPUT, "a segment of %zu bytes, but %zu are left", length,
                jpeg->size - jpeg->at);
        by_err_offset(err, offset);
        return -1;
    }
    const uint8_t *body = jpeg->bytes + jpeg->at + 2;
    jpeg->at += length;
    if (marker == SOS)
        return read_scan(jpeg, offset, err);
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
        return read_frame(jpeg, marker, body, length - 2, offset, err);
    read_application(jpeg, marker, body, length - 2);
    return 0;
}

/* The next marker; *at is where it begins. 0 when the bytes end. */
static unsigned next_marker(struct jpeg *jpeg, size_t *at)
{
    while (jpeg->at + 1 < jpeg->size) {
        *at = jpeg->at;
        const unsigned code = jpeg->bytes[jpeg->at + 1];
        if (jpeg->bytes[jpeg->at] != 0xff || code == 0xff || code == 0) {
            jpeg->at++;
            continue;
        }
        jpeg->at += 2;
        return code;
    }
    return 0;
}

static int walk_jpeg_markers(struct jpeg *jpeg, struct baryon_error *err)
{
    size_t at = 0;
    jpeg->at = 2;
    for (;;) {
        const unsigned marker = next_marker(jpeg, &at);
        if (marker == EOI)
            break;
        if (marker == 0)
            return bad(err, jpeg->size, "the picture is truncated: no end marker");
        if (marker == SOI)
            return bad(err, at, "a second picture begins inside the first");
        const bool bare = marker == 1 || (marker >= 0xd0 && marker <= 0xd7);
        if (!bare && read_segment(jpeg, marker, at, err) < 0)
            return -1;
    }
    if (!jpeg->info->scans)
        return bad(err, at, "no scan before the end marker");
    return 0;
}

static int header(const uint8_t *bytes, size_t size, struct by_image_info *info,
                  struct baryon_error *err)
{
    struct jpeg jpeg = {.bytes = bytes, .size = size, .info = info};
    if (walk_jpeg_markers(&jpeg, err) < 0)
        return -1;
    /* Huffman codes have a bit at least: one a block, and one more without progression. */
    const size_t least = jpeg.blocks * (jpeg.progressive ? 1 : 2) / 8;
    if (least <= size)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "%zu x %zu pixels require at least %zu bytes, the file has %zu",
            info->width, info->height, least, size);
    by_err_offset(err, 0);
    return -1;
}

/* Warnings of libjpeg-turbo that do not mean that pixels are lost. */
static bool is_harmless(const char *warning)
{
    static const char *const harmless[] = {
        "extraneous bytes before marker", "Unknown Adobe color transform", "unknown JFIF revision",
        "Invalid SOS parameters",         "Inconsistent progression",      "bad ICC marker"};
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strstr(warning, harmless[i]))
            return true;
    return false;
}

static int refuse_data(tjhandle handle, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *text = tjGetErrorStr2(handle);
    if (strstr(text, "nsufficient memory") || strstr(text, "llocation failure"))
        return by_fail(err, BARYON_ERR_NOMEM, "out of memory while a JPEG is decoded");
    return by_fail(err, BARYON_ERR_INPUT, "the JPEG data is damaged: %s", by_quote(quoted, text));
}

static int run_jpeg_decoder(tjhandle handle, const uint8_t *bytes, size_t size,
                            const struct by_image_info *info, int format, uint8_t *out,
                            struct baryon_error *err)
{
    int width, height, sampling, space;
    const int flags = TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS;
    if (tjDecompressHeader3(handle, bytes, (unsigned long)size, &width, &height, &sampling,
                            &space) != 0 &&
        tjGetErrorCode(handle) == TJERR_FATAL)
        return refuse_data(handle, err);
    if ((size_t)width != info->width || (size_t)height != info->height)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the JPEG headers contradict each other: %d x %d and %zu x %zu", width,
                       height, info->width, info->height);
    if (tjDecompress2(handle, bytes, (unsigned long)size, out, width, 0, height, format,
                      flags | TJFLAG_STOPONWARNING) == 0)
        return 0;
    if (!is_harmless(tjGetErrorStr2(handle)))
        return refuse_data(handle, err);
    if (tjDecompress2(handle, bytes, (unsigned long)size, out, width, 0, height, format, flags) ==
            0 ||
        tjGetErrorCode(handle) == TJERR_WARNING)
        return 0;
    return refuse_data(handle, err);
}

static uint8_t scale_255(unsigned a, unsigned b)
{
    const unsigned product = a * b + 128;
    return (uint8_t)((product + (product >> 8)) >> 8);
}

/* Stored CMYK is inverted, as Adobe writes it: 255 is no ink. */
static void from_cmyk(const uint8_t *cmyk, size_t pixels, uint8_t *rgb)
{
    for (size_t i = 0; i < pixels; i++, cmyk += 4, rgb += 3)
        for (size_t c = 0; c < 3; c++)
            rgb[c] = (uint8_t)(cmyk[3] - scale_255(255u - cmyk[c], cmyk[3]));
}

static int decode_jpeg(const uint8_t *bytes, size_t size, const struct by_image_info *info,
                       uint8_t *rgb, struct baryon_error *err)
{
    const size_t pixels = info->width * info->height;
    uint8_t *cmyk = info->was_cmyk ? by_alloc(pixels, 4, err) : NULL;
    if (info->was_cmyk && !cmyk)
        return -1;
    tjhandle handle = tjInitDecompress();
    int failed = handle ? 0 : by_err_nomem(err, sizeof(void *));
    if (failed == 0)
        failed = run_jpeg_decoder(handle, bytes, size, info, cmyk ? TJPF_CMYK : TJPF_RGB,
                                  cmyk ? cmyk : rgb, err);
    if (failed == 0 && cmyk)
        from_cmyk(cmyk, pixels, rgb);
    if (handle)
        tjDestroy(handle);
    by_free(cmyk);
    return failed;
}

const struct by_image_format by_jpeg = {
    .name = "jpeg",
    .sniff = sniff,
    .header = header,
    .decode = decode_jpeg,
};
