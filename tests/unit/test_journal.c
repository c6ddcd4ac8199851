/* Records that outlive a kill: whole ones come back, of others nothing does. */
#include "base/journal.h"

#include "base/file.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define FILE_NAME "out.part"

static const struct by_hash128 key = {5, 7}, another = {5, 8};
static const char *const texts[] = {"one", "", "and a third one"};
#define TEXTS (sizeof texts / sizeof *texts)

static struct by_journal *open_for(struct by_hash128 of, enum by_journal_found wanted)
{
    struct by_journal *journal;
    enum by_journal_found found;
    assert_ok(by_journal_open(&journal, FILE_NAME, of, &found, &err));
    assert_int_equal(found, wanted);
    assert_int_equal(journal == NULL, wanted == BY_JOURNAL_BUSY);
    return journal;
}

/* So many of the texts, in their order; how many. */
static size_t read_all(struct by_journal *journal)
{
    const uint8_t *bytes;
    size_t size, count = 0;
    for (;; count++) {
        assert_ok(by_journal_next(journal, &bytes, &size, &err));
        if (!bytes)
            break;
        assert_true(count < TEXTS);
        assert_int_equal(size, strlen(texts[count]));
        assert_memory_equal(bytes, texts[count], size);
    }
    assert_ok(by_journal_next(journal, &bytes, &size, &err));
    assert_null(bytes);
    return count;
}

static void add(struct by_journal *journal, size_t from)
{
    for (size_t i = from; i < TEXTS; i++)
        assert_ok(by_journal_add(journal, texts[i], strlen(texts[i]), &err));
}

static void write_all(void)
{
    unlink(FILE_NAME);
    struct by_journal *journal = open_for(key, BY_JOURNAL_NEW);
    assert_int_equal(read_all(journal), 0);
    add(journal, 0);
    by_journal_close(journal);
}

static void what_was_added_is_there(void **state)
{
    (void)state;
    write_all();
    struct by_journal *journal = open_for(key, BY_JOURNAL_SAME);
    assert_int_equal(read_all(journal), TEXTS);
    by_journal_close(journal);
    by_journal_close(NULL);
}

static void goes_on_behind_what_was_read(void **state)
{
    const uint8_t *bytes;
    size_t size;
    (void)state;
    write_all();
    struct by_journal *journal = open_for(key, BY_JOURNAL_SAME);
    assert_ok(by_journal_next(journal, &bytes, &size, &err));
    by_journal_stop(journal);
    assert_int_equal(read_all(journal), 0); /* asked for, nothing more */
    by_journal_close(journal);
    journal = open_for(key, BY_JOURNAL_SAME);
    assert_ok(by_journal_next(journal, &bytes, &size, &err));
    add(journal, 1); /* in place of the two that were there */
    by_journal_close(journal);
    journal = open_for(key, BY_JOURNAL_SAME);
    assert_int_equal(read_all(journal), TEXTS);
    by_journal_close(journal);
}

static void another_key_begins_anew(void **state)
{
    (void)state;
    write_all();
    struct by_journal *journal = open_for(another, BY_JOURNAL_OTHER);
    assert_int_equal(read_all(journal), 0);
    add(journal, 2);
    by_journal_close(journal);
    journal = open_for(key, BY_JOURNAL_OTHER);
    by_journal_close(journal);
    assert_true(by_file_size(FILE_NAME) < 64);
}

static void two_at_once(void **state)
{
    (void)state;
    struct by_journal *first = open_for(key, BY_JOURNAL_NEW);
    (void)open_for(key, BY_JOURNAL_BUSY);
    add(first, 0);
    by_journal_close(first);
    first = open_for(key, BY_JOURNAL_SAME);
    assert_int_equal(read_all(first), TEXTS);
    by_journal_close(first);
}

static void put_bytes(const char *bytes, size_t size)
{
    assert_ok(by_write_file(FILE_NAME, bytes, size, BY_WRITER_NO_SYNC, &err));
}

