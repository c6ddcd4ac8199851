/* The directory of .npz archives and their members, right and wrong. */
#include "input/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "tests/unit/zip_make.h"

static struct zip_file file;
static uint8_t room[4096];
static const char text[] = "some bytes, some bytes, some bytes, some bytes, some bytes";
#define TEXT_SIZE (sizeof text - 1)

/* Parses the file, and reads every member. */
static int read_all(struct baryon_error *problem)
{
    struct by_arena arena;
    struct by_npz npz;
    by_arena_init(&arena, 0);
    int failed = by_npz_parse(&arena, file.bytes, file.size, &npz, problem);
    for (size_t i = 0; failed == 0 && i < npz.count; i++) {
        uint8_t *out;
        failed = by_npz_read(file.bytes, file.size, &npz.members[i], &out, problem);
        if (failed == 0)
            by_free(out);
    }
    by_arena_release(&arena);
    return failed;
}

static void expect(const char *message)
{
    assert_error(read_all(&err), BARYON_ERR_INPUT, message);
    assert_int_equal(read_all(NULL), -1);
}

static void test_members(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_npz npz;
    uint8_t *out, start[8];
    size_t got;
    const struct zip_member members[3] = {
        zip_stored("a.npy", text, TEXT_SIZE),
        zip_deflated("dir/b.npy", text, TEXT_SIZE, room, sizeof room),
        zip_stored("notes.txt", "x", 1),
    };
    zip_make(&file, members, 3);
    by_arena_init(&arena, 0);
    assert_true(by_npz_sniff(file.bytes, file.size));
    assert_ok(by_npz_parse(&arena, file.bytes, file.size, &npz, &err));
    assert_int_equal(npz.count, 2);
    assert_string_equal(npz.members[0].name, "a");
    assert_string_equal(npz.members[1].name, "dir/b");
    for (size_t i = 0; i < 2; i++) {
        assert_ok(by_npz_read(file.bytes, file.size, &npz.members[i], &out, &err));
        assert_memory_equal(out, text, TEXT_SIZE);
        by_free(out);
        assert_ok(by_npz_peek(file.bytes, file.size, &npz.members[i], start, 8, &got, &err));
        assert_int_equal(got, 8);
        assert_memory_equal(start, text, 8);
        assert_error(by_npz_read(file.bytes, 10, &npz.members[i], &out, &err), BARYON_ERR_CHANGED,
                     "the file was truncated while it was read");
    }
    by_arena_release(&arena);
}

static void test_empty(void **state)
{
    (void)state;
    struct by_arena arena;
    struct by_npz npz;
    zip_make(&file, NULL, 0);
    by_arena_init(&arena, 0);
    assert_true(by_npz_sniff(file.bytes, file.size));
    assert_ok(by_npz_parse(&arena, file.bytes, file.size, &npz, &err));
    assert_int_equal(npz.count, 0);
    by_arena_release(&arena);
}

static void make_one(const struct zip_member *member)
{
    zip_make(&file, member, 1);
}

static void test_bad_members(void **state)
{
    (void)state;
    const struct zip_member good = zip_stored("a.npy", text, TEXT_SIZE);
    struct zip_member bad = good;
    bad.flags = 1;
    make_one(&bad);
    expect("member 'a.npy': the member is encrypted, which is not supported");
    bad = good;
    bad.method = 12;
    make_one(&bad);
    expect("member 'a.npy': packing method 12, must be 0 (stored) or 8 (deflated)");
    bad = good;
    bad.size = 5;
    make_one(&bad);
    expect("member 'a.npy': a stored member of 5 bytes uses 58 bytes, must be the same");
    bad = good;
    bad.crc ^= 1;
    make_one(&bad);
    by_err_clear(&err);
    assert_int_equal(read_all(&err), -1);
    assert_non_null(strstr(error_text(), "member 'a': the checksum (CRC-32) of the bytes is "));
    bad = good;
    bad.method = 8;
    bad.size = 58 * 1101;
    make_one(&bad);
    expect("member 'a.npy': 63858 bytes from 58 packed bytes, deflate reaches at most 1100 to 1");
    bad = good;
    bad.name = "\xff.npy";
    make_one(&bad);
    expect("member '\\xff.npy': a name must be UTF-8 without NUL and have at most 4096 bytes");
    bad = good;
    bad.local_size = 57;
    make_one(&bad);
    expect("member 'a.npy': the header of the member contradicts the directory");
    bad = good;
    bad.local_offset = 3;
    make_one(&bad);
    expect("member 'a.npy': no member header at the place in the directory");
    bad.local_offset = 100000;
    make_one(&bad);
    expect("member 'a.npy': the header of the member is outside of the data of the file");
    bad = good;
    bad.size = bad.packed = 1000;
    make_one(&bad);
    expect("member 'a.npy': the member is longer than the data of the file");
    bad = good;
    bad.size = UINT32_MAX;
    make_one(&bad);
    expect("entry[0]: the zip64 sizes of a directory entry are missing or truncated");
}

