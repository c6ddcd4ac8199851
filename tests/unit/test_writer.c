/* Tests that outputs appear whole or not at all, also after kills and failures. */
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "scratch.h"

static size_t count_files(const char *folder)
{
    DIR *open_folder = opendir(folder);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(open_folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(open_folder);
    return count;
}

static void outputs_appear_whole(void **state)
{
    (void)state;
    struct by_writer *writer;
    put_file("a", "old");
    assert_ok(by_writer_open(&writer, "a", 0, &err));
    assert_ok(by_writer_add(writer, "new ", 4, &err));
    assert_ok(by_writer_pad(writer, 8, &err));
    assert_ok(by_writer_pad(writer, 8, &err));
    assert_ok(by_writer_pad(writer, 0, &err));
    assert_ok(by_writer_add(writer, "text", 4, &err));
    assert_int_equal(by_writer_size(writer), 12);
    assert_file("a", "old");
    assert_int_equal(count_files("."), 2);
    assert_ok(by_writer_commit(writer, &err));
    assert_ok(by_writer_commit(writer, &err));
    assert_int_equal(count_files("."), 1);
    by_writer_abort(writer);
    char *bytes;
    size_t size;
    assert_ok(by_read_file("a", 100, &bytes, &size, &err));
    assert_int_equal(size, 12);
    assert_memory_equal(bytes, "new \0\0\0\0text", 12);
    by_free(bytes);
    by_writer_abort(NULL);
}

static void an_abandoned_output_leaves_nothing(void **state)
{
    (void)state;
    struct by_writer *writer;
    put_file("a", "old");
    assert_ok(by_writer_open(&writer, "a", 0, &err));
    assert_ok(by_writer_add(writer, "new", 3, &err));
    by_writer_abort(writer);
    assert_file("a", "old");
    assert_int_equal(count_files("."), 1);
}

static void a_probe_changes_nothing(void **state)
{
    (void)state;
    put_file("a", "old");
    assert_ok(by_writer_probe("a", 0, &err));
    assert_ok(by_writer_probe("b", 0, &err));
    assert_file("a", "old");
    assert_int_equal(count_files("."), 1);
    assert_error(by_writer_probe("none/a", 0, &err), BARYON_ERR_IO,
                 "none/a: folder 'none/' cannot be opened: No such file or directory");
}

static void a_synced_output_is_closed_to_more(void **state)
{
    (void)state;
    struct by_writer *writer;
    struct by_mapped mapped;
    put_file("b", "bytes");
    assert_ok(by_mapped_open(&mapped, "b", &err));
    assert_ok(by_writer_open(&writer, "a", 0, &err));
    assert_ok(by_writer_add(writer, "new", 3, &err));
    assert_ok(by_writer_sync(writer, &err));
    assert_int_equal(access("a", F_OK), -1);
    assert_int_equal(by_writer_add(writer, "x", 1, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INTERNAL);
    assert_int_equal(by_writer_add_mapped(writer, &mapped, 0, 5, &err), -1);
    assert_ok(by_writer_commit(writer, &err));
    by_writer_abort(writer);
    by_mapped_close(&mapped);
    assert_file("a", "new");
}

/* Every size around the buffer's, in pieces of every kind, against the same bytes in memory. */
static void any_pieces_give_the_same_bytes(void **state)
{
    (void)state;
    enum { SIZE = 3 << 20 };
    static const size_t pieces[] = {1, 4095, 65535, 65536, 262143, 262144, 262145, 1 << 20};
    uint8_t *bytes = by_alloc(SIZE, 1, &err);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    assert_ok(by_write_file("source", bytes, SIZE, BY_WRITER_NO_SYNC, &err));
    struct by_mapped source, copy;
    struct by_writer *writer;
    assert_ok(by_mapped_open(&source, "source", &err));
    assert_ok(by_writer_open(&writer, "copy", 0, &err));
    assert_ok(by_writer_reserve(writer, SIZE + 12345, &err));
    for (size_t at = 0, turn = 0; at < SIZE; turn++) {
        size_t step = pieces[turn / 2 % 8];
        step = step < SIZE - at ? step : SIZE - at;
        if (turn % 2)
            assert_ok(by_writer_add(writer, bytes + at, step, &err));
        else
            assert_ok(by_writer_add_mapped(writer, &source, at, step, &err));
        at += step;
        assert_int_equal(by_writer_size(writer), at);
    }
    assert_ok(by_writer_commit(writer, &err));
    by_writer_abort(writer);
    assert_ok(by_mapped_open(&copy, "copy", &err));
    assert_int_equal(copy.size, SIZE);
    assert_memory_equal(copy.bytes, bytes, SIZE);
    assert_true(copy.stat.st_blocks * 512 < SIZE + 12345);
    by_mapped_close(&copy);
    by_mapped_close(&source);
    by_free(bytes);
}

/* A memory file on another file system: where copy_file_range() may have to give way. */
static void mappings_are_copied_across_file_systems(void **state)
{
    (void)state;
    enum { SIZE = 20 << 20 };
    int fd = memfd_create("source", 0);
    assert_int_equal(ftruncate(fd, SIZE), 0);
    uint8_t *bytes = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i >> 7);
    struct by_mapped source, copy;
    struct by_writer *writer;
    assert_ok(by_mapped_open_fd(&source, fd, "memory", &err));
    assert_ok(by_writer_open(&writer, "copy", BY_WRITER_NO_SYNC, &err));
    assert_ok(by_writer_add_mapped(writer, &source, 3, SIZE - 3, &err));
    assert_ok(by_writer_commit(writer, &err));
    by_writer_abort(writer);
    assert_ok(by_mapped_open(&copy, "copy", &err));
    assert_int_equal(copy.size, SIZE - 3);
    assert_memory_equal(copy.bytes, bytes + 3, SIZE - 3);
    by_mapped_close(&copy);
    by_mapped_close(&source);
    munmap(bytes, SIZE);
}

/* A descriptor that cannot be read leaves only the mapping itself, read in steps. */
static void mappings_are_copied_without_the_kernels_help(void **state)
{
    (void)state;
    enum { SIZE = 20 << 20 };
    struct by_mapped source, copy;
    struct by_writer *writer;
    uint8_t *bytes = by_alloc(SIZE, 1, &err);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 31 >> 9);
    assert_ok(by_write_file("source", bytes, SIZE, BY_WRITER_NO_SYNC, &err));
    assert_ok(by_mapped_open(&source, "source", &err));
    close(source.fd);
    source.fd = open("source", O_PATH);
    assert_ok(by_writer_open(&writer, "copy", BY_WRITER_NO_SYNC, &err));
    assert_ok(by_writer_add_mapped(writer, &source, 5, SIZE - 10, &err));
    assert_ok(by_writer_commit(writer, &err));
    by_writer_abort(writer);
    assert_memory_equal(source.bytes, bytes, SIZE);
    assert_ok(by_mapped_open(&copy, "copy", &err));
    assert_int_equal(copy.size, SIZE - 10);
    assert_memory_equal(copy.bytes, bytes + 5, SIZE - 10);
    by_mapped_close(&copy);
    by_mapped_close(&source);
    by_free(bytes);
}

