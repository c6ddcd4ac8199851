/*
 * Readers and preparation, step by step, for tests that compare with other libraries.
 * Commands are lines on stdin, words separated by blanks:
 *
 *   npy IN OUT                      reads a .npy and writes it again
 *   npz IN NAME OUT                 the same with a member of a .npz
 *   decode IN OUT                   picture -> uint8 [h, w, 3]
 *   resize FILTER W H IN OUT        uint8 [h, w, channels] -> the same resized
 *   prep PRESET ELEM LAYOUT RESIZE FILTER COLOUR N,C,H,W SIZE STRIDE IN OUT
 *                                   picture -> the input; "-" keeps the preset's choice
 *
 * Each gives one line: "ok ...", or "error ..." with the message.
 */
#include "input/input.h"
#include "input/npy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 16

struct words {
    char *at[WORDS];
    size_t count;
};

static int save(const char *path, int64_t elem, const int64_t *dims, size_t rank, const void *data,
                struct baryon_error *err)
{
    size_t count, bytes;
    if (by_dims_count(dims, rank, &count, err) < 0 || by_elem_bytes(elem, count, &bytes, err) < 0)
        return -1;
    return by_npy_save(path, elem, dims, rank, data, bytes, BY_WRITER_NO_SYNC, err);
}

static int copy_npy(const uint8_t *bytes, size_t size, const char *out, struct baryon_error *err)
{
    struct by_npy_header header;
    if (by_npy_parse(bytes, size, &header, err) < 0)
        return -1;
    void *values = by_alloc(header.bytes, 1, err);
    if (!values)
        return -1;
    by_npy_copy(&header, bytes, values);
    int failed = save(out, header.elem, header.dims, header.rank, values, err);
    by_free(values);
    return failed;
}

static int do_npy(const struct words *words, struct baryon_error *err)
{
    struct by_mapped file;
    if (by_mapped_open(&file, words->at[1], err) < 0)
        return -1;
    int failed = copy_npy(file.bytes, file.size, words->at[2], err);
    by_mapped_close(&file);
    return failed;
}

static int copy_member(struct by_arena *arena, const struct by_mapped *file, const char *name,
                       const char *out, struct baryon_error *err)
{
    struct by_npz npz;
    if (by_npz_parse(arena, file->bytes, file->size, &npz, err) < 0)
        return -1;
    for (size_t i = 0; i < npz.count; i++) {
        uint8_t *member;
        if (strcmp(npz.members[i].name, name) != 0)
            continue;
        if (by_npz_read(file->bytes, file->size, &npz.members[i], &member, err) < 0)
            return -1;
        int failed = copy_npy(member, (size_t)npz.members[i].size, out, err);
        by_free(member);
        return failed;
    }
    return by_fail(err, BARYON_ERR_INPUT, "no member of that name");
}

static int do_npz(const struct words *words, struct baryon_error *err)
{
    struct by_mapped file;
    struct by_arena arena;
    if (by_mapped_open(&file, words->at[1], err) < 0)
        return -1;
    by_arena_init(&arena, 0);
    int failed = copy_member(&arena, &file, words->at[2], words->at[3], err);
    by_arena_release(&arena);
    by_mapped_close(&file);
    return failed;
}

static int open_picture(const char *path, struct by_image *image, struct baryon_error *err)
{
    struct by_mapped file;
    if (by_mapped_open(&file, path, err) < 0)
        return -1;
    int failed = by_image_decode(file.bytes, file.size, image, err);
    by_mapped_close(&file);
    return failed;
}

static int do_decode(const struct words *words, struct baryon_error *err)
{
    struct by_image image;
    if (open_picture(words->at[1], &image, err) < 0)
        return -1;
    const int64_t dims[3] = {(int64_t)image.height, (int64_t)image.width, 3};
    int failed = save(words->at[2], BY_ELEM_UINT8, dims, 3, image.rgb, err);
    by_image_release(&image);
    return failed;
}

static int choice(const struct by_choice *choices, const char *name, struct baryon_error *err)
{
    for (; choices->name; choices++)
        if (strcmp(choices->name, name) == 0)
            return choices->value;
    return by_fail(err, BARYON_ERR_USAGE, "unknown name %s", name);
}

