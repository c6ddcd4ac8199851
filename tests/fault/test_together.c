/* Two files that belong together, killed or failing at every call on files. */
#include "base/fault.h"
#include "base/file.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

static int write_pair(const char *text, unsigned flags, bool keep_last)
{
    static const char *const names[] = {"data", "model"};
    struct by_writer *writers[2] = {0};
    int status = 0;
    for (int i = 0; i < 2 && !status; i++)
        status = by_writer_open(&writers[i], names[i], flags, &err) ||
                 by_writer_add(writers[i], text, 3, &err);
    if (!status)
        status = by_writer_commit_all(writers, 2, keep_last, &err);
    by_writer_abort(writers[0]);
    by_writer_abort(writers[1]);
    return status ? -1 : 0;
}

/* "old", "new", "" when there is no such file; all else is broken. */
static const char *content(const char *name)
{
    char *bytes;
    size_t size;
    const char *found = "broken";
    if (access(name, F_OK))
        return "";
    assert_ok(by_read_file(name, 100, &bytes, &size, &err));
    if (!strcmp(bytes, "old") || !strcmp(bytes, "new"))
        found = *bytes == 'o' ? "old" : "new";
    by_free(bytes);
    return found;
}

static bool are(const char *data, const char *model)
{
    return !strcmp(content("data"), data) && !strcmp(content("model"), model);
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

static void prepare(const char *data, const char *model)
{
    unlink("data");
    unlink("model");
    if (*data)
        put_file("data", data);
    if (*model)
        put_file("model", model);
}

static uint64_t calls_of_a_run(unsigned flags)
{
    uint64_t before = by_fault_count(BY_FAULT_IO);
    assert_ok(write_pair("new", flags, false));
    return by_fault_count(BY_FAULT_IO) - before;
}

/* Runs a child that is killed at the k-th call; false when it came to its end before. */
static bool kill_at(uint64_t k, unsigned flags, bool keep_last)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        by_fault_arm_kill(BY_FAULT_IO, k);
        _exit(write_pair("new", flags, keep_last) ? 1 : 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static void a_kill_leaves_no_mix(void **state)
{
    (void)state;
    prepare("old", "old");
    uint64_t calls = calls_of_a_run(0);
    unsigned absent = 0;
    assert_true(calls >= 12);
    for (uint64_t k = 1; k <= calls; k++) {
        prepare("old", "old");
        assert_true(kill_at(k, 0, false));
        absent += !*content("model");
        assert_true(!*content("model") || are("old", "old") || are("new", "new"));
        assert_ok(write_pair("new", 0, false));
        assert_true(are("new", "new"));
        assert_int_equal(count_files(), 2);
    }
    assert_in_range(absent, 1, 3);
}

/* Fails before anything of it is in place. */
static void run_in_vain(void)
{
    by_fault_arm(BY_FAULT_IO, 1, true);
    assert_int_equal(write_pair("new", 0, false), -1);
    by_fault_arm(BY_FAULT_IO, 0, false);
    by_err_clear(&err);
}

/* Neither a run that fails nor one that is killed removes the only copy of what was there. */
static void what_was_set_aside_comes_back(void **state)
{
    (void)state;
    for (int keep_last = 0; keep_last < 2; keep_last++) {
        prepare("old", "old");
        uint64_t calls = calls_of_a_run(0);
        for (uint64_t k = 1; k <= calls; k++) {
            prepare("old", "old");
            kill_at(k, 0, keep_last);
            run_in_vain();
            by_recover_file("model");
            assert_true(are("old", "old") || are("new", "new"));
            kill_at(calls - k + 1, 0, keep_last);
            run_in_vain();
            by_recover_file("model");
            assert_true(are("old", "old") || are("new", "new"));
            assert_ok(write_pair("new", 0, keep_last));
            assert_true(are("new", "new"));
            assert_int_equal(count_files(), 2);
        }
    }
}

/* The restoring itself is killed at every step. */
static void restoring_can_be_killed(void **state)
{
    (void)state;
    prepare("old", "old");
    uint64_t calls = calls_of_a_run(0);
    for (uint64_t k = 1; k <= calls; k++)
        for (uint64_t then = 1; then <= 3; then++) {
            int status;
            prepare("old", "old");
            kill_at(k, 0, false);
            pid_t child = fork();
            if (child == 0) {
                by_fault_arm_kill(BY_FAULT_IO, then);
                by_recover_file("model");
                _exit(0);
            }
            assert_int_equal(waitpid(child, &status, 0), child);
            by_recover_file("model");
            assert_true(are("old", "old") || are("new", "new"));
        }
    assert_ok(write_pair("new", 0, false));
    assert_int_equal(count_files(), 2);
}

/* The model names no data file that changes, so that it may stay until the end. */
static void a_kill_leaves_a_model(void **state)
{
    (void)state;
    static const char *const before[][2] = {{"old", "old"}, {"", "old"}};
    for (int i = 0; i < 2; i++) {
        bool keep_last = i == 0;
        prepare(before[i][0], before[i][1]);
        uint64_t calls = calls_of_a_run(0);
        for (uint64_t k = 1; k <= calls; k++) {
            prepare(before[i][0], before[i][1]);
            kill_at(k, 0, keep_last);
            assert_true(!strcmp(content("model"), "old") || are("new", "new"));
            assert_ok(write_pair("new", 0, keep_last));
            assert_int_equal(count_files(), 2);
        }
    }
}

static void sweep_failures(const char *before, unsigned flags, bool keep_last, bool forever)
{
    prepare(before, before);
    uint64_t calls = calls_of_a_run(flags);
    for (uint64_t k = 1; k <= calls; k++) {
        prepare(before, before);
        by_fault_arm(BY_FAULT_IO, k, forever);
        by_err_clear(&err);
        int status = write_pair("new", flags, keep_last);
        by_fault_arm(BY_FAULT_IO, 0, false);
        /* The one late failure: the new files are there, their folder could not be synced. */
        if (!status || strstr(err.message, "is written"))
            assert_true(are("new", "new"));
        else
            assert_true(are(before, before));
        assert_int_equal(count_files(), *content("model") ? 2 : 0);
    }
}

static void a_failure_changes_all_or_nothing(void **state)
{
    (void)state;
    for (int forever = 0; forever < 2; forever++) {
        sweep_failures("old", 0, false, forever);
        sweep_failures("old", 0, true, forever);
        sweep_failures("", 0, false, forever);
        sweep_failures("", BY_WRITER_EXCLUSIVE, false, forever);
    }
}

static void a_model_that_exists_keeps_the_data_away(void **state)
{
    (void)state;
    prepare("", "old");
    assert_int_equal(write_pair("new", BY_WRITER_EXCLUSIVE, false), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_true(are("", "old"));
    assert_int_equal(count_files(), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_kill_leaves_no_mix, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(what_was_set_aside_comes_back, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test_setup_teardown(restoring_can_be_killed, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(a_kill_leaves_a_model, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(a_failure_changes_all_or_nothing, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test_setup_teardown(a_model_that_exists_keeps_the_data_away, scratch_enter,
                                        scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
