/* Samples from pictures, through the preparation. */
#include "input/input.h"

#include <string.h>

static int check_image_port(const struct by_port *ports, size_t port_count,
                            const struct by_input_options *options, struct baryon_error *err)
{
    if (port_count == 1)
        return by_prep_check(&options->prep, ports, err);
    by_fail(err, BARYON_ERR_USAGE, "a picture contains one input, the model has %zu", port_count);
    return by_err_hint(err, "give a folder with one subfolder per input");
}

static void report_image_changes(const struct by_reading *reading, const struct by_image_info *info)
{
    const struct {
        bool is;
        enum by_told what;
        const char *text;
    } rows[] = {
        {info->orientation != 1, BY_TOLD_ORIENTED, "the EXIF orientation is applied"},
        {info->had_profile, BY_TOLD_PROFILE, "colour profiles (ICC) are not applied"},
        {info->had_alpha, BY_TOLD_ALPHA, "alpha is dropped, not blended"},
        {info->was_16bit, BY_TOLD_DEPTH, "16-bit channels are reduced to their high 8 bits"},
        {info->was_cmyk, BY_TOLD_CMYK, "CMYK is converted by formula, without a profile"},
        {info->animated, BY_TOLD_ANIMATED, "the default picture of an animation is used"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is)
            by_tell_once(reading, rows[i].what, rows[i].text);
}

static int read_image(const struct by_reading *reading, struct by_stored **arrays, size_t *count,
                      struct baryon_error *err)
{
    struct by_image image;
    struct by_array array;
    *arrays = BY_ARENA_NEW(reading->arena, struct by_stored, err);
    if (!*arrays || by_image_decode(reading->bytes, reading->size, &image, err) < 0)
        return -1;
    report_image_changes(reading, &image.info);
    int failed =
        by_prep_apply(&reading->options->prep, &image, reading->ports, reading->arena, &array, err);
    by_image_release(&image);
    if (failed < 0)
        return -1;
    *count = 1;
    **arrays = (struct by_stored){
        .elem = array.elem,
        .rank = array.rank,
        .bytes = array.data,
        .size = array.size,
    };
    memcpy((*arrays)->dims, array.dims, sizeof array.dims);
    return 0;
}

const struct by_reader by_read_image = {
    .name = "image",
    .suffixes = ".jpg .jpeg .jpe .jfif .png .apng",
    .help = "JPEG or PNG picture, prepared according to the options",
    .untrusted_ok = true,
    .single = true,
    .sniff = by_image_sniff,
    .check = check_image_port,
    .read = read_image,
};
