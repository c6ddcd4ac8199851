/* Sources of samples: files, folders, lists; matching. */
#include "input/input.h"

#include "input/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/png_make.h"
#include "tests/unit/scratch.h"
#include "tests/unit/zip_make.h"

static char notices[4096];

static void take_notice(void *context, enum by_log_level level, const char *text)
{
    (void)context;
    const size_t used = strlen(notices);
    snprintf(notices + used, sizeof notices - used, "%s%s\n",
             level == BY_LOG_WARNING ? "warning: " : "", text);
}

static const struct by_log logger = {.write = take_notice, .level = BY_LOG_NOTICE};
static struct by_input_options options;
static struct by_input *input;
static const struct by_array *arrays;
static const char *name;

static const int64_t one_dims[2] = {1, 3}, open_dims[2] = {-1, 3};
static const char *const symbols[2] = {"N", ""};
static struct by_port one_port, open_port, pair[2];

static int set_up(void **state)
{
    (void)state;
    notices[0] = '\0';
    options = (struct by_input_options){.log = &logger};
    one_port = (struct by_port){
        .name = "x", .elem = BY_ELEM_FLOAT, .kind = "tensor", .rank = 2, .dims = one_dims};
    open_port = one_port;
    open_port.dims = open_dims;
    open_port.symbols = symbols;
    pair[0] = one_port;
    pair[1] = open_port;
    pair[1].name = "y";
    pair[1].elem = BY_ELEM_INT64;
    input = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    by_input_close(input);
    return system("rm -rf ./*");
}

static void save(const char *path, int64_t elem, const int64_t *dims, size_t rank, const void *data)
{
    size_t count, bytes;
    assert_ok(by_dims_count(dims, rank, &count, &err));
    assert_ok(by_elem_bytes(elem, count, &bytes, &err));
    assert_ok(by_npy_save(path, elem, dims, rank, data, bytes, BY_WRITER_NO_SYNC, &err));
}

static const float floats[6] = {1, 2, 3, 4, 5, 6};

static void save_floats(const char *path, int64_t rows)
{
    const int64_t dims[2] = {rows, 3};
    save(path, BY_ELEM_FLOAT, dims, 2, floats);
}

static void open_one(const char *path)
{
    assert_ok(by_input_open(&input, path, &one_port, 1, &options, &err));
}

static void get(size_t index)
{
    assert_ok(by_input_get(input, index, &arrays, &name, &err));
    assert_non_null(arrays);
}

/* What goes wrong when the source is opened and its first sample asked for. */
static int first_sample(const char *path, const struct by_port *ports, size_t count)
{
    by_input_close(input);
    input = NULL;
    if (by_input_open(&input, path, ports, count, &options, &err) < 0)
        return -1;
    return by_input_get(input, 0, &arrays, &name, &err);
}

/* A file is read as a whole: its later samples need it no more. */
static void test_file_that_shrinks(void **state)
{
    (void)state;
    save_floats("cat.npy", 2);
    open_one("cat.npy");
    get(0);
    assert_int_equal(truncate("cat.npy", 0), 0);
    get(1);
    assert_memory_equal(arrays[0].data, floats + 3, 12);
}

static void test_file(void **state)
{
    (void)state;
    save_floats("cat.npy", 1);
    open_one("cat.npy");
    assert_int_equal(by_input_count(input), 1);
    get(0);
    assert_string_equal(name, "cat");
    assert_string_equal(arrays[0].name, "x");
    assert_int_equal(arrays[0].elem, BY_ELEM_FLOAT);
    assert_int_equal(arrays[0].rank, 2);
    assert_int_equal(arrays[0].size, 12);
    assert_memory_equal(arrays[0].data, floats, 12);
    assert_string_equal(notices, "");
    assert_int_equal(by_input_get(input, 1, &arrays, &name, &err), -1);
}

