/*
 * Every allocation and every call on files fails, in either of two ranks, while they agree, put
 * their parts together and end: both end soon, neither with a signal, and the output is there
 * and whole, or the parts still are.
 */
#include "base/fault.h"
#include "base/file.h"
#include "cli/calibrate_ranks.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define RANKS   2
#define SECONDS 40 /* a rank that says nothing is given up after 15 */
#define DEFECT  1  /* the status of a defect of ours, and of one that a sanitizer finds */
#define LEAKS   23 /* of memory that a sanitizer misses */

static char stub[600], *whole;
static size_t whole_size;

/* What is to fail, in which rank; rank -1: nothing does. */
struct plan {
    int rank;
    enum by_fault_kind kind;
    uint64_t k;
    bool forever;
};

/* --- A rank: what `calibrate` does when its samples are done --- */

static int gather(struct by_ranks *ranks, struct by_stats **stats, struct baryon_error *problem)
{
    const struct by_log log = {0};
    const size_t rank = by_ranks_rank(ranks);
    struct by_stats *part;
    unsigned threads;
    char path[32];
    bool up_to_date = false;
    snprintf(path, sizeof path, "out.rank-%zu-of-2", rank);
    if (by_stats_load(&part, path, problem) < 0)
        return -1;
    const struct by_stats_key key = part->key;
    by_stats_close(part);
    if (by_ranks_threads(ranks, &threads, problem) < 0 ||
        by_calibrate_agree(ranks, &key, 20, &log, &up_to_date, problem) < 0)
        return -1;
    return by_calibrate_gather(ranks, "out", true, stats, problem);
}

static int be_rank(void)
{
    const struct by_log log = {0};
    struct by_ranks *ranks;
    struct by_stats *stats = NULL;
    struct baryon_error problem;
    by_err_clear(&problem);
    if (by_ranks_open(&ranks, &log, &problem) < 0)
        return baryon_code_exit(problem.code);
    int status = gather(ranks, &stats, &problem);
    status = by_ranks_close(ranks, status, false, &problem);
    by_stats_close(stats);
    return status < 0 ? baryon_code_exit(problem.code) : 0;
}

static void start_rank(int rank, int other, int own, const struct plan *plan, uint64_t *counts)
{
    char text[2][16];
    close(other);
    snprintf(text[0], sizeof text[0], "%d", rank);
    snprintf(text[1], sizeof text[1], "%d", own);
    setenv("STUB_MPI_RANK", text[0], 1);
    setenv("STUB_MPI_SOCKET", text[1], 1);
    setenv("PMI_SIZE", "2", 1);
    setenv("BARYON_MPI", stub, 1);
    if (!freopen("said", "a", stderr))
        _exit(99);
    if (plan->rank == rank)
        by_fault_arm(plan->kind, plan->k, plan->forever);
    const int status = be_rank();
    for (int kind = 0; kind < BY_FAULT_KINDS; kind++) {
        by_fault_arm((enum by_fault_kind)kind, 0, false);
        if (counts)
            counts[rank * BY_FAULT_KINDS + kind] = by_fault_count((enum by_fault_kind)kind);
    }
    exit(status);
}

/* --- Both of them --- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static struct plan said_by;

/* What the ranks said, where it matters. */
static void tell(void)
{
    char *text;
    size_t size;
    print_error("rank %d, kind %d, call %d%s\n", said_by.rank, (int)said_by.kind, (int)said_by.k,
                said_by.forever ? " and all behind it" : "");
    if (by_read_file("said", 1 << 20, &text, &size, NULL) == 0)
        print_error("%s\n", text);
    by_free(text);
}

static int wait_for(pid_t child, double late)
{
    int status;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now() > late) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            tell();
            fail_msg("a rank does not end");
        }
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) == DEFECT || WEXITSTATUS(status) == LEAKS) {
        tell();
        fail_msg("a rank ends with %d", status);
    }
    return WEXITSTATUS(status);
}