static void a_range_outside_the_mapping_is_refused(void **state)
{
    (void)state;
    struct by_mapped source;
    struct by_writer *writer;
    put_file("b", "bytes");
    assert_ok(by_mapped_open(&source, "b", &err));
    assert_ok(by_writer_open(&writer, "a", 0, &err));
    assert_int_equal(by_writer_add_mapped(writer, &source, 0, 6, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INTERNAL);
    assert_int_equal(by_writer_add_mapped(writer, &source, 6, 0, &err), -1);
    assert_int_equal(by_writer_add_mapped(writer, &source, 1, SIZE_MAX, &err), -1);
    assert_ok(by_writer_add_mapped(writer, &source, 5, 0, &err));
    by_writer_abort(writer);
    by_mapped_close(&source);
}

static void a_source_that_shrinks_is_noticed(void **state)
{
    (void)state;
    struct by_mapped source;
    struct by_writer *writer;
    put_file("b", "");
    assert_int_equal(truncate("b", 1 << 20), 0);
    assert_ok(by_mapped_open(&source, "b", &err));
    assert_int_equal(truncate("b", 1000), 0);
    assert_ok(by_writer_open(&writer, "a", 0, &err));
    assert_error(by_writer_add_mapped(writer, &source, 0, 1 << 20, &err), BARYON_ERR_CHANGED,
                 "b: changed while it was in use (size 1000, was 1048576); run again when no "
                 "other program writes to it");
    by_writer_abort(writer);
    by_mapped_close(&source);
    assert_int_equal(access("a", F_OK), -1);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    return st.st_mode;
}

static void modes_are_those_of_a_plain_file(void **state)
{
    (void)state;
    mode_t before = umask(027);
    assert_ok(by_write_file("new", "x", 1, 0, &err));
    assert_int_equal(mode_of("new") & 07777, 0640);
    assert_int_equal(chmod("new", 0604), 0);
    assert_ok(by_write_file("new", "y", 1, 0, &err));
    assert_int_equal(mode_of("new") & 07777, 0604);
    umask(before);
}

static void a_link_stays_a_link(void **state)
{
    (void)state;
    assert_ok(by_make_folders("d", &err));
    put_file("d/real", "old");
    assert_int_equal(symlink("d/real", "link"), 0);
    assert_ok(by_write_file("link", "new", 3, 0, &err));
    assert_true(S_ISLNK(mode_of("link")));
    assert_file("d/real", "new");
    assert_int_equal(count_files("d"), 1);
    assert_int_equal(symlink("nowhere", "dangling"), 0);
    assert_error(by_write_file("dangling", "x", 1, 0, &err), BARYON_ERR_IO,
                 "dangling: is a dangling symbolic link: No such file or directory");
}

static void what_is_no_file_is_not_replaced(void **state)
{
    (void)state;
    assert_ok(by_make_folders("d", &err));
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink("d", "link"), 0);
    assert_error(by_write_file("d", "x", 1, 0, &err), BARYON_ERR_IO,
                 "d: is a directory, must be a regular file or a new name");
    assert_error(by_write_file("link", "x", 1, 0, &err), BARYON_ERR_IO,
                 "link: is a directory, must be a regular file or a new name");
    assert_error(by_write_file("fifo", "x", 1, 0, &err), BARYON_ERR_IO,
                 "fifo: is a FIFO, must be a regular file or a new name");
    assert_error(by_write_file("/dev/null", "x", 1, 0, &err), BARYON_ERR_IO,
                 "/dev/null: is a character device, must be a regular file or a new name");
    assert_error(by_write_file("d/", "x", 1, 0, &err), BARYON_ERR_USAGE,
                 "d/: is not a file name, must end with the name of a file");
    assert_error(by_write_file("", "x", 1, 0, &err), BARYON_ERR_USAGE,
                 "is not a file name, must end with the name of a file");
    assert_error(by_write_file("none/x", "x", 1, 0, &err), BARYON_ERR_IO,
                 "none/x: folder 'none/' cannot be opened: No such file or directory");
}