static void test_stacked(void **state)
{
    (void)state;
    save_floats("all.npy", 2);
    open_one("all.npy");
    assert_int_equal(by_input_count(input), 2);
    for (size_t i = 2; i-- > 0;) {
        get(i);
        assert_string_equal(name, i ? "all-1" : "all-0");
        assert_int_equal(arrays[0].dims[0], 1);
        assert_memory_equal(arrays[0].data, floats + 3 * i, 12);
    }
    /* Where the batch is symbolic, two rows are one sample. */
    by_input_close(input);
    assert_ok(by_input_open(&input, "all.npy", &open_port, 1, &options, &err));
    assert_int_equal(by_input_count(input), 1);
    get(0);
    assert_int_equal(arrays[0].dims[0], 2);
    /* ... and two samples again when --shape makes it 1. */
    const char *const keys[1] = {"N"};
    const int64_t sizes[1] = {1};
    options.shape_symbols = keys;
    options.shape_sizes = sizes;
    options.shape_count = 1;
    by_input_close(input);
    assert_ok(by_input_open(&input, "all.npy", &open_port, 1, &options, &err));
    assert_int_equal(by_input_count(input), 2);
}

static void test_added_batch(void **state)
{
    (void)state;
    const int64_t dims[1] = {3};
    save("row.npy", BY_ELEM_FLOAT, dims, 1, floats);
    open_one("row.npy");
    get(0);
    assert_int_equal(arrays[0].rank, 2);
    assert_int_equal(arrays[0].dims[0], 1);
    assert_int_equal(arrays[0].dims[1], 3);
}

static void test_folder(void **state)
{
    (void)state;
    assert_int_equal(mkdir("data", 0777), 0);
    save_floats("data/b.npy", 2);
    save_floats("data/a.npy", 1);
    save_floats("data/B.npy", 1);
    put_file("data/README", "text");
    put_file("data/.hidden.npy", "text");
    open_one("data");
    assert_int_equal(by_input_count(input), 4);
    const char *const wanted[4] = {"B", "a", "b-0", "b-1"};
    for (size_t i = 0; i < 4; i++) {
        get(i);
        assert_string_equal(name, wanted[i]);
    }
    assert_string_equal(notices,
                        "data: files skipped that are not samples: 1 (the first is 'README')\n");
}

static void test_folder_refused(void **state)
{
    (void)state;
    assert_int_equal(mkdir("data", 0777), 0);
    assert_error(first_sample("data", &one_port, 1), BARYON_ERR_INPUT,
                 "data: the folder contains no files; samples must be .npy, .npz, .jpg, .jpeg, "
                 ".png or .raw files; list files of subfolders in a .txt file");
    put_file("data/notes.md", "text");
    assert_error(
        first_sample("data", &one_port, 1), BARYON_ERR_INPUT,
        "data: the folder contains no samples, only other files (1); samples must be .npy, .npz, "
        ".jpg, .jpeg, .png or .raw files; list files of subfolders in a .txt file");
    save_floats("data/a.npy", 1);
    put_file("data/b.PNG", "text");
    assert_error(first_sample("data", &one_port, 1), BARYON_ERR_INPUT,
                 "data: the folder mixes kinds of files: 'a.npy' is npy, 'b.PNG' is image; use one "
                 "kind per folder, or give a .txt list of paths");
    assert_error(first_sample("nothing", &one_port, 1), BARYON_ERR_INPUT,
                 "nothing: the samples cannot be read: No such file or directory");
}

static void test_list(void **state)
{
    (void)state;
    assert_int_equal(mkdir("data", 0777), 0);
    save_floats("data/a.npy", 1);
    save_floats("b.npy", 2);
    char text[300];
    snprintf(text, sizeof text, "# samples\n\n../b.npy\r\na.npy\n%s/b.npy", scratch_path);
    put_file("data/list.txt", text);
    open_one("data/list.txt");
    assert_int_equal(by_input_count(input), 5);
    get(2);
    assert_string_equal(name, "a");
    get(4);
    assert_string_equal(name, "b-1");
    put_file("data/list.txt", "# nothing\n");
    assert_error(first_sample("data/list.txt", &one_port, 1), BARYON_ERR_INPUT,
                 "data/list.txt: the list contains no file");
    put_file("data/list.txt", "gone.npy\n");
    assert_int_equal(first_sample("data/list.txt", &one_port, 1), -1);
    assert_non_null(strstr(error_text(), "data/gone.npy: "));
    char *line = malloc(5000);
    memset(line, 'x', 4999);
    line[4999] = '\0';
    put_file("long.txt", line);
    assert_error(first_sample("long.txt", &one_port, 1), BARYON_ERR_INPUT,
                 "long.txt@0: line 1: a path of 4999 bytes, must be at most 4096");
    free(line);
}

