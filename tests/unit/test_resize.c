/* Resizing: stored results of OpenCV, the plain paths, and simple truths. */
#include "input/npy.h"
#include "input/resize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

struct golden {
    struct by_mapped file;
    struct by_arena arena;
    struct by_npz npz;
};

static void open_golden(struct golden *golden, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "tests/golden/resize_cv/%s.npz", name);
    by_arena_init(&golden->arena, 0);
    assert_ok(by_mapped_open(&golden->file, path, &err));
    assert_ok(
        by_npz_parse(&golden->arena, golden->file.bytes, golden->file.size, &golden->npz, &err));
}

static uint8_t *read_golden(const struct golden *golden, const char *name,
                            struct by_npy_header *header)
{
    uint8_t *bytes;
    for (size_t i = 0; i < golden->npz.count; i++) {
        const struct by_npz_member *member = &golden->npz.members[i];
        if (strcmp(member->name, name) != 0)
            continue;
        assert_ok(by_npz_read(golden->file.bytes, golden->file.size, member, &bytes, &err));
        assert_ok(by_npy_parse(bytes, (size_t)member->size, header, &err));
        return bytes;
    }
    fail_msg("no array %s", name);
    return NULL;
}

static int filter_of(const char *name, size_t length)
{
    for (const struct by_choice *row = by_filter_names; row->name; row++)
        if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
            return row->value;
    fail_msg("no filter %.*s", (int)length, name);
    return -1;
}

/* One stored result, "cv-linear_31x20"; returns how many values are not the very same. */
static size_t check_golden(const struct golden *golden, const char *name, const uint8_t *source,
                           const struct by_npy_header *from)
{
    struct by_npy_header header;
    uint8_t *wanted = read_golden(golden, name, &header);
    const int filter = filter_of(name, strcspn(name, "_"));
    uint8_t *out = by_alloc(header.bytes, 1, &err);
    size_t unequal = 0;
    assert_ok(by_image_resize((enum by_filter)filter, source + from->data, (size_t)from->dims[1],
                              (size_t)from->dims[0], (size_t)from->dims[2], out,
                              (size_t)header.dims[1], (size_t)header.dims[0], &err));
    for (size_t i = 0; i < header.count; i++) {
        const int difference = out[i] - wanted[header.data + i];
        if (difference < -1 || difference > 1)
            fail_msg("%s differs by %d at %zu", name, difference, i);
        unequal += difference != 0;
    }
    if (filter != BY_FILTER_CV_CUBIC)
        assert_int_equal(unequal, 0);
    by_free(out);
    by_free(wanted);
    return unequal;
}

static void check_goldens(const char *name)
{
    struct golden golden;
    struct by_npy_header header;
    size_t compared = 0;
    open_golden(&golden, name);
    uint8_t *source = read_golden(&golden, "source", &header);
    for (size_t i = 0; i < golden.npz.count; i++) {
        if (strcmp(golden.npz.members[i].name, "source") == 0)
            continue;
        check_golden(&golden, golden.npz.members[i].name, source, &header);
        compared++;
    }
    assert_int_equal(compared, 36);
    by_free(source);
    by_arena_release(&golden.arena);
    by_mapped_close(&golden.file);
}

static void test_opencv(void **state)
{
    (void)state;
    check_goldens("rgb");
    check_goldens("gray");
}

static uint8_t noise(size_t i)
{
    return (uint8_t)((i * 2654435761u) >> 13);
}

static void test_flat(void **state)
{
    (void)state;
    static uint8_t in[40 * 30 * 3], out[90 * 90 * 3];
    const size_t sizes[][2] = {{1, 1}, {7, 80}, {90, 3}, {20, 15}, {80, 60}, {40, 7}, {90, 90}};
    memset(in, 200, sizeof in);
    for (const struct by_choice *filter = by_filter_names; filter->name; filter++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const size_t bytes = sizes[i][0] * sizes[i][1] * 3;
            memset(out, 0, sizeof out);
            assert_ok(by_image_resize((enum by_filter)filter->value, in, 40, 30, 3, out,
                                      sizes[i][0], sizes[i][1], &err));
            for (size_t j = 0; j < bytes; j++)
                assert_int_equal(out[j], 200);
        }
}

