/* Pictures: what is decoded, what is refused, and how they are turned. */
#include "input/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <turbojpeg.h>

#include <cmocka.h>

#include "tests/unit/png_make.h"
#include "tests/unit/scratch.h"

static struct png_file png;
static struct by_image image;

static void decode_png(void)
{
    assert_ok(by_image_decode(png.bytes, png.size, &image, &err));
}

static void expect_png(enum baryon_code code, const char *message)
{
    struct by_image bad;
    assert_error(by_image_decode(png.bytes, png.size, &bad, &err), code, message);
    assert_null(bad.rgb);
    assert_int_equal(by_image_decode(png.bytes, png.size, &bad, NULL), -1);
}

static void test_png_kinds(void **state)
{
    (void)state;
    png_header(&png, 2, 1, 8, 2);
    png_data(&png, "\0abcdef", 7);
    png_chunk(&png, "IEND", NULL, 0);
    decode_png();
    assert_memory_equal(image.rgb, "abcdef", 6);
    assert_string_equal(image.info.format, "png");
    assert_int_equal(image.info.channels, 3);
    by_image_release(&image);

    png_header(&png, 2, 1, 16, 0);
    png_data(&png, "\0a1b2", 5);
    png_chunk(&png, "IEND", NULL, 0);
    decode_png();
    assert_memory_equal(image.rgb, "aaabbb", 6);
    assert_true(image.info.was_gray && image.info.was_16bit && !image.info.had_alpha);
    by_image_release(&image);

    png_header(&png, 2, 1, 8, 4);
    png_data(&png, "\0a\0b\x80", 5);
    png_chunk(&png, "IEND", NULL, 0);
    decode_png();
    assert_memory_equal(image.rgb, "aaabbb", 6);
    assert_true(image.info.had_alpha);
    by_image_release(&image);
}

static void test_png_palette(void **state)
{
    (void)state;
    png_header(&png, 4, 1, 2, 3);
    png_chunk(&png, "PLTE", "abcdefghijkl", 12);
    png_chunk(&png, "tRNS", "\0\x80", 2);
    png_chunk(&png, "acTL", "\0\0\0\2\0\0\0\0", 8);
    png_chunk(&png, "iCCP", "nonsense", 8);
    png_data(&png, "\0\x1b", 2);
    png_chunk(&png, "IEND", NULL, 0);
    decode_png();
    assert_memory_equal(image.rgb, "abcdefghijkl", 12);
    assert_true(image.info.was_palette && image.info.had_alpha && image.info.animated &&
                image.info.had_profile);
    by_image_release(&image);
    png_header(&png, 4, 1, 2, 3);
    png_data(&png, "\0\x1b", 2);
    png_chunk(&png, "IEND", NULL, 0);
    expect_png(BARYON_ERR_INPUT, "a palette picture without a PLTE chunk");
}

static void test_png_damage(void **state)
{
    (void)state;
    png_header(&png, 2, 1, 8, 2);
    png_data(&png, "\0abcdef", 7);
    png_chunk(&png, "IEND", NULL, 0);
    const struct png_file good = png;
    for (size_t cut = 0; cut < good.size; cut++) {
        struct by_image bad;
        assert_int_equal(by_image_decode(good.bytes, cut, &bad, NULL), -1);
    }
    png.bytes[good.size - 1] ^= 1;
    expect_png(BARYON_ERR_INPUT,
               "the checksum (CRC-32) of chunk 'IEND' is ae426082, the file states ae426083");
    png = good;
    png_header(&png, 3, 1, 8, 2);
    png_data(&png, "\0abcdef", 7);
    png_chunk(&png, "IEND", NULL, 0);
    expect_png(BARYON_ERR_INPUT, "the PNG data is damaged: 'Not enough image data'");
    png_header(&png, 2, 1, 8, 2);
    png_chunk(&png, "IDAT", "garbage", 7);
    png_chunk(&png, "IEND", NULL, 0);
    by_err_clear(&err);
    assert_int_equal(by_image_decode(png.bytes, png.size, &image, &err), -1);
    assert_non_null(strstr(err.message, "the PNG data is damaged: "));
}

struct header_row {
    uint32_t width, height;
    uint8_t bits, colour;
    const char *message;
};