static void test_groups(void **state)
{
    (void)state;
    const int64_t dims[2] = {2, 3}, numbers[6] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(mkdir("data", 0777) | mkdir("data/x", 0777) | mkdir("data/y", 0777), 0);
    save_floats("data/x/1.npy", 1);
    save_floats("data/x/2.npy", 2);
    save("data/y/2.npy", BY_ELEM_INT64, dims, 2, numbers);
    assert_error(first_sample("data", pair, 2), BARYON_ERR_INPUT,
                 "data/x/1.npy: the folder of input 1 has no file for this sample");
    save("data/y/1.npy", BY_ELEM_INT64, dims, 2, numbers);
    assert_ok(by_input_open(&input, "data", pair, 2, &options, &err));
    assert_int_equal(by_input_count(input), 3);
    get(2);
    assert_string_equal(name, "2-1");
    assert_memory_equal(arrays[0].data, floats + 3, 12);
    assert_memory_equal(arrays[1].data, numbers, sizeof numbers);
    save("data/y/3.npy", BY_ELEM_INT64, dims, 2, numbers);
    assert_error(
        first_sample("data", pair, 2), BARYON_ERR_INPUT,
        "data/y/3.npy: the first input has no file '3', every sample requires one file per input");
    assert_int_equal(system("rm -r data/y"), 0);
    assert_error(first_sample("data", pair, 2), BARYON_ERR_INPUT,
                 "data: 1 inputs have a subfolder, but input 'y' has none (y)");
}

static void save_zip(const char *path, const struct zip_member *members, size_t count)
{
    static struct zip_file zip;
    zip_make(&zip, members, count);
    FILE *out = fopen(path, "wb");
    assert_int_equal(fwrite(zip.bytes, 1, zip.size, out), zip.size);
    assert_int_equal(fclose(out), 0);
}

/* The bytes of a .npy, in a static buffer. */
static struct zip_member npy_member(const char *member, int64_t elem, const int64_t *dims,
                                    size_t rank, const void *data, size_t size, uint8_t *room)
{
    const size_t header = by_npy_header_write((char *)room, 512, elem, dims, rank);
    memcpy(room + header, data, size);
    return zip_stored(member, room, header + size);
}

static void test_npz(void **state)
{
    (void)state;
    static uint8_t room[3][1024], packed[1024];
    const int64_t one[2] = {1, 3}, two[2] = {2, 3}, numbers[6] = {1, 2, 3, 4, 5, 6};
    struct zip_member members[3] = {
        npy_member("x.npy", BY_ELEM_FLOAT, one, 2, floats, 12, room[0]),
        npy_member("other.npy", BY_ELEM_FLOAT, one, 2, floats, 12, room[1]),
        npy_member("y.npy", BY_ELEM_INT64, two, 2, numbers, 48, room[2]),
    };
    members[2] = zip_deflated("y.npy", room[2], members[2].size, packed, sizeof packed);
    save_zip("s.npz", members, 3);
    assert_ok(by_input_open(&input, "s.npz", pair, 2, &options, &err));
    assert_int_equal(by_input_count(input), 1);
    get(0);
    assert_memory_equal(arrays[0].data, floats, 12);
    assert_memory_equal(arrays[1].data, numbers, 48);
    assert_string_equal(notices, "s.npz: arrays that are not inputs of the model are ignored\n");
    save_zip("s.npz", members, 2);
    assert_error(first_sample("s.npz", pair, 2), BARYON_ERR_INPUT,
                 "s.npz: no array for the model input 'y'; the file has 'x', 'other'");
    assert_error(first_sample("s.npz", pair + 1, 1), BARYON_ERR_INPUT,
                 "s.npz: no array for the model input 'y'; the file has 'x', 'other'");
    save_zip("s.npz", members + 1, 1);
    notices[0] = '\0';
    assert_ok(first_sample("s.npz", &one_port, 1));
    assert_string_equal(
        notices,
        "s.npz: its only array is used for the model's only input, although the names differ\n");
    save_floats("s.npy", 1);
    assert_error(first_sample("s.npy", pair, 2), BARYON_ERR_INPUT,
                 "s.npy: the file contains one array, the model has 2 inputs; give a .npz with the "
                 "names of the inputs, or a folder with one subfolder per input");
}