/* Cut anywhere, and each byte another one: records before it come, and no wrong ones. */
static void damage(void **state)
{
    char *whole;
    size_t size;
    struct by_journal *journal;
    enum by_journal_found found;
    (void)state;
    write_all();
    assert_ok(by_read_file(FILE_NAME, 1 << 20, &whole, &size, &err));
    for (size_t i = 0; i < size; i++)
        for (int cut = 0; cut < 2; cut++) {
            whole[i] = (char)(whole[i] ^ 0x10);
            put_bytes(whole, cut ? i : size);
            whole[i] = (char)(whole[i] ^ 0x10);
            by_err_clear(&err);
            const int status = by_journal_open(&journal, FILE_NAME, key, &found, &err);
            if (!cut && i < 8) { /* not one of ours */
                assert_int_equal(status, -1);
                assert_int_equal(err.code, BARYON_ERR_USAGE);
                continue;
            }
            assert_int_equal(status, 0);
            const size_t count = read_all(journal);
            assert_true(count < TEXTS);
            add(journal, count);
            by_journal_close(journal);
            journal = open_for(key, BY_JOURNAL_SAME);
            assert_int_equal(read_all(journal), TEXTS);
            by_journal_close(journal);
        }
    by_free(whole);
}

static void files_of_others_stay(void **state)
{
    struct by_journal *journal;
    enum by_journal_found found;
    (void)state;
    put_bytes("letters", 7);
    assert_int_equal(by_journal_open(&journal, FILE_NAME, key, &found, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_non_null(strstr(error_text(), FILE_NAME));
    assert_int_equal(by_file_size(FILE_NAME), 7);
    assert_int_equal(system("rm " FILE_NAME " && mkdir " FILE_NAME), 0);
    assert_int_equal(by_journal_open(&journal, FILE_NAME, key, &found, &err), -1);
    assert_int_equal(system("rmdir " FILE_NAME " && mkfifo " FILE_NAME), 0);
    assert_int_equal(by_journal_open(&journal, FILE_NAME, key, &found, &err), -1);
    assert_int_equal(system("rm " FILE_NAME " && ln -s elsewhere " FILE_NAME), 0);
    assert_int_equal(by_journal_open(&journal, FILE_NAME, key, &found, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_IO);
}

#define FOLDER "growing"

/* Owns the folder, as a run that writes into it; true when it was free. */
static bool own_folder_once(void)
{
    struct by_journal *journal;
    enum by_journal_found found;
    struct baryon_error error = {0};
    if (by_journal_open_in(&journal, FOLDER, FILE_NAME, key, &found, &error))
        abort();
    if (found == BY_JOURNAL_BUSY)
        return false;
    const int fd = open(FOLDER "/content", O_CREAT | O_EXCL | O_WRONLY, 0666);
    if (fd < 0 || close(fd) || unlink(FOLDER "/content") || by_journal_remove(journal, &error) ||
        by_remove_empty_folder(FOLDER, &error))
        abort();
    return true;
}

static void *own_folder_often(void *context)
{
    for (size_t owned = 0; owned < 2000;)
        owned += own_folder_once();
    return context;
}

/* One begins while the other ends: each opens a folder that is there and that no other owns. */
static void one_begins_while_another_ends(void **state)
{
    pthread_t other;
    (void)state;
    assert_int_equal(pthread_create(&other, NULL, own_folder_often, NULL), 0);
    own_folder_often(NULL);
    assert_int_equal(pthread_join(other, NULL), 0);
    assert_false(by_file_exists(FOLDER));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_added_is_there, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(goes_on_behind_what_was_read, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(another_key_begins_anew, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(two_at_once, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(damage, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(files_of_others_stay, scratch_enter, scratch_leave),
        cmocka_unit_test_setup_teardown(one_begins_while_another_ends, scratch_enter,
                                        scratch_leave),
    };
    return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
