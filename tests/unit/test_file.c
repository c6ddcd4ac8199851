/* Tests reading and mapping files, and paths that must stay inside a folder. */
#include "base/file.h"

#include "base/file_kind.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cmocka.h>

#include "scratch.h"

static void files_are_mapped(void **state)
{
    (void)state;
    struct by_mapped mapped;
    put_file("a", "hello");
    put_file("empty", "");
    assert_ok(by_mapped_open(&mapped, "a", &err));
    assert_int_equal(mapped.size, 5);
    assert_memory_equal(mapped.bytes, "hello", 5);
    assert_string_equal(mapped.path, "a");
    assert_ok(by_mapped_check(&mapped, &err));
    by_mapped_close(&mapped);
    by_mapped_close(&mapped);
    assert_ok(by_mapped_open(&mapped, "empty", &err));
    assert_int_equal(mapped.size, 0);
    assert_non_null(mapped.bytes);
    by_mapped_close(&mapped);
    int fd = open("a", O_RDONLY);
    assert_ok(by_mapped_open_fd(&mapped, fd, "named so", &err));
    assert_int_equal(mapped.fd, fd);
    assert_string_equal(mapped.path, "named so");
    by_mapped_close(&mapped);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
}

static void make_socket(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

static void only_regular_files_are_mapped(void **state)
{
    (void)state;
    struct by_mapped mapped;
    assert_int_equal(mkfifo("fifo", 0600), 0);
    make_socket("socket");
    assert_error(by_mapped_open(&mapped, ".", &err), BARYON_ERR_INPUT,
                 ".: is a directory, must be a regular file");
    assert_error(by_mapped_open(&mapped, "fifo", &err), BARYON_ERR_INPUT,
                 "fifo: is a FIFO, must be a regular file");
    assert_error(by_mapped_open(&mapped, "socket", &err), BARYON_ERR_INPUT,
                 "socket: is a socket, must be a regular file");
    assert_error(by_mapped_open(&mapped, "/dev/null", &err), BARYON_ERR_INPUT,
                 "/dev/null: is a character device, must be a regular file");
    assert_error(by_mapped_open(&mapped, "none", &err), BARYON_ERR_INPUT,
                 "none: cannot be opened: No such file or directory");
    assert_error(by_mapped_open(&mapped, "none/none", &err), BARYON_ERR_INPUT,
                 "none/none: cannot be opened: No such file or directory");
    assert_error(by_mapped_open_fd(&mapped, open("/dev/null", O_RDONLY), "x", &err),
                 BARYON_ERR_INPUT, "x: is a character device, must be a regular file");
    assert_error(by_mapped_open_fd(&mapped, -1, "x", &err), BARYON_ERR_IO,
                 "x: cannot be examined: Bad file descriptor");
    by_mapped_close(&mapped);
}

static void unreadable_files_are_refused(void **state)
{
    (void)state;
    struct by_mapped mapped;
    put_file("secret", "x");
    assert_int_equal(chmod("secret", 0), 0);
    bool root = geteuid() == 0; /* who reads everything, so be somebody else */
    assert_int_equal(chmod(".", 0755), 0);
    assert_int_equal(root ? seteuid(65534) : 0, 0);
    int status = by_mapped_open(&mapped, "secret", &err);
    assert_int_equal(root ? seteuid(0) : 0, 0);
    assert_int_equal(status, -1);
    assert_string_equal(error_text(), "secret: cannot be opened: Permission denied");
    assert_int_equal(err.code, BARYON_ERR_INPUT);
}

static void changes_are_noticed(void **state)
{
    (void)state;
    struct by_mapped mapped;
    put_file("a", "hello");
    assert_ok(by_mapped_open(&mapped, "a", &err));
    assert_int_equal(truncate("a", 3), 0);
    assert_error(by_mapped_check(&mapped, &err), BARYON_ERR_CHANGED,
                 "a: changed while it was in use (size 3, was 5); run again when no other "
                 "program writes to it");
    by_mapped_close(&mapped);
    put_file("a", "hello");
    assert_ok(by_mapped_open(&mapped, "a", &err));
    struct timespec times[2] = {{1, 1}, {1, 1}};
    assert_int_equal(utimensat(AT_FDCWD, "a", times, 0), 0);
    assert_error(by_mapped_check(&mapped, &err), BARYON_ERR_CHANGED,
                 "a: changed while it was in use (written to); run again when no other program "
                 "writes to it");
    by_mapped_close(&mapped);
}

/* Its bytes stay; a mapping would end the program with SIGBUS when they are looked at. */
static void a_copy_outlives_what_happens_to_the_file(void **state)
{
    (void)state;
    struct by_mapped mapped;
    put_file("a", "hello");
    assert_ok(by_mapped_read(&mapped, "a", 5, &err));
    assert_true(mapped.is_copy);
    assert_int_equal((uintptr_t)mapped.bytes % 4096, 0);
    assert_ok(by_mapped_check(&mapped, &err));
    assert_int_equal(truncate("a", 0), 0);
    by_mapped_done(&mapped, 0, 5);
    assert_memory_equal(mapped.bytes, "hello", 5);
    assert_error(by_mapped_check(&mapped, &err), BARYON_ERR_CHANGED,
                 "a: changed while it was in use (size 0, was 5); run again when no other "
                 "program writes to it");
    by_mapped_close(&mapped);
    assert_ok(by_mapped_read(&mapped, "a", 5, &err));
    assert_int_equal(mapped.size, 0);
    by_mapped_close(&mapped);
    put_file("a", "hello");
    assert_ok(by_mapped_read(&mapped, "a", 4, &err));
    assert_false(mapped.is_copy);
    by_mapped_close(&mapped);
    assert_error(by_mapped_read(&mapped, "none", 4, &err), BARYON_ERR_INPUT,
                 "none: cannot be opened: No such file or directory");
}

static void small_files_are_read_whole(void **state)
{
    (void)state;
    char *bytes;
    size_t size;
    put_file("a", "12345");
    assert_ok(by_read_file("a", 5, &bytes, &size, &err));
    assert_int_equal(size, 5);
    assert_string_equal(bytes, "12345");
    by_free(bytes);
    assert_error(by_read_file("a", 4, &bytes, &size, &err), BARYON_ERR_INPUT,
                 "a: is larger than 4 bytes, the limit for a file of this kind");
    assert_error(by_read_file(".", 4, &bytes, &size, &err), BARYON_ERR_INPUT,
                 ".: is a directory, must be a regular file");
    /* Files of the system say they are empty. */
    assert_ok(by_read_file("/proc/self/status", SIZE_MAX, &bytes, &size, &err));
    assert_true(size > 100 && bytes[size] == '\0' && strlen(bytes) == size);
    by_free(bytes);
    assert_error(by_read_file("/proc/self/status", 50, &bytes, &size, &err), BARYON_ERR_INPUT,
                 "/proc/self/status: is larger than 50 bytes, the limit for a file of this kind");
}

#define HINT "; use a path relative to the folder of the model"

static void bytes_stand_at_a_place(void **state)
{
    (void)state;
    char bytes[4] = "";
    put_file("a", "01234567");
    const int fd = open("a", O_RDWR);
    assert_int_equal(by_write_at(fd, "xyz", 3, 7), 0);
    assert_int_equal(by_read_at(fd, bytes, 4, 6), 0);
    assert_memory_equal(bytes, "6xyz", 4);
    assert_int_equal(by_read_at(fd, bytes, 0, 100), 0);
    errno = 0;
    assert_int_equal(by_read_at(fd, bytes, 4, 7), -1);
    assert_int_equal(errno, EIO);
    close(fd);
    assert_int_equal(by_write_at(fd, "x", 1, 0), -1);
    assert_int_equal(errno, EBADF);
    assert_file("a", "0123456xyz");
}

static void locations_are_plain_relative_paths(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *wanted; /* NULL: fine */
    } rows[] = {
        {"a", 1, NULL},
        {"weights/a.bin", 13, NULL},
        {"..a/b..", 7, NULL},
        {"...", 3, NULL},
        {"a:b", 3, NULL},
        {"", 0, "location '' is empty, must name a file" HINT},
        {"a\0b", 3, "location 'a\\x00b' contains a NUL byte, must be a path" HINT},
        {"/etc/passwd", 11,
         "location '/etc/passwd' is an absolute path, must be relative to the folder of the "
         "model" HINT},
        {"C:/a", 4,
         "location 'C:/a' is an absolute path, must be relative to the folder of the model" HINT},
        {"..", 2, "location '..' has a part '..', must stay in the folder of the model" HINT},
        {"../a", 4, "location '../a' has a part '..', must stay in the folder of the model" HINT},
        {"a/../../x", 9,
         "location 'a/../../x' has a part '..', must stay in the folder of the model" HINT},
        {"a/..", 4, "location 'a/..' has a part '..', must stay in the folder of the model" HINT},
        {".//..", 5, "location './/..' has a part '.', must be plain names joined by '/'" HINT},
        {"./a", 3, "location './a' has a part '.', must be plain names joined by '/'" HINT},
        {"a//b", 4, "location 'a//b' has an empty part, must be parts joined by single '/'" HINT},
        {"a/", 2, "location 'a/' has an empty part, must be parts joined by single '/'" HINT},
        {"..\\a", 4, "location '..\\a' contains a backslash, must be parts joined by '/'" HINT},
        {"*/_ORT_MEM_ADDR_/*", 18,
         "location '*/_ORT_MEM_ADDR_/*' refers to the memory of another program, must name a "
         "file" HINT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].wanted)
            assert_error(by_location_check(rows[i].text, rows[i].size, &err), BARYON_ERR_INPUT,
                         rows[i].wanted);
        else
            assert_ok(by_location_check(rows[i].text, rows[i].size, &err));
    }
    static char text[4096];
    memset(text, 'a', sizeof text);
    assert_ok(by_location_check(text, 4095, &err));
    assert_int_equal(by_location_check(text, 4096, &err), -1);
}