static void test_npz_frames(void **state)
{
    (void)state;
    static uint8_t room[2][1024];
    const int64_t two[2] = {2, 3}, three[2] = {3, 3}, numbers[9] = {0};
    struct by_port ports[2] = {one_port, one_port};
    ports[1].name = "y";
    ports[1].elem = BY_ELEM_INT64;
    const struct zip_member members[2] = {
        npy_member("x.npy", BY_ELEM_FLOAT, two, 2, floats, 24, room[0]),
        npy_member("y.npy", BY_ELEM_INT64, three, 2, numbers, 72, room[1]),
    };
    save_zip("s.npz", members, 2);
    assert_error(first_sample("s.npz", ports, 2), BARYON_ERR_INPUT,
                 "s.npz: input 'x' has 2 samples, input 'y' has 3");
}

static void test_groups_refused(void **state)
{
    (void)state;
    const int64_t dims[2] = {1, 3}, numbers[3] = {0};
    pair[1].name = "ids/y:0";
    assert_int_equal(system("mkdir -p data/x data/ids_y_0"), 0);
    save_floats("data/x/a.npy", 1);
    save("data/ids_y_0/a.npy", BY_ELEM_INT64, dims, 2, numbers);
    assert_ok(first_sample("data", pair, 2));
    assert_string_equal(arrays[1].name, "ids/y:0");
    save("data/ids_y_0/a.NPY", BY_ELEM_INT64, dims, 2, numbers);
    assert_error(first_sample("data", pair, 2), BARYON_ERR_INPUT,
                 "data/ids_y_0/a.npy: two files of one input are named 'a'");
    save_floats("data/x/a.NPY", 1);
    assert_error(first_sample("data", pair, 2), BARYON_ERR_INPUT,
                 "data/x/a.npy: two files of one input have the same name");
    pair[1].name = "..";
    assert_error(first_sample("data", pair, 2), BARYON_ERR_INPUT,
                 "data: 1 inputs have a subfolder, but input '..' has none (_)");
}

static void test_npz_members(void **state)
{
    (void)state;
    static uint8_t room[1024];
    const int64_t one[2] = {1, 3};
    struct zip_member member = npy_member("x.npy", BY_ELEM_FLOAT, one, 2, floats, 12, room);
    member.crc ^= 1;
    save_zip("s.npz", &member, 1);
    assert_int_equal(first_sample("s.npz", &one_port, 1), -1);
    assert_non_null(strstr(error_text(), ": member 'x': the checksum (CRC-32) of the bytes is"));
    member = npy_member("x.npy", BY_ELEM_FLOAT, one, 2, floats, 16, room);
    save_zip("s.npz", &member, 1);
    assert_error(first_sample("s.npz", &one_port, 1), BARYON_ERR_INPUT,
                 "s.npz: member 'x': 16 bytes after the header, but shape and type (3 x float32) "
                 "require 12");
    member = zip_stored("x.npy", "\x93NUMPY\1\0\2\0{ ", 12);
    save_zip("s.npz", &member, 1);
    assert_error(first_sample("s.npz", &one_port, 1), BARYON_ERR_INPUT,
                 "s.npz@47: member 'x': expected a quoted text, not ''");
    member = zip_stored("x.txt", "text", 4);
    save_zip("s.npz", &member, 1);
    assert_error(first_sample("s.npz", &one_port, 1), BARYON_ERR_INPUT,
                 "s.npz: no array for the model input 'x'; the file has none");
}