static void test_bad_streams(void **state)
{
    (void)state;
    const struct zip_member good = zip_deflated("a.npy", text, TEXT_SIZE, room, sizeof room);
    struct zip_member bad = good;
    make_one(&good);
    assert_ok(read_all(&err));
    bad.size = TEXT_SIZE + 1;
    make_one(&bad);
    expect("member 'a': 58 bytes from the packed data, the directory states 59");
    bad.size = TEXT_SIZE - 1;
    make_one(&bad);
    expect("member 'a': the packed data does not end after the 57 bytes that the directory states");
    bad = good;
    bad.packed--;
    bad.stored--;
    make_one(&bad);
    by_err_clear(&err);
    assert_int_equal(read_all(&err), -1);
    assert_non_null(strstr(error_text(), "member 'a': "));
    bad = good;
    bad.packed++;
    bad.stored++;
    make_one(&bad);
    expect("member 'a': the packed data does not end after the 58 bytes that the directory states");
    bad = good;
    bad.data = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"
               "\xff\xff\xff\xff\xff";
    make_one(&bad);
    by_err_clear(&err);
    assert_int_equal(read_all(&err), -1);
    assert_non_null(strstr(error_text(), "member 'a': the packed data is damaged near byte "));
}

static void test_duplicates(void **state)
{
    (void)state;
    const struct zip_member one = zip_stored("a.npy", text, TEXT_SIZE);
    struct zip_member two[2] = {one, one};
    zip_make(&file, two, 2);
    expect("member 'a.npy': two members have this name, names must be unique");
    two[1] = zip_stored("b.npy", text, TEXT_SIZE);
    zip_make(&file, two, 2);
    assert_ok(read_all(&err));
    /* The second entry leads to the bytes of the first, under the first's name. */
    const struct zip_member same[2] = {one, zip_stored("b.npy", text, TEXT_SIZE)};
    const size_t start = zip_make(&file, same, 2);
    memcpy(file.bytes + start - TEXT_SIZE - 5 - 30, file.bytes, 30);
    memcpy(file.bytes + start + 46 + 5 + 42, "\0\0\0", 3);
    expect("member 'b.npy': the header of the member contradicts the directory");
}

static void test_overlap(void **state)
{
    (void)state;
    /* A whole member lies inside of the stored bytes of another. */
    static struct zip_file inner;
    const struct zip_member small = zip_stored("b.npy", "xyz", 3);
    zip_make(&inner, &small, 1);
    struct zip_member two[2] = {zip_stored("a.npy", inner.bytes, 38), small};
    two[1].local_offset = 35;
    zip_make(&file, two, 2);
    assert_error(read_all(&err), BARYON_ERR_INPUT, "two members overlap");
    assert_int_equal(err.offset, 35);
}

static void test_bad_end(void **state)
{
    (void)state;
    const struct zip_member one = zip_stored("a.npy", text, TEXT_SIZE);
    const size_t start = zip_make(&file, &one, 1);
    const size_t end = file.size - 22;
    static struct zip_file good;
    good = file;
    for (size_t cut = 0; cut < good.size; cut++) {
        file.size = cut;
        assert_int_equal(read_all(NULL), -1);
    }
    file = good;
    zip_add(&file, "x", 1);
    expect("no end record of a zip directory at the end of the file; the file is truncated, or not "
           "a .npz archive");
    file = good;
    file.bytes[end + 4] = 1;
    expect("an archive of several files is not supported");
    file = good;
    file.bytes[end + 16]++;
    expect("the directory does not end where the end record begins");
    file = good;
    file.bytes[end + 8] = file.bytes[end + 10] = 2;
    expect("2 members, must be at most 1");
    file = good;
    file.bytes[end + 8] = file.bytes[end + 10] = 0;
    expect("the directory is longer than its entries");
    file = good;
    file.bytes[start] = 'Q';
    expect("entry[0]: a directory entry is missing");
    file = good;
    file.bytes[start + 30] = 200;
    expect("entry[0]: a directory entry is longer than the directory");
    file = good;
    file.bytes[start + 34] = 1;
    expect("entry[0]: an archive of several files is not supported");
}