static void make_tree(void)
{
    assert_ok(by_make_folders("m/sub", &err));
    put_file("outside", "secret");
    put_file("m/a", "data");
    put_file("m/sub/b", "data");
    put_file("m/twice", "data");
    assert_int_equal(link("m/twice", "m/other"), 0);
    assert_int_equal(symlink("a", "m/link"), 0);
    assert_int_equal(symlink("../outside", "m/out"), 0);
    assert_int_equal(symlink("sub", "m/sublink"), 0);
    assert_int_equal(symlink("loop", "m/loop"), 0);
    assert_int_equal(mkfifo("m/fifo", 0600), 0);
    make_socket("m/socket");
}

static void assert_opens(const char *location, bool allow_links)
{
    int fd = -1;
    char text[8];
    assert_ok(by_open_contained("m", location, allow_links, &fd, &err));
    assert_true(read(fd, text, sizeof text) >= 4);
    close(fd);
}

#define NO_LINK                                                                                    \
    "is reached through a symbolic link, links are not followed; follow links with --allow-links"

static void contained_files_are_opened(void **state)
{
    (void)state;
    int fd = -7;
    make_tree();
    assert_opens("a", false);
    assert_opens("sub/b", false);
    static const struct {
        const char *location, *wanted;
    } rows[] = {
        {"link", "location 'link' " NO_LINK},
        {"out", "location 'out' " NO_LINK},
        {"sublink/b", "location 'sublink/b' " NO_LINK},
        {"loop", "location 'loop' " NO_LINK},
        {"twice", "location 'twice' has 2 hard links, must have one; accept it with --allow-links"},
        {"fifo", "location 'fifo' is a FIFO, must be a regular file"},
        {"sub", "location 'sub' is a directory, must be a regular file"},
        {"socket", "location 'socket' is a socket or device, must be a regular file"},
        {"none", "location 'none': no such file in 'm'; put the data files beside the model"},
        {"sub/none",
         "location 'sub/none': no such file in 'm'; put the data files beside the model"},
        {"a/b", "location 'a/b' cannot be opened: Not a directory"},
        {"../outside",
         "location '../outside' has a part '..', must stay in the folder of the model" HINT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_error(by_open_contained("m", rows[i].location, false, &fd, &err), BARYON_ERR_INPUT,
                     rows[i].wanted);
    assert_int_equal(fd, -7);
    assert_error(by_open_contained("none", "a", false, &fd, &err), BARYON_ERR_IO,
                 "folder 'none' cannot be opened: No such file or directory");
}

static void links_can_be_allowed(void **state)
{
    (void)state;
    int fd;
    make_tree();
    assert_opens("a", true);
    assert_opens("link", true);
    assert_opens("out", true);
    assert_opens("sublink/b", true);
    assert_opens("twice", true);
    assert_error(by_open_contained("m", "fifo", true, &fd, &err), BARYON_ERR_INPUT,
                 "location 'fifo' is a FIFO, must be a regular file");
    assert_error(by_open_contained("m", "loop", true, &fd, &err), BARYON_ERR_INPUT,
                 "location 'loop' cannot be opened: Too many levels of symbolic links");
    assert_error(
        by_open_contained("m", "../outside", true, &fd, &err), BARYON_ERR_INPUT,
        "location '../outside' has a part '..', must stay in the folder of the model" HINT);
}

/* What older kernels get has to give the same answers. */
static void the_walk_follows_no_link(void **state)
{
    (void)state;
    make_tree();
    int folder = open("m", O_PATH | O_DIRECTORY);
    static const struct {
        const char *location;
        int code;
    } rows[] = {{"a", 0},         {"sub/b", 0},        {"link", ELOOP},     {"sublink/b", ELOOP},
                {"loop", ELOOP},  {"loop/x", ELOOP},   {"none", ENOENT},    {"none/x", ENOENT},
                {"a/b", ENOTDIR}, {"sub/sub", ENOENT}, {"sub/b/c", ENOTDIR}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        errno = 0;
        int fd = by_open_walk(folder, rows[i].location);
        assert_int_equal(fd < 0 ? errno : 0, rows[i].code);
        if (fd >= 0)
            close(fd);
    }
    close(folder);
    /* Nothing is left open on the way. */
    int next = open("m", O_PATH);
    assert_int_equal(next, folder);
    close(next);
}

static void folders_are_made(void **state)
{
    (void)state;
    struct stat st;
    assert_ok(by_make_folders("a/b/c", &err));
    assert_ok(by_make_folders("a/b/c/", &err));
    assert_ok(by_make_folders("a//b/d", &err));
    assert_int_equal(stat("a/b/d", &st), 0);
    put_file("a/file", "");
    assert_error(by_make_folders("a/file", &err), BARYON_ERR_IO,
                 "a/file: exists and is not a folder");
    assert_error(by_make_folders("a/file/x", &err), BARYON_ERR_IO,
                 "a/file: exists and is not a folder");
    assert_error(by_make_folders("", &err), BARYON_ERR_USAGE, "the folder's name is empty");
    assert_error(by_make_folders("/proc/none", &err), BARYON_ERR_IO,
                 "/proc/none: cannot be created: No such file or directory");
}

static void folders_are_listed_in_order(void **state)
{
    (void)state;
    struct by_listing listing;
    assert_ok(by_make_folders("d/folder", &err));
    assert_ok(by_list_folder(&listing, "d", &err));
    assert_int_equal(listing.count, 0);
    by_listing_release(&listing);
    put_file("d/b", "");
    put_file("d/B", "");
    put_file("d/\xc3\xa9", "");
    put_file("d/a10", "");
    put_file("d/a9", "");
    put_file("d/.hidden", "");
    assert_int_equal(symlink("b", "d/link"), 0);
    assert_int_equal(symlink("none", "d/broken"), 0);
    assert_int_equal(symlink("folder", "d/folderlink"), 0);
    assert_int_equal(mkfifo("d/fifo", 0600), 0);
    assert_ok(by_list_folder(&listing, "d", &err));
    static const char *const wanted[] = {"B", "a10", "a9", "b", "link", "\xc3\xa9"};
    assert_int_equal(listing.count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_string_equal(listing.names[i], wanted[i]);
    by_listing_release(&listing);
    assert_error(by_list_folder(&listing, "none", &err), BARYON_ERR_INPUT,
                 "none: cannot be listed: No such file or directory");
    assert_error(by_list_folder(&listing, "d/b", &err), BARYON_ERR_INPUT,
                 "d/b: cannot be listed: Not a directory");
}

static void paths_are_taken_apart(void **state)
{
    (void)state;
    static const struct {
        const char *path, *folder, *base;
    } rows[] = {{"a", ".", "a"}, {"a/b", "a", "b"},  {"/a", "/", "a"}, {"/a/b/c", "/a/b", "c"},
                {"a/", "a", ""}, {"a//b", "a", "b"}, {"", ".", ""},    {"//x", "/", "x"}};
    char folder[8];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(by_folder_of(rows[i].path, folder, sizeof folder));
        assert_string_equal(folder, rows[i].folder);
        assert_string_equal(by_basename(rows[i].path), rows[i].base);
    }
    assert_true(by_folder_of("1234567/x", folder, sizeof folder));
    assert_false(by_folder_of("12345678/x", folder, sizeof folder));
    assert_true(by_has_suffix("A.PNG", ".png"));
    assert_true(by_has_suffix("a.png", ".PNG"));
    assert_false(by_has_suffix("png", ".png"));
    assert_false(by_has_suffix("a.pn", ".png"));
}

static void the_same_file_is_known_by_any_name(void **state)
{
    (void)state;
    put_file("a", "");
    put_file("b", "");
    assert_int_equal(link("a", "hard"), 0);
    assert_int_equal(symlink("a", "soft"), 0);
    assert_true(by_same_file("a", "./a"));
    assert_true(by_same_file("a", "hard"));
    assert_true(by_same_file("soft", "a"));
    assert_false(by_same_file("a", "b"));
    assert_false(by_same_file("a", "none"));
    assert_false(by_same_file("none", "none"));
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(files_are_mapped),
        IN_SCRATCH(only_regular_files_are_mapped),
        IN_SCRATCH(unreadable_files_are_refused),
        IN_SCRATCH(changes_are_noticed),
        IN_SCRATCH(a_copy_outlives_what_happens_to_the_file),
        IN_SCRATCH(small_files_are_read_whole),
        IN_SCRATCH(bytes_stand_at_a_place),
        IN_SCRATCH(locations_are_plain_relative_paths),
        IN_SCRATCH(contained_files_are_opened),
        IN_SCRATCH(links_can_be_allowed),
        IN_SCRATCH(the_walk_follows_no_link),
        IN_SCRATCH(folders_are_made),
        IN_SCRATCH(folders_are_listed_in_order),
        IN_SCRATCH(paths_are_taken_apart),
        IN_SCRATCH(the_same_file_is_known_by_any_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
