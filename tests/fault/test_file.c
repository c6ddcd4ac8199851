/* Every call on files fails or is the last one of the process, in turn. */
#include "base/fault.h"
#include "base/file.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

enum { BODY = 300000 };

static char body[BODY];

static int make_source(void **state)
{
    if (scratch_enter(state))
        return -1;
    memset(body, 'n', sizeof body);
    return by_write_file("source", body, sizeof body, 0, NULL);
}

/* An output with all that a writer can do: 5 + 300000 + 3 bytes. */
static int write_output(unsigned flags)
{
    struct by_mapped source;
    struct by_writer *writer = NULL;
    if (by_mapped_open(&source, "source", &err))
        return -1;
    int status = by_writer_open(&writer, "target", flags, &err);
    if (!status)
        status = by_writer_reserve(writer, BODY + 100, &err) ||
                 by_writer_add(writer, "head ", 5, &err) ||
                 by_writer_add_mapped(writer, &source, 0, BODY, &err) ||
                 by_writer_add(writer, "end", 3, &err) || by_writer_sync(writer, &err) ||
                 by_mapped_check(&source, &err) || by_writer_commit(writer, &err);
    by_writer_abort(writer);
    by_mapped_close(&source);
    return status ? -1 : 0;
}

enum content { ABSENT, OLD, NEW, BROKEN };

static enum content target_content(void)
{
    char *bytes;
    size_t size;
    if (access("target", F_OK))
        return ABSENT;
    if (by_read_file("target", 1 << 20, &bytes, &size, NULL))
        return BROKEN;
    enum content content = BROKEN;
    if (size == 3 && !memcmp(bytes, "old", 3))
        content = OLD;
    else if (size == BODY + 8 && !memcmp(bytes, "head n", 6) && !memcmp(bytes + 5, body, BODY) &&
             !memcmp(bytes + BODY + 5, "end", 3))
        content = NEW;
    by_free(bytes);
    return content;
}

static size_t count_files(void)
{
    DIR *folder = opendir(".");
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

static int open_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void prepare(bool existing)
{
    unlink("target");
    if (existing)
        put_file("target", "old");
}

static uint64_t calls_of_a_run(unsigned flags)
{
    uint64_t before = by_fault_count(BY_FAULT_IO);
    assert_ok(write_output(flags));
    return by_fault_count(BY_FAULT_IO) - before;
}

static void sweep_kills(bool existing, unsigned flags)
{
    prepare(existing);
    uint64_t calls = calls_of_a_run(flags);
    assert_true(calls >= 10);
    for (uint64_t k = 1; k <= calls; k++) {
        prepare(existing);
        pid_t child = fork();
        if (child == 0) {
            by_fault_arm_kill(BY_FAULT_IO, k);
            _exit(write_output(flags) ? 1 : 0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        enum content content = target_content();
        assert_true(content == NEW || content == (existing ? OLD : ABSENT));
        assert_in_range(count_files(), 1, 3);
        unlink(flags & BY_WRITER_EXCLUSIVE ? "target" : "none");
        assert_ok(write_output(flags));
        assert_int_equal(target_content(), NEW);
        assert_int_equal(count_files(), 2);
    }
}

static void a_kill_leaves_the_old_or_the_new(void **state)
{
    (void)state;
    sweep_kills(true, 0);
    sweep_kills(false, 0);
    sweep_kills(false, BY_WRITER_EXCLUSIVE);
    sweep_kills(true, BY_WRITER_NO_SYNC);
}

static void sweep_failures(bool existing, bool forever)
{
    prepare(existing);
    uint64_t calls = calls_of_a_run(0);
    int descriptors = open_descriptors();
    for (uint64_t k = 1; k <= calls; k++) {
        prepare(existing);
        by_fault_arm(BY_FAULT_IO, k, forever);
        by_err_clear(&err);
        int status = write_output(0);
        by_fault_arm(BY_FAULT_IO, 0, false);
        enum content content = target_content();
        if (status) {
            assert_int_equal(err.code, BARYON_ERR_IO);
            assert_true(err.file[0] != '\0');
            assert_non_null(strstr(err.message, "Input/output error"));
            /* The one late failure: the new file is there, the folder could not be synced. */
            assert_true(content == (existing ? OLD : ABSENT) ||
                        (content == NEW && strstr(err.message, "is written")));
        } else {
            assert_int_equal(content, NEW);
        }
        assert_int_equal(count_files(), content == ABSENT ? 1 : 2);
        assert_int_equal(open_descriptors(), descriptors);
    }
}

static void a_failure_leaves_no_trace(void **state)
{
    (void)state;
    for (int variant = 0; variant < 4; variant++)
        sweep_failures(variant & 1, variant & 2);
}

/* Runs `call` with every one of its file calls failing; each has to be reported. */
static void sweep_call(int call(void))
{
    uint64_t before = by_fault_count(BY_FAULT_IO);
    assert_ok(call());
    uint64_t calls = by_fault_count(BY_FAULT_IO) - before;
    int descriptors = open_descriptors();
    assert_true(calls > 0);
    for (uint64_t k = 1; k <= calls; k++) {
        by_fault_arm(BY_FAULT_IO, k, false);
        by_err_clear(&err);
        assert_int_equal(call(), -1);
        by_fault_arm(BY_FAULT_IO, 0, false);
        assert_int_equal(err.code, BARYON_ERR_IO);
        assert_non_null(strstr(err.message, "Input/output error"));
        assert_int_equal(open_descriptors(), descriptors);
    }
}

static int call_read_file(void)
{
    char *bytes;
    size_t size;
    if (by_read_file("source", BODY, &bytes, &size, &err))
        return -1;
    by_free(bytes);
    return 0;
}

static int call_mapped(void)
{
    struct by_mapped mapped;
    if (by_mapped_open(&mapped, "source", &err))
        return -1;
    int status = by_mapped_check(&mapped, &err);
    by_mapped_close(&mapped);
    return status;
}

static int call_contained(void)
{
    struct by_mapped mapped;
    int fd;
    if (by_open_contained(".", "source", false, &fd, &err) ||
        by_mapped_open_fd(&mapped, fd, "source", &err))
        return -1;
    by_mapped_close(&mapped);
    return 0;
}

static int call_folders(void)
{
    struct by_listing listing;
    if (by_make_folders("a/b", &err) || by_list_folder(&listing, ".", &err))
        return -1;
    by_listing_release(&listing);
    return 0;
}

static void readers_report_every_failure(void **state)
{
    (void)state;
    sweep_call(call_read_file);
    sweep_call(call_mapped);
    sweep_call(call_contained);
    sweep_call(call_folders);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kill_leaves_the_old_or_the_new, make_source,
                                        scratch_leave),
        cmocka_unit_test_setup_teardown(a_failure_leaves_no_trace, make_source, scratch_leave),
        cmocka_unit_test_setup_teardown(readers_report_every_failure, make_source, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