/* One member with 64-bit sizes in all the places that may have them. */
static void make_zip64(uint64_t size, uint64_t record, uint64_t entries)
{
    uint8_t extra[28] = {1, 0, 24, 0};
    struct zip_member member = zip_stored("a.npy", text, TEXT_SIZE);
    const uint64_t values[3] = {size, TEXT_SIZE, 0};
    for (size_t i = 0; i < 24; i++)
        extra[4 + i] = (uint8_t)(values[i / 8] >> (8 * (i % 8)));
    const struct zip_member plain = member;
    const size_t start = zip_make(&file, &plain, 1);
    member.size = member.packed = member.local_offset = UINT32_MAX;
    member.extra = extra;
    member.extra_size = sizeof extra;
    file.size = start;
    zip_add_entry(&file, &member, 0);
    const size_t end = file.size;
    zip_add_number(&file, 0x06064b50, 4);
    zip_add_number(&file, 44, 8);
    zip_add_number(&file, 45 | 45 << 16, 4);
    zip_add_number(&file, 0, 8);
    zip_add_number(&file, 1, 8);
    zip_add_number(&file, entries, 8);
    zip_add_number(&file, end - start, 8);
    zip_add_number(&file, start, 8);
    zip_add_number(&file, 0x07064b50, 4);
    zip_add_number(&file, 0, 4);
    zip_add_number(&file, record ? record : end, 8);
    zip_add_number(&file, 1, 4);
    zip_add_end(&file, 0xffff, UINT32_MAX, UINT32_MAX);
}

static void test_zip64(void **state)
{
    (void)state;
    make_zip64(TEXT_SIZE, 0, 1);
    assert_ok(read_all(&err));
    make_zip64((uint64_t)1 << 62, 0, 1);
    expect("member 'a.npy': a stored member of 4611686018427387904 bytes uses 58 bytes, must be "
           "the same");
    make_zip64(TEXT_SIZE, 7, 1);
    expect("the zip64 locator does not point to the record before it");
    make_zip64(TEXT_SIZE, (uint64_t)1 << 63, 1);
    expect("the zip64 locator does not point to the record before it");
    make_zip64(TEXT_SIZE, 0, (uint64_t)1 << 60);
    expect("the zip64 record contradicts itself");
    make_zip64(TEXT_SIZE, 0, 1);
    memcpy(file.bytes + file.size - 22 + 8, "\2\0\2\0", 4);
    expect("the end record contradicts the zip64 record");
    make_zip64(TEXT_SIZE, 0, 1);
    file.bytes[file.size - 22 - 20 + 4] = 1;
    expect("an archive of several files is not supported");
}

/* No byte may be read beyond the file, whatever is changed: for sanitizers and valgrind. */
static void test_every_byte(void **state)
{
    (void)state;
    const struct zip_member members[2] = {
        zip_stored("a.npy", text, TEXT_SIZE),
        zip_deflated("b.npy", text, TEXT_SIZE, room, sizeof room),
    };
    static struct zip_file good;
    size_t refused = 0;
    zip_make(&file, members, 2);
    good = file;
    for (size_t i = 0; i < good.size; i++)
        for (unsigned bit = 0; bit < 8; bit++) {
            file = good;
            file.bytes[i] ^= (uint8_t)(1u << bit);
            refused += read_all(NULL) < 0;
        }
    /* Versions, times, attributes and the bytes of comments make no difference. */
    assert_true(refused > good.size * 8 * 3 / 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),     cmocka_unit_test(test_empty),
        cmocka_unit_test(test_bad_members), cmocka_unit_test(test_bad_streams),
        cmocka_unit_test(test_duplicates),  cmocka_unit_test(test_overlap),
        cmocka_unit_test(test_bad_end),     cmocka_unit_test(test_zip64),
        cmocka_unit_test(test_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