static void test_mismatch(void **state)
{
    (void)state;
    const int64_t wide[2] = {1, 4}, deep[3] = {1, 1, 3}, plain[2] = {1, 3}, none[2] = {0, 3};
    const uint8_t zeros[32] = {0};
    save("a.npy", BY_ELEM_FLOAT, wide, 2, zeros);
    assert_error(first_sample("a.npy", &one_port, 1), BARYON_ERR_INPUT,
                 "a.npy: input 'x': the file has float32 [1,4], the model input is float32 [1,3]");
    save("a.npy", BY_ELEM_FLOAT, deep, 3, zeros);
    assert_error(first_sample("a.npy", &open_port, 1), BARYON_ERR_INPUT,
                 "a.npy: input 'x': the file has float32 [1,1,3], the model input is float32 "
                 "[N,3]: the ranks differ");
    save("a.npy", BY_ELEM_FLOAT, none, 2, zeros);
    assert_error(first_sample("a.npy", &one_port, 1), BARYON_ERR_INPUT,
                 "a.npy: input 'x': the file has float32 [0,3], the model input is float32 [1,3]");
    save("a.npy", BY_ELEM_UINT8, plain, 2, zeros);
    assert_error(first_sample("a.npy", &one_port, 1), BARYON_ERR_INPUT,
                 "a.npy: input 'x': the file has uint8 [1,3], the model input is float32 [1,3]; "
                 "prepare pictures as floats first, or give image files");
    save("a.npy", BY_ELEM_COMPLEX64, plain, 2, zeros);
    assert_error(
        first_sample("a.npy", &one_port, 1), BARYON_ERR_INPUT,
        "a.npy: input 'x': the file has complex64 [1,3], the model input is float32 [1,3]; floats "
        "convert only to floats, integers and bool only to integers and bool");
}

static void test_conversion(void **state)
{
    (void)state;
    const int64_t dims[2] = {1, 3};
    const double doubles[3] = {0.1, -2.5, 1e-300}, large[3] = {0, 0, 1e39};
    save("a.npy", BY_ELEM_DOUBLE, dims, 2, doubles);
    open_one("a.npy");
    get(0);
    get(0);
    const float *out = arrays[0].data;
    assert_true(out[0] == 0.1f && out[1] == -2.5f && out[2] == 0.0f);
    assert_string_equal(notices, "input 'x': float64 values are converted to float32\n");
    save("a.npy", BY_ELEM_DOUBLE, dims, 2, large);
    assert_error(first_sample("a.npy", &one_port, 1), BARYON_ERR_INPUT,
                 "a.npy: input 'x': value 1e+39 at [0,2] is out of range for float32");
    one_port.elem = BY_ELEM_INT32;
    const int64_t wide[3] = {-5, 1, (int64_t)1 << 31};
    save("a.npy", BY_ELEM_INT64, dims, 2, wide);
    assert_error(first_sample("a.npy", &one_port, 1), BARYON_ERR_INPUT,
                 "a.npy: input 'x': value 2147483648 at [0,2] is out of range for int32");
    save("a.npy", BY_ELEM_UINT64, dims, 2, wide);
    assert_error(first_sample("a.npy", &one_port, 1), BARYON_ERR_INPUT,
                 "a.npy: input 'x': value 18446744073709551611 at [0,0] is out of range for int32");
    one_port.elem = BY_ELEM_BOOL;
    save("a.npy", BY_ELEM_BOOL, dims, 2, "\0\7\1");
    assert_ok(first_sample("a.npy", &one_port, 1));
    assert_memory_equal(arrays[0].data, "\0\1\1", 3);
}

static void test_order(void **state)
{
    (void)state;
    one_port.elem = BY_ELEM_INT16;
    static const char text[] = "\x93NUMPY\1\0\x35\0{'descr':'>i2','fortran_order':True,'shape':"
                               "(2,3)}  \n\0\1\0\2\0\3\0\4\0\5\0\6";
    FILE *out = fopen("a.npy", "wb");
    fwrite(text, 1, sizeof text - 1, out);
    fclose(out);
    open_one("a.npy");
    assert_int_equal(by_input_count(input), 2);
    get(1);
    const int16_t wanted[3] = {2, 4, 6};
    assert_memory_equal(arrays[0].data, wanted, sizeof wanted);
    assert_string_equal(notices, "a.npy: big-endian values are converted\n"
                                 "a.npy: Fortran order is converted to C order\n");
}