static int resize_array(const struct words *words, const struct by_npy_header *header,
                        const uint8_t *in, struct baryon_error *err)
{
    const int filter = choice(by_filter_names, words->at[1], err);
    const size_t width = strtoul(words->at[2], NULL, 10), height = strtoul(words->at[3], NULL, 10);
    const int64_t dims[3] = {(int64_t)height, (int64_t)width, header->dims[2]};
    if (filter < 0 || header->rank != 3)
        return -1;
    uint8_t *out = by_alloc(width * height, (size_t)dims[2], err);
    if (!out)
        return -1;
    int failed = by_image_resize((enum by_filter)filter, in, (size_t)header->dims[1],
                                 (size_t)header->dims[0], (size_t)dims[2], out, width, height, err);
    if (failed == 0)
        failed = save(words->at[5], BY_ELEM_UINT8, dims, 3, out, err);
    by_free(out);
    return failed;
}

static int do_resize(const struct words *words, struct baryon_error *err)
{
    struct by_mapped file;
    struct by_npy_header header;
    if (by_mapped_open(&file, words->at[4], err) < 0)
        return -1;
    int failed = by_npy_parse(file.bytes, file.size, &header, err);
    if (failed == 0)
        failed = resize_array(words, &header, file.bytes + header.data, err);
    by_mapped_close(&file);
    return failed;
}

static bool is_given(const char *word)
{
    return strcmp(word, "-") != 0;
}

static int read_settings(const struct words *words, struct by_prep *prep, struct baryon_error *err)
{
    int value = 0;
    if (is_given(words->at[1]) && (value = choice(by_prep_preset_names, words->at[1], err)) < 0)
        return -1;
    *prep = *by_prep_preset(value);
    if (is_given(words->at[3])) {
        if ((value = choice(by_layout_names, words->at[3], err)) < 0)
            return -1;
        prep->layout = (enum by_layout)value;
    }
    if (is_given(words->at[4])) {
        if ((value = choice(by_resize_names, words->at[4], err)) < 0)
            return -1;
        prep->resize = (enum by_resize)value;
    }
    if (is_given(words->at[5])) {
        if ((value = choice(by_filter_names, words->at[5], err)) < 0)
            return -1;
        prep->filter = (enum by_filter)value;
    }
    if (is_given(words->at[6])) {
        if ((value = choice(by_colour_names, words->at[6], err)) < 0)
            return -1;
        prep->colour = (enum by_colour)value;
    }
    prep->width = prep->height = strtoul(words->at[8], NULL, 10);
    prep->stride = strtoul(words->at[9], NULL, 10);
    return 0;
}

static size_t read_dims(char *text, int64_t dims[16])
{
    size_t rank = 0;
    for (char *at = text; *at && rank < 16; rank++) {
        dims[rank] = strtoll(at, &at, 10);
        at += *at == ',';
    }
    return rank;
}

static int do_prep(const struct words *words, struct baryon_error *err)
{
    struct by_prep prep;
    struct by_image image;
    struct by_arena arena;
    struct by_array array;
    int64_t dims[16];
    struct by_port port = {.name = "input", .kind = "tensor", .dims = dims};
    port.elem = by_elem_by_name(words->at[2]);
    port.rank = read_dims(words->at[7], dims);
    if (read_settings(words, &prep, err) < 0 || by_prep_check(&prep, &port, err) < 0 ||
        open_picture(words->at[10], &image, err) < 0)
        return -1;
    by_arena_init(&arena, 0);
    int failed = by_prep_apply(&prep, &image, &port, &arena, &array, err);
    if (failed == 0)
        failed = save(words->at[11], array.elem, array.dims, array.rank, array.data, err);
    if (failed == 0) {
        char text[512];
        by_prep_describe(&prep, &port, text, sizeof text);
        printf("%s: ", text);
    }
    by_image_release(&image);
    by_arena_release(&arena);
    return failed;
}

struct command {
    const char *name;
    size_t words;
    int (*run)(const struct words *words, struct baryon_error *err);
};

static const struct command commands[] = {
    {"npy", 3, do_npy},       {"npz", 4, do_npz},    {"decode", 3, do_decode},
    {"resize", 6, do_resize}, {"prep", 12, do_prep},
};

static int run(const struct words *words, struct baryon_error *err)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (words->count == commands[i].words && strcmp(words->at[0], commands[i].name) == 0)
            return commands[i].run(words, err);
    return by_fail(err, BARYON_ERR_USAGE, "unknown command");
}

int main(void)
{
    char line[8192], text[2048];
    while (fgets(line, sizeof line, stdin)) {
        struct words words = {.count = 0};
        struct baryon_error err = {.offset = -1};
        char *rest = line;
        for (char *word; words.count < WORDS && (word = strtok_r(rest, " \n", &rest));)
            words.at[words.count++] = word;
        if (run(&words, &err) < 0) {
            baryon_error_format(&err, text, sizeof text);
            printf("error %s\n", text);
        } else {
            printf("ok\n");
        }
        fflush(stdout);
    }
    return 0;
}