static void existing_files_can_be_protected(void **state)
{
    (void)state;
    struct by_writer *writer;
    put_file("a", "old");
    assert_int_equal(symlink("nowhere", "link"), 0);
    assert_error(by_write_file("a", "x", 1, BY_WRITER_EXCLUSIVE, &err), BARYON_ERR_USAGE,
                 "a: exists already; --force overwrites it");
    assert_error(by_write_file("link", "x", 1, BY_WRITER_EXCLUSIVE, &err), BARYON_ERR_USAGE,
                 "link: exists already; --force overwrites it");
    assert_ok(by_writer_open(&writer, "b", BY_WRITER_EXCLUSIVE, &err));
    put_file("b", "somebody else's");
    assert_error(by_writer_commit(writer, &err), BARYON_ERR_USAGE,
                 "b: exists already; --force overwrites it");
    by_writer_abort(writer);
    assert_file("b", "somebody else's");
    assert_ok(by_write_file("c", "new", 3, BY_WRITER_EXCLUSIVE, &err));
    assert_file("c", "new");
    assert_int_equal(count_files("."), 4);
}

/* RLIMIT_FSIZE stands in for a full disk: write() fails with EFBIG. */
static void a_full_disk_is_told_with_the_bytes_needed(void **state)
{
    (void)state;
    struct rlimit before, low;
    struct by_writer *writer;
    static char bytes[600000];
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    low = before;
    low.rlim_cur = 300000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    put_file("a", "old");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &low), 0);
    assert_ok(by_writer_open(&writer, "a", 0, &err));
    assert_error(by_writer_add(writer, bytes, sizeof bytes, &err), BARYON_ERR_IO,
                 "a: cannot be written (600000 bytes needed): File too large");
    by_writer_abort(writer);
    assert_ok(by_writer_open(&writer, "a", 0, &err));
    assert_int_equal(by_writer_reserve(writer, INT64_MAX / 2, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_IO);
    static const char wanted[] = "cannot be written (4611686018427387903 bytes needed): ";
    assert_memory_equal(err.message, wanted, sizeof wanted - 1);
    assert_error(by_writer_reserve(writer, UINT64_MAX, &err), BARYON_ERR_IO,
                 "a: cannot be written (18446744073709551615 bytes needed): File too large");
    by_writer_abort(writer);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_file("a", "old");
    assert_int_equal(count_files("."), 1);
}