static void test_nonfinite(void **state)
{
    (void)state;
    const int64_t dims[2] = {2, 3};
    const float bad[6] = {0, 1, 2, 3, __builtin_nanf(""), __builtin_inff()};
    save("a.npy", BY_ELEM_FLOAT, dims, 2, bad);
    open_one("a.npy");
    get(0);
    assert_error(by_input_get(input, 1, &arrays, &name, &err), BARYON_ERR_INPUT,
                 "a.npy: sample 1, input 'x': value NaN at [0,1], must be finite");
    assert_error(first_sample("a.npy", &open_port, 1), BARYON_ERR_INPUT,
                 "a.npy: input 'x': value NaN at [1,1], must be finite");
    options.allow_nonfinite = true;
    assert_ok(first_sample("a.npy", &open_port, 1));
}

static void test_skip_bad(void **state)
{
    (void)state;
    assert_int_equal(mkdir("data", 0777), 0);
    save_floats("data/a.npy", 1);
    put_file("data/b.npy", "no array");
    save_floats("data/c.npy", 1);
    put_file("data/d.npy", "");
    options.skip_bad = 0.25;
    open_one("data");
    assert_int_equal(by_input_count(input), 4);
    for (int pass = 0; pass < 2; pass++) {
        assert_ok(by_input_get(input, 1, &arrays, &name, &err));
        assert_null(arrays);
        get(2);
    }
    assert_int_equal(by_input_skipped(input), 1);
    assert_string_equal(notices, "warning: skipped: data/b.npy@0: not a .npy file: it begins with "
                                 "'no arr', must begin with '\\x93NUMPY'\n");
    assert_error(
        by_input_get(input, 3, &arrays, &name, &err), BARYON_ERR_INPUT,
        "data/d.npy: the file is empty; bad samples skipped so far: 1, --skip-bad allows no more");
    struct by_sample sample;
    by_sample_init(&sample);
    assert_ok(by_input_get_into(input, 1, &sample, &err));
    assert_string_equal(sample.name, "b");
    assert_string_equal(sample.reason,
                        "not a .npy file: it begins with 'no arr', must begin with '\\x93NUMPY'");
    assert_ok(by_input_get_into(input, 0, &sample, &err));
    assert_string_equal(sample.reason, "");
    by_sample_release(&sample);
}

static struct by_hash128 identity(const char *path)
{
    struct by_hasher *hasher;
    by_input_close(input);
    assert_ok(by_input_open(&input, path, &open_port, 1, &options, &err));
    assert_ok(by_hasher_open(&hasher, &err));
    assert_ok(by_input_identify(input, hasher, &err));
    const struct by_hash128 hash = by_hasher_value(hasher);
    by_hasher_close(hasher);
    return hash;
}

#define assert_same(one, two)  assert_true(by_hash128_equal((one), (two)))
#define assert_other(one, two) assert_false(by_hash128_equal((one), (two)))

static void test_identify(void **state)
{
    (void)state;
    assert_int_equal(mkdir("data", 0755) | mkdir("copy", 0755), 0);
    save_floats("data/a.npy", 1);
    save_floats("data/b.npy", 2);
    save_floats("copy/a.npy", 1);
    save_floats("copy/b.npy", 2);
    const struct by_hash128 whole = identity("data");
    assert_same(identity("copy"), whole);
    assert_int_equal(rename("copy/b.npy", "copy/c.npy"), 0);
    assert_other(identity("copy"), whole);
    save_floats("data/b.npy", 1);
    assert_other(identity("data"), whole);
    save_floats("data/b.npy", 2);
    assert_same(identity("data"), whole);
    options.skip_bad = 0.5;
    assert_same(identity("data"), whole);
    options.prep.pad = 114;
    assert_other(identity("data"), whole);
    options.prep.pad = 0;
    options.count = 1;
    const struct by_hash128 first = identity("data");
    assert_other(first, whole);
    save_floats("data/b.npy", 1);
    assert_same(identity("data"), first);
}