static void run_ranks(const struct plan *plan, int statuses[RANKS], uint64_t *counts)
{
    int ends[2];
    pid_t children[RANKS];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    for (int rank = 0; rank < RANKS; rank++) {
        children[rank] = fork();
        assert_true(children[rank] >= 0);
        if (!children[rank])
            start_rank(rank, ends[1 - rank], ends[rank], plan, counts);
    }
    close(ends[0]);
    close(ends[1]);
    const double late = now() + SECONDS;
    said_by = *plan;
    for (int rank = 0; rank < RANKS; rank++)
        statuses[rank] = wait_for(children[rank], late);
}

static void make_parts(void)
{
    char path[32];
    unlink("out");
    unlink("said");
    for (unsigned rank = 0; rank < RANKS; rank++) {
        struct by_stats *stats; /* of nothing: what is in them fails in test_stats.c */
        assert_ok(by_stats_open(&stats, &err));
        stats->total = 20;
        assert_ok(by_stats_describe(stats, "m", "d", "", &err));
        assert_ok(by_stats_cover(stats, 10 * rank, 10 * rank + 10, &err));
        snprintf(path, sizeof path, "out.rank-%u-of-2", rank);
        assert_ok(by_stats_save(stats, path, BY_WRITER_NO_SYNC, &err));
        by_stats_close(stats);
    }
}

static void look_at_files(bool failed)
{
    char *bytes;
    size_t size;
    if (!by_file_exists("out")) {
        assert_true(failed);
        assert_true(by_file_exists("out.rank-0-of-2") && by_file_exists("out.rank-1-of-2"));
        return;
    }
    assert_ok(by_read_file("out", 1 << 24, &bytes, &size, &err));
    assert_int_equal(size, whole_size);
    assert_memory_equal(bytes, whole, size);
    by_free(bytes);
    if (!failed)
        assert_false(by_file_exists("out.rank-0-of-2") || by_file_exists("out.rank-1-of-2"));
}

static void sweep(int rank, enum by_fault_kind kind, uint64_t calls)
{
    int statuses[RANKS], failures = 0;
    for (uint64_t k = 1; k <= calls; k++) { /* a run waits for a pulse: half a second */
        const struct plan plan = {rank, kind, k, k & 1};
        make_parts();
        run_ranks(&plan, statuses, NULL);
        look_at_files(statuses[0] || statuses[1]);
        failures += statuses[0] || statuses[1];
    }
    print_message("rank %d: %d calls, %d failed\n", rank, (int)calls, failures);
    assert_true(failures > 0);
}

static void test_all(void **state)
{
    (void)state;
    int statuses[RANKS];
    uint64_t *counts = mmap(NULL, sizeof *counts * RANKS * BY_FAULT_KINDS, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(counts != MAP_FAILED);
    uint64_t before[BY_FAULT_KINDS];
    make_parts();
    for (int kind = 0; kind < BY_FAULT_KINDS; kind++)
        before[kind] = by_fault_count((enum by_fault_kind)kind);
    run_ranks(&(struct plan){.rank = -1}, statuses, counts);
    assert_true(!statuses[0] && !statuses[1]);
    assert_ok(by_read_file("out", 1 << 24, &whole, &whole_size, &err));
    assert_false(by_file_exists("out.rank-0-of-2") || by_file_exists("out.rank-1-of-2"));
    for (int rank = 0; rank < RANKS; rank++)
        for (int kind = 0; kind < BY_FAULT_KINDS; kind++)
            sweep(rank, (enum by_fault_kind)kind,
                  counts[rank * BY_FAULT_KINDS + kind] - before[kind]);
    munmap(counts, sizeof *counts * RANKS * BY_FAULT_KINDS);
    by_free(whole);
}

static int enter(void **state)
{
    ssize_t length = readlink("/proc/self/exe", stub, sizeof stub - 32);
    if (length <= 0)
        return -1;
    stub[length] = '\0';
    char *slash = strrchr(stub, '/');
    snprintf(slash, sizeof stub - (size_t)(slash - stub), "/../stub/mpi.so");
    return scratch_enter(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, enter, scratch_leave);
}
