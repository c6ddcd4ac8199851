/* Every allocation and every call on files fails while statistics are saved, loaded, merged. */
#include "base/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"
#include "tests/unit/stats_make.h"

static int make_files(void **state)
{
    if (scratch_enter(state))
        return -1;
    for (unsigned i = 0; i < 3; i++) {
        char name[] = {(char)('a' + i), '\0'};
        struct by_stats *stats = stats_small(10 * i, 10 * i + 10, 1);
        if (!stats || by_stats_save(stats, name, BY_WRITER_NO_SYNC, &err))
            return -1;
        by_stats_close(stats);
    }
    return 0;
}

/* Sums that were made from a seed are no Gram matrix, which is found after all have been read. */
static int read_sums(const struct by_stats *stats)
{
    float gram[81];
    return by_stats_gram(&stats->layers[0], 0, NULL, NULL, gram, &err) == 0 ||
                   err.code == BARYON_ERR_INPUT
               ? 0
               : -1;
}

/* All that is done with files, and with what lies in them. */
static int work(void)
{
    struct by_stats *stats = NULL, *other = NULL;
    struct by_str bytes;
    by_str_init(&bytes);
    int failed = by_stats_load(&stats, "a", &err) || by_stats_load(&other, "c", &err) ||
                 by_stats_merge(stats, other, &err);
    by_stats_close(other);
    other = NULL;
    failed = failed || by_stats_load(&other, "b", &err) ||
             by_stats_recall(&other->layers[0], 0, 1, &err) || by_stats_merge(stats, other, &err) ||
             read_sums(stats);
    failed = failed || by_stats_save(stats, "out", BY_WRITER_NO_SYNC, &err) ||
             by_stats_save_bytes(stats, &bytes, &err);
    by_str_release(&bytes);
    by_stats_close(other);
    by_stats_close(stats);
    return failed ? -1 : 0;
}

static void sweep(enum by_fault_kind kind, enum baryon_code code)
{
    const uint64_t before = by_fault_count(kind);
    assert_ok(work());
    const uint64_t calls = by_fault_count(kind) - before;
    assert_true(calls > 20);
    for (uint64_t k = 1; k <= calls; k++)
        for (int forever = 0; forever < 2; forever++) {
            unlink("out");
            by_fault_arm(kind, k, forever);
            by_err_clear(&err);
            const int status = work();
            by_fault_arm(kind, 0, false);
            assert_int_equal(status, -1);
            assert_int_equal(err.code, code);
        }
}

static void memory_runs_out(void **state)
{
    (void)state;
    sweep(BY_FAULT_ALLOC, BARYON_ERR_NOMEM);
}

static void files_fail(void **state)
{
    (void)state;
    sweep(BY_FAULT_IO, BARYON_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(files_fail),
    };
    return cmocka_run_group_tests(tests, make_files, scratch_leave);
}