static void test_identify_random(void **state)
{
    (void)state;
    const int64_t size = 2;
    const char *symbol = "N";
    options = (struct by_input_options){.random = true,
                                        .count = 3,
                                        .shape_sizes = &size,
                                        .shape_symbols = &symbol,
                                        .shape_count = 1};
    const struct by_hash128 hash = identity(NULL);
    assert_same(identity(NULL), hash);
    options.seed = 1;
    assert_other(identity(NULL), hash);
    options.seed = 0;
    options.count = 4;
    assert_other(identity(NULL), hash);
    options.count = 3;
    options.shape_sizes = &(const int64_t){3};
    assert_other(identity(NULL), hash);
}

static void test_count(void **state)
{
    (void)state;
    save_floats("a.npy", 2);
    options.count = 1;
    open_one("a.npy");
    assert_int_equal(by_input_count(input), 1);
    assert_string_equal(notices, "");
    by_input_close(input);
    options.count = 5;
    open_one("a.npy");
    assert_int_equal(by_input_count(input), 2);
    assert_string_equal(notices, "warning: a.npy: 2 samples, fewer than the requested 5\n");
}

static void test_unknown(void **state)
{
    (void)state;
    put_file("a.dat", "whatever");
    assert_error(first_sample("a.dat", &one_port, 1), BARYON_ERR_INPUT,
                 "a.dat: not a sample of a known kind: it begins with 'whatever'; samples must be "
                 ".npy, .npz, .jpg, .jpeg, .png or .raw files");
    save_floats("b.dat", 1);
    assert_ok(first_sample("b.dat", &one_port, 1));
    put_file("c.npy", "");
    assert_error(first_sample("c.npy", &one_port, 1), BARYON_ERR_INPUT, "c.npy: the file is empty");
}

static void test_raw(void **state)
{
    (void)state;
    FILE *out = fopen("a.raw", "wb");
    fwrite(floats, 1, 24, out);
    fclose(out);
    open_one("a.raw");
    assert_int_equal(by_input_count(input), 2);
    get(1);
    assert_memory_equal(arrays[0].data, floats + 3, 12);
    assert_error(first_sample("a.raw", &open_port, 1), BARYON_ERR_USAGE,
                 "input 'x': the input is float32 [N,3], a .raw file does not contain its sizes; "
                 "give the sizes with --shape NAME=SIZE");
    put_file("b.raw", "12345");
    assert_error(first_sample("b.raw", &one_port, 1), BARYON_ERR_INPUT,
                 "b.raw: 5 bytes, but float32 [1,3] requires 12 or a multiple of it");
    assert_error(first_sample("b.raw", pair, 2), BARYON_ERR_USAGE,
                 "a .raw file contains one input, the model has 2; give a folder with one "
                 "subfolder per input");
}

static const int64_t picture_dims[4] = {1, 3, 2, 2};

static void test_pictures(void **state)
{
    (void)state;
    static struct png_file png;
    struct by_port port = {.name = "x", .elem = BY_ELEM_FLOAT, .rank = 4, .dims = picture_dims};
    char text[200];
    png_header(&png, 2, 2, 8, 6);
    png_chunk(&png, "iCCP", "profile", 7);
    png_data(&png, "\0\377\0\0\1\377\0\0\1\0\377\0\0\1\377\0\0\1", 18);
    png_chunk(&png, "IEND", NULL, 0);
    FILE *out = fopen("a.png", "wb");
    fwrite(png.bytes, 1, png.size, out);
    fclose(out);
    assert_int_equal(system("mkdir data; cp a.png data/a.png; cp a.png data/b.png"), 0);
    assert_ok(by_input_open(&input, "data", &port, 1, &options, &err));
    assert_int_equal(by_input_count(input), 2);
    for (size_t i = 0; i < 2; i++) {
        get(i);
        const float wanted[12] = {1, 1, 1, 1};
        assert_int_equal(arrays[0].size, sizeof wanted);
        assert_memory_equal(arrays[0].data, wanted, sizeof wanted);
    }
    assert_string_equal(notices, "data/a.png: colour profiles (ICC) are not applied\n"
                                 "data/a.png: alpha is dropped, not blended\n");
    by_input_describe(input, text, sizeof text);
    assert_string_equal(text,
                        "image: rgb, stretched to 2x2 (pil-nearest), float32 = x / 255, nchw");
    assert_error(first_sample("a.png", pair, 2), BARYON_ERR_USAGE,
                 "a picture contains one input, the model has 2; give a folder with one subfolder "
                 "per input");
    options.prep.std_count = 1;
    assert_error(first_sample("a.png", &port, 1), BARYON_ERR_USAGE, "std 0, must not be 0");
}