static void test_png_headers(void **state)
{
    (void)state;
    static const struct header_row rows[] = {
        {0, 5, 8, 2, "0 x 5 pixels, both sides must be at least 1"},
        {32769, 1, 8, 2, "32769 x 1 pixels, both sides must be at most 32768"},
        {32768, 32768, 8, 2, "32768 x 32768 pixels, must be at most 268435456 in total"},
        {2, 1, 4, 2, "colour type 2 with 4 bits does not exist"},
        {2, 1, 8, 5, "colour type 5 with 8 bits does not exist"},
        {2, 1, 3, 0, "colour type 0 with 3 bits does not exist"},
        {2, 1, 0, 0, "colour type 0 with 0 bits does not exist"},
        {16000, 16000, 8, 2,
         "16000 x 16000 pixels from 15 packed bytes, deflate reaches at most 1032 to 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        png_header(&png, rows[i].width, rows[i].height, rows[i].bits, rows[i].colour);
        png_data(&png, "\0abcdef", 7);
        png_chunk(&png, "IEND", NULL, 0);
        expect_png(BARYON_ERR_INPUT, rows[i].message);
    }
}

static void test_png_chunks(void **state)
{
    (void)state;
    png_begin(&png);
    png_chunk(&png, "IEND", NULL, 0);
    expect_png(BARYON_ERR_INPUT, "the IHDR chunk must come first, and once");
    png_begin(&png);
    png_chunk(&png, "IHDR", "123456789012", 12);
    expect_png(BARYON_ERR_INPUT, "an IHDR chunk must have 13 bytes");
    png_begin(&png);
    png_chunk(&png, "IHDR", "\0\0\0\1\0\0\0\1\10\2\1\0\0", 13);
    expect_png(BARYON_ERR_INPUT, "an unknown method of compression, filtering or interlacing");
    png_header(&png, 2, 1, 8, 2);
    png_chunk(&png, "NEED", "", 0);
    expect_png(BARYON_ERR_INPUT, "unknown critical chunk 'NEED'");
    assert_int_equal(err.offset, 33);
    png_header(&png, 2, 1, 8, 2);
    png_put32(png.bytes + png.size, 0x7fffffff);
    png.size += 16;
    expect_png(BARYON_ERR_INPUT, "a chunk of 2147483647 bytes, but 4 are left");
    png_header(&png, 2, 1, 8, 2);
    expect_png(BARYON_ERR_INPUT, "the picture is truncated: no IEND chunk");
}

static void test_unknown(void **state)
{
    (void)state;
    struct by_image_info info;
    assert_error(by_image_header((const uint8_t *)"GIF89a\1\0\1", 9, &info, &err), BARYON_ERR_INPUT,
                 "not a JPEG or PNG picture: it begins with 'GIF89a\\x01\\x00'");
    assert_error(by_image_header((const uint8_t *)"", 0, &info, &err), BARYON_ERR_INPUT,
                 "not a JPEG or PNG picture: it begins with ''");
}

/* A JPEG of one colour; memory that tjFree() frees. */
static uint8_t *make_jpeg(int width, int height, int format, int sampling, int flags,
                          const uint8_t *pixel, size_t channels, unsigned long *size)
{
    uint8_t *out = NULL, *pixels = malloc((size_t)width * (size_t)height * channels);
    tjhandle handle = tjInitCompress();
    assert_non_null(pixels);
    for (size_t i = 0; i < (size_t)width * (size_t)height; i++)
        memcpy(pixels + i * channels, pixel, channels);
    *size = 0;
    assert_int_equal(
        tjCompress2(handle, pixels, width, 0, height, format, &out, size, sampling, 95, flags), 0);
    tjDestroy(handle);
    free(pixels);
    return out;
}

static void assert_colour(const struct by_image *picture, int red, int green, int blue)
{
    const int wanted[3] = {red, green, blue};
    for (size_t i = 0; i < picture->width * picture->height * 3; i++)
        assert_in_range(picture->rgb[i] + 3 - wanted[i % 3], 0, 6);
}

static void test_jpeg_kinds(void **state)
{
    (void)state;
    const struct {
        int format, sampling, flags;
        size_t channels;
        uint8_t pixel[4];
        int red, green, blue;
    } rows[] = {
        {TJPF_RGB, TJSAMP_420, 0, 3, {200, 100, 50, 0}, 200, 100, 50},
        {TJPF_RGB, TJSAMP_444, TJFLAG_PROGRESSIVE, 3, {200, 100, 50, 0}, 200, 100, 50},
        {TJPF_GRAY, TJSAMP_GRAY, 0, 1, {77, 0, 0, 0}, 77, 77, 77},
        {TJPF_CMYK, TJSAMP_444, 0, 4, {255, 128, 0, 255}, 255, 128, 0},
        {TJPF_CMYK, TJSAMP_420, 0, 4, {255, 255, 255, 100}, 100, 100, 100},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned long size;
        uint8_t *bytes = make_jpeg(35, 21, rows[i].format, rows[i].sampling, rows[i].flags,
                                   rows[i].pixel, rows[i].channels, &size);
        assert_ok(by_image_decode(bytes, size, &image, &err));
        assert_int_equal(image.width, 35);
        assert_int_equal(image.height, 21);
        assert_int_equal(image.info.channels, rows[i].channels);
        assert_int_equal(image.info.was_cmyk, rows[i].channels == 4);
        assert_true(rows[i].flags ? image.info.scans > 1 : image.info.scans == 1);
        assert_colour(&image, rows[i].red, rows[i].green, rows[i].blue);
        by_image_release(&image);
        tjFree(bytes);
    }
}

/* Position of a marker among the headers. */
static size_t find_marker(const uint8_t *bytes, size_t size, uint8_t marker)
{
    size_t at = 2;
    while (at + 4 < size && bytes[at + 1] != marker)
        at += 2 + ((size_t)bytes[at + 2] << 8 | bytes[at + 3]);
    assert_int_equal(bytes[at + 1], marker);
    return at;
}

static void expect_jpeg(const uint8_t *bytes, size_t size, enum baryon_code code,
                        const char *message)
{
    struct by_image bad;
    assert_error(by_image_decode(bytes, size, &bad, &err), code, message);
    assert_null(bad.rgb);
}

static void test_jpeg_damage(void **state)
{
    (void)state;
    static uint8_t bytes[4096];
    unsigned long size;
    uint8_t *good =
        make_jpeg(40, 40, TJPF_RGB, TJSAMP_420, 0, (const uint8_t *)"\x10\x80\xf0", 3, &size);
    struct by_image bad;
    assert_true(size < sizeof bytes);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(by_image_decode(good, cut, &bad, NULL), -1);
    expect_jpeg(good, size - 2, BARYON_ERR_INPUT, "the picture is truncated: no end marker");
    const size_t frame = find_marker(good, size, 0xc0);
    const struct {
        size_t at;
        uint8_t value;
        enum baryon_code code;
        const char *message;
    } rows[] = {
        {frame + 4, 12, BARYON_ERR_UNSUPPORTED, "a JPEG of 12 bits, must have 8"},
        {frame + 9, 2, BARYON_ERR_INPUT, "a frame header of wrong length"},
        {frame + 11, 0x51, BARYON_ERR_INPUT, "a sampling factor must be 1 to 4"},
        {frame + 1, 0xc9, BARYON_ERR_UNSUPPORTED,
         "a JPEG with arithmetic coding, which is not supported"},
        {frame + 1, 0xc3, BARYON_ERR_UNSUPPORTED, "a lossless JPEG, which is not supported"},
        {frame + 1, 0xc5, BARYON_ERR_UNSUPPORTED,
         "a hierarchical or lossless JPEG, which is not supported"},
        {frame + 1, 0xe9, BARYON_ERR_INPUT, "a scan before the frame header"},
        {frame + 1, 0xd8, BARYON_ERR_INPUT, "a second picture begins inside the first"},
        {frame + 5, 0xff, BARYON_ERR_INPUT, "40 x 65320 pixels, both sides must be at most 32768"},
        {frame + 5, 0x7f, BARYON_ERR_INPUT, NULL},
        {frame + 3, 1, BARYON_ERR_INPUT, "a segment of less than 2 bytes"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(bytes, good, size);
        bytes[rows[i].at] = rows[i].value;
        if (rows[i].at == frame + 3)
            bytes[frame + 2] = 0;
        if (rows[i].message)
            expect_jpeg(bytes, size, rows[i].code, rows[i].message);
        else
            assert_int_equal(by_image_decode(bytes, size, &bad, NULL), -1);
    }
    tjFree(good);
}

static void test_jpeg_short(void **state)
{
    (void)state;
    unsigned long size;
    uint8_t *bytes = make_jpeg(8, 8, TJPF_GRAY, TJSAMP_GRAY, 0, (const uint8_t *)"a", 1, &size);
    const size_t frame = find_marker(bytes, size, 0xc0);
    char message[200];
    memcpy(bytes + frame + 5, "\x20\x00\x20\x00", 4);
    snprintf(message, sizeof message,
             "8192 x 8192 pixels require at least 262144 bytes, the file has %lu", size);
    expect_jpeg(bytes, size, BARYON_ERR_INPUT, message);
    tjFree(bytes);
}

static void test_jpeg_scans(void **state)
{
    (void)state;
    static uint8_t bytes[65536];
    unsigned long size;
    uint8_t *good =
        make_jpeg(8, 8, TJPF_GRAY, TJSAMP_GRAY, TJFLAG_PROGRESSIVE, (const uint8_t *)"a", 1, &size);
    const size_t scan = find_marker(good, size, 0xda);
    size_t at = size - 2;
    memcpy(bytes, good, at);
    for (size_t i = 0; i < BY_IMAGE_SCANS_MAX; i++, at += 10)
        memcpy(bytes + at, good + scan, 10);
    memcpy(bytes + at, "\xff\xd9", 2);
    expect_jpeg(bytes, at + 2, BARYON_ERR_INPUT, "more than 500 scans");
    tjFree(good);
}

/* Bytes between segments do no harm; lost data does. */
static void test_jpeg_warnings(void **state)
{
    (void)state;
    static uint8_t bytes[4096];
    unsigned long size;
    uint8_t *good =
        make_jpeg(40, 40, TJPF_RGB, TJSAMP_420, 0, (const uint8_t *)"\x10\x80\xf0", 3, &size);
    memcpy(bytes, good, size - 2);
    memcpy(bytes + size - 2, "abcd\xff\xd9", 6);
    assert_ok(by_image_decode(bytes, size + 4, &image, &err));
    assert_colour(&image, 0x10, 0x80, 0xf0);
    by_image_release(&image);
    const size_t scan = find_marker(good, size, 0xda);
    memcpy(bytes, good, scan + 14);
    memcpy(bytes + scan + 14, "\xff\xd9", 2);
    by_err_clear(&err);
    assert_int_equal(by_image_decode(bytes, scan + 16, &image, &err), -1);
    assert_non_null(strstr(err.message, "the JPEG data is damaged: "));
    tjFree(good);
}

static void test_exif(void **state)
{
    (void)state;
    uint8_t little[] = "II*\0\x08\0\0\0\x02\0\x0f\x01\x02\0\x01\0\0\0\0\0\0\0"
                       "\x12\x01\x03\0\x01\0\0\0\x06\0\0\0";
    const uint8_t big[] = "MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x08\0\0";
    const size_t size = sizeof little - 1;
    assert_int_equal(by_exif_orientation(little, size), 6);
    assert_int_equal(by_exif_orientation(big, sizeof big - 1), 8);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(by_exif_orientation(little, cut), 1);
    little[30] = 9;
    assert_int_equal(by_exif_orientation(little, size), 1);
    little[30] = 6;
    little[24] = 4;
    assert_int_equal(by_exif_orientation(little, size), 1);
    little[24] = 3;
    little[4] = 0xff;
    assert_int_equal(by_exif_orientation(little, size), 1);
    little[4] = 8;
    little[0] = 'X';
    assert_int_equal(by_exif_orientation(little, size), 1);
}

/* "abcdef" is a picture of 3 x 2 pixels, each of one letter. */
static void test_orient(void **state)
{
    (void)state;
    static const struct {
        unsigned orientation;
        size_t width;
        const char *letters;
    } rows[] = {{1, 3, "abcdef"}, {2, 3, "cbafed"}, {3, 3, "fedcba"}, {4, 3, "defabc"},
                {5, 2, "adbecf"}, {6, 2, "daebfc"}, {7, 2, "fcebda"}, {8, 2, "cfbead"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t width = 3, height = 2;
        uint8_t *rgb = by_alloc(6, 3, &err);
        for (size_t j = 0; j < 18; j++)
            rgb[j] = (uint8_t) "abcdef"[j / 3];
        assert_ok(by_image_orient(&rgb, &width, &height, rows[i].orientation, &err));
        assert_int_equal(width, rows[i].width);
        assert_int_equal(width * height, 6);
        for (size_t j = 0; j < 18; j++)
            assert_int_equal(rgb[j], rows[i].letters[j / 3]);
        by_free(rgb);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_png_kinds),     cmocka_unit_test(test_png_palette),
        cmocka_unit_test(test_png_damage),    cmocka_unit_test(test_png_headers),
        cmocka_unit_test(test_png_chunks),    cmocka_unit_test(test_unknown),
        cmocka_unit_test(test_jpeg_kinds),    cmocka_unit_test(test_jpeg_damage),
        cmocka_unit_test(test_jpeg_short),    cmocka_unit_test(test_jpeg_scans),
        cmocka_unit_test(test_jpeg_warnings), cmocka_unit_test(test_exif),
        cmocka_unit_test(test_orient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