static void test_same_size(void **state)
{
    (void)state;
    uint8_t in[5 * 4 * 2], out[5 * 4 * 2];
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = noise(i);
    for (const struct by_choice *filter = by_filter_names; filter->name; filter++) {
        memset(out, 0, sizeof out);
        assert_ok(by_image_resize((enum by_filter)filter->value, in, 5, 4, 2, out, 5, 4, &err));
        assert_memory_equal(in, out, sizeof in);
    }
}

static void test_vector_rows(void **state)
{
    (void)state;
    static uint8_t rows[9 * 300], ours[300], plain[300];
    int32_t weight[9];
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = noise(i);
    for (size_t count = 1; count <= 9; count++)
        for (size_t size = 0; size <= 300; size += 7) {
            for (size_t j = 0; j < count; j++)
                weight[j] = (int32_t)((1 << 22) / (int32_t)count) * (j % 3 == 2 ? -1 : 1);
            by_weigh_rows(rows, 300, weight, count, ours, size);
            by_weigh_rows_ref(rows, 300, weight, count, plain, size);
            assert_memory_equal(ours, plain, size);
        }
}

static void test_vector_columns(void **state)
{
    (void)state;
    uint8_t row[64 * 4], ours[20 * 4], plain[20 * 4];
    size_t first[20], count[20];
    int32_t weight[20 * 5];
    const struct by_taps taps = {5, first, count, weight};
    for (size_t i = 0; i < sizeof row; i++)
        row[i] = noise(i);
    for (size_t i = 0; i < 20; i++) {
        first[i] = i * 3;
        count[i] = 1 + i % 5;
        for (size_t j = 0; j < 5; j++)
            weight[i * 5 + j] = (int32_t)(noise(i + 7 * j) * 12345) - 1000000;
    }
    for (size_t channels = 1; channels <= 4; channels++) {
        by_weigh_columns(row, channels, &taps, ours, 20);
        by_weigh_columns_ref(row, channels, &taps, plain, 20);
        assert_memory_equal(ours, plain, 20 * channels);
    }
}

static void test_refused(void **state)
{
    (void)state;
    uint8_t in[4] = {0}, out[4];
    assert_error(by_image_resize(BY_FILTER_PIL_BOX, in, 0, 1, 1, out, 1, 1, &err), BARYON_ERR_INPUT,
                 "a side of 0 pixels, must be 1 to 32768");
    assert_error(by_image_resize(BY_FILTER_PIL_BOX, in, 1, 1, 1, out, 32769, 1, &err),
                 BARYON_ERR_INPUT, "a side of 32769 pixels, must be 1 to 32768");
    assert_error(by_image_resize(BY_FILTER_PIL_BOX, in, 1, 1, 5, out, 1, 1, &err),
                 BARYON_ERR_INTERNAL, "5 channels, must be 1 to 4");
}

/* The longest sides that are possible, where sums and indices are largest. */
static void test_extremes(void **state)
{
    (void)state;
    static uint8_t line[BY_IMAGE_SIDE_MAX], out[BY_IMAGE_SIDE_MAX];
    memset(line, 255, sizeof line);
    for (const struct by_choice *filter = by_filter_names; filter->name; filter++) {
        const enum by_filter value = (enum by_filter)filter->value;
        assert_ok(by_image_resize(value, line, BY_IMAGE_SIDE_MAX, 1, 1, out, 1, 1, &err));
        assert_int_equal(out[0], 255);
        assert_ok(by_image_resize(value, line, 1, BY_IMAGE_SIDE_MAX, 1, out, 1, 1, &err));
        assert_int_equal(out[0], 255);
        assert_ok(by_image_resize(value, line, 1, 1, 1, out, BY_IMAGE_SIDE_MAX, 1, &err));
        assert_memory_equal(line, out, sizeof out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opencv),         cmocka_unit_test(test_flat),
        cmocka_unit_test(test_same_size),      cmocka_unit_test(test_vector_rows),
        cmocka_unit_test(test_vector_columns), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_extremes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