static void test_shapes(void **state)
{
    (void)state;
    save_floats("a.npy", 1);
    const char *const wrong[1] = {"M"};
    const int64_t sizes[1] = {2};
    options.shape_symbols = wrong;
    options.shape_sizes = sizes;
    options.shape_count = 1;
    assert_error(
        first_sample("a.npy", &open_port, 1), BARYON_ERR_USAGE,
        "the inputs of the model have no symbolic dimension 'M'; symbolic dimensions are 'N'");
    assert_error(
        first_sample("a.npy", &one_port, 1), BARYON_ERR_USAGE,
        "the inputs of the model have no symbolic dimension 'M'; all dimensions are fixed");
    const char *const axis[1] = {"x:0"};
    options.shape_symbols = axis;
    assert_error(first_sample("a.npy", &open_port, 1), BARYON_ERR_INPUT,
                 "a.npy: 1 samples, must be at least the model's batch of 2");
    assert_error(first_sample("a.npy", &one_port, 1), BARYON_ERR_USAGE,
                 "'x:0' cannot be 2, the model fixes it to 1");
}

static void test_ports_refused(void **state)
{
    (void)state;
    struct by_port port = one_port;
    assert_error(first_sample("a.npy", NULL, 0), BARYON_ERR_INPUT,
                 "the model has no inputs that take samples");
    assert_error(first_sample(NULL, &port, 1), BARYON_ERR_USAGE,
                 "no samples: give a path or random samples");
    port.elem = 0;
    port.kind = "sequence";
    assert_error(first_sample("a.npy", &port, 1), BARYON_ERR_UNSUPPORTED,
                 "input 'x': the input is a sequence, must be a tensor");
    port.elem = BY_ELEM_STRING;
    assert_error(first_sample("a.npy", &port, 1), BARYON_ERR_UNSUPPORTED,
                 "input 'x': the input takes strings, must be numeric");
    port.elem = BY_ELEM_FLOAT;
    port.rank = 17;
    assert_error(first_sample("a.npy", &port, 1), BARYON_ERR_UNSUPPORTED,
                 "input 'x': the input has rank 17, must be at most 16");
}

static void test_readers(void **state)
{
    (void)state;
    size_t count;
    const struct by_reader *const *readers = by_readers(&count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_true(readers[i]->name[0] && readers[i]->help[0] && readers[i]->suffixes[0] == '.');
        assert_true(readers[i]->untrusted_ok);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(readers[i]->name, readers[j]->name);
    }
    assert_ptr_equal(by_reader_by_name("a/b.JPEG"), &by_read_image);
    assert_null(by_reader_by_name("a/b.jpegs"));
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_file),
        TEST(test_file_that_shrinks),
        TEST(test_stacked),
        TEST(test_added_batch),
        TEST(test_folder),
        TEST(test_folder_refused),
        TEST(test_list),
        TEST(test_groups),
        TEST(test_groups_refused),
        TEST(test_npz_members),
        TEST(test_npz),
        TEST(test_npz_frames),
        TEST(test_mismatch),
        TEST(test_conversion),
        TEST(test_order),
        TEST(test_nonfinite),
        TEST(test_skip_bad),
        TEST(test_count),
        TEST(test_identify),
        TEST(test_identify_random),
        TEST(test_unknown),
        TEST(test_raw),
        TEST(test_pictures),
        TEST(test_shapes),
        TEST(test_ports_refused),
        TEST(test_readers),
    };
    return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