/* A child opens an output and is killed, in one go or stopped half way. */
static pid_t child_that_writes(int *ready)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct by_writer *writer;
        if (by_writer_open(&writer, "a", 0, NULL) || by_writer_add(writer, "half", 4, NULL))
            _exit(1);
        if (write(ends[1], "x", 1) != 1)
            _exit(1);
        pause();
    }
    close(ends[1]);
    *ready = ends[0];
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 1);
    return child;
}

static void what_a_killed_process_left_is_removed(void **state)
{
    (void)state;
    int ready;
    put_file("a", "old");
    pid_t child = child_that_writes(&ready);
    assert_int_equal(count_files("."), 2);
    /* As long as it lives its file is left alone. */
    assert_ok(by_write_file("a", "mine", 4, 0, &err));
    assert_int_equal(count_files("."), 2);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    close(ready);
    assert_ok(by_write_file("b", "other", 5, 0, &err));
    assert_int_equal(count_files("."), 3);
    assert_ok(by_write_file("a", "again", 5, 0, &err));
    assert_int_equal(count_files("."), 2);
    assert_file("a", "again");
}

/* Other threads run on until the process is gone. */
static void nothing_is_written_at_the_end(void **state)
{
    (void)state;
    int status;
    put_file("a", "old");
    pid_t child = fork();
    if (child == 0) {
        struct by_writer *first, *second;
        const bool opened = by_writer_open(&first, "a", 0, &err) == 0;
        by_writer_end();
        const bool refused =
            by_writer_open(&second, "b", 0, &err) < 0 && err.code == BARYON_ERR_CANCELLED;
        _exit(opened && refused && by_writer_commit(first, &err) < 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(count_files("."), 1);
    assert_file("a", "old");
}

static void a_signal_handler_can_remove_all(void **state)
{
    (void)state;
    struct by_writer *first, *second;
    put_file("a", "old");
    assert_ok(by_writer_open(&first, "a", 0, &err));
    assert_ok(by_writer_open(&second, "b", 0, &err));
    assert_int_equal(count_files("."), 3);
    pid_t child = fork();
    if (child == 0) {
        by_writer_remove_all();
        _exit(0);
    }
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(count_files("."), 3); /* they are not the child's */
    by_writer_remove_all();
    assert_int_equal(count_files("."), 1);
    assert_error(by_writer_commit(first, &err), BARYON_ERR_IO,
                 "a: cannot be renamed to its final name: No such file or directory");
    struct by_writer *third;
    assert_ok(by_writer_open(&third, "a", 0, &err)); /* has the name that was first's */
    assert_int_equal(by_writer_commit(first, &err), -1);
    by_writer_abort(first);
    assert_int_equal(count_files("."), 2);
    by_writer_abort(third);
    assert_int_equal(count_files("."), 1);
    by_writer_abort(second);
    by_writer_remove_all();
    assert_file("a", "old");
    assert_int_equal(count_files("."), 1);
}

static void one_target_may_have_several_writers(void **state)
{
    (void)state;
    struct by_writer *writers[9] = {0};
    for (int i = 0; i < 8; i++) {
        assert_ok(by_writer_open(&writers[i], "a", 0, &err));
        assert_ok(by_writer_add(writers[i], &"01234567"[i], 1, &err));
    }
    assert_error(by_writer_open(&writers[8], "a", 0, &err), BARYON_ERR_IO,
                 "a: is already being written by 8 other processes");
    for (int i = 7; i >= 0; i--) {
        assert_ok(by_writer_commit(writers[i], &err));
        by_writer_abort(writers[i]);
        assert_file("a", (char[]){(char)('0' + i), '\0'});
    }
    assert_int_equal(count_files("."), 1);
}

#define WRITERS 4

/* Files that belong together, written again and again; the number of failures. */
static void *write_pairs(void *context)
{
    size_t *failures = context;
    struct baryon_error own = {0};
    for (int i = 0; i < 500; i++) {
        struct by_writer *pair[2] = {0};
        if (by_writer_open(&pair[0], "data", BY_WRITER_NO_SYNC, &own) ||
            by_writer_open(&pair[1], "model", BY_WRITER_NO_SYNC, &own) ||
            by_writer_add(pair[0], "data", 4, &own) || by_writer_add(pair[1], "model", 5, &own) ||
            by_writer_commit_all(pair, 2, false, &own))
            ++*failures;
        by_writer_abort(pair[0]);
        by_writer_abort(pair[1]);
    }
    return NULL;
}

/* An old file that waits aside is neither removed by others nor taken for one of theirs. */
static void pairs_replace_each_other(void **state)
{
    (void)state;
    pthread_t threads[WRITERS];
    size_t failures[WRITERS] = {0};
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_pairs, &failures[i]), 0);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(failures[i], 0);
    assert_file("data", "data");
    assert_file("model", "model");
    assert_int_equal(count_files("."), 2);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(outputs_appear_whole),
        IN_SCRATCH(an_abandoned_output_leaves_nothing),
        IN_SCRATCH(a_probe_changes_nothing),
        IN_SCRATCH(a_synced_output_is_closed_to_more),
        IN_SCRATCH(any_pieces_give_the_same_bytes),
        IN_SCRATCH(mappings_are_copied_across_file_systems),
        IN_SCRATCH(mappings_are_copied_without_the_kernels_help),
        IN_SCRATCH(a_range_outside_the_mapping_is_refused),
        IN_SCRATCH(a_source_that_shrinks_is_noticed),
        IN_SCRATCH(modes_are_those_of_a_plain_file),
        IN_SCRATCH(a_link_stays_a_link),
        IN_SCRATCH(what_is_no_file_is_not_replaced),
        IN_SCRATCH(existing_files_can_be_protected),
        IN_SCRATCH(a_full_disk_is_told_with_the_bytes_needed),
        IN_SCRATCH(what_a_killed_process_left_is_removed),
        IN_SCRATCH(nothing_is_written_at_the_end),
        IN_SCRATCH(a_signal_handler_can_remove_all),
        IN_SCRATCH(one_target_may_have_several_writers),
        IN_SCRATCH(pairs_replace_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
