/* Tests loops on a pool of threads, their failures and the number of processors. */
#include "base/par.h"

#include "base/cpu.h"
#include "base/file.h"
#include "base/gate.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "scratch.h"

enum { ITEMS = 10007 };

struct marks {
    _Atomic int seen[ITEMS];
    _Atomic int pieces;
    size_t grain;
    unsigned threads;
    _Atomic bool wrong;
};

static int mark(void *context, size_t begin, size_t end, unsigned worker, struct baryon_error *e)
{
    struct marks *marks = context;
    (void)e;
    if (begin % marks->grain || (end - begin != marks->grain && end != ITEMS) ||
        worker >= marks->threads)
        marks->wrong = true;
    for (size_t i = begin; i < end; i++)
        marks->seen[i]++;
    marks->pieces++;
    return 0;
}

static void every_item_is_done_once(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 3, 16};
    static const size_t grains[] = {1, 7, 1000, ITEMS, 2 * ITEMS};
    for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        struct by_pool *pool;
        assert_ok(by_pool_open(&pool, threads[t], &err));
        assert_int_equal(by_pool_threads(pool), threads[t]);
        for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
            static struct marks marks;
            memset(&marks, 0, sizeof marks);
            marks.grain = grains[g];
            marks.threads = threads[t];
            assert_ok(by_par_for(pool, ITEMS, grains[g], mark, &marks, &err));
            assert_false(marks.wrong);
            assert_int_equal(marks.pieces, (ITEMS + grains[g] - 1) / grains[g]);
            for (int i = 0; i < ITEMS; i++)
                assert_int_equal(marks.seen[i], 1);
        }
        by_pool_close(pool);
    }
}

static void no_pool_is_the_caller_alone(void **state)
{
    (void)state;
    static struct marks marks = {.grain = 100, .threads = 1};
    assert_ok(by_par_for(NULL, ITEMS, 100, mark, &marks, &err));
    assert_false(marks.wrong);
    assert_int_equal(marks.pieces, 101);
    assert_int_equal(by_pool_threads(NULL), 1);
    by_pool_close(NULL);
}

static void nothing_to_do_is_done(void **state)
{
    (void)state;
    static struct marks marks = {.grain = 1};
    struct by_pool *pool;
    assert_ok(by_pool_open(&pool, 2, &err));
    assert_ok(by_par_for(pool, 0, 1, mark, &marks, &err));
    assert_int_equal(marks.pieces, 0);
    by_pool_close(pool);
}

struct failing {
    const size_t *bad; /* pieces that fail, the end is SIZE_MAX */
    _Atomic size_t ran;
    _Atomic bool low_ran[16];
};

static int fail_some(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *e)
{
    struct failing *failing = context;
    (void)end;
    (void)worker;
    failing->ran++;
    if (begin < 16)
        failing->low_ran[begin] = true;
    /* The lower the piece, the longer it takes: the others fail first. So much comes after that
     * no thread can do it all before another one tells that it has failed. */
    const long pause = begin < 16 ? (long)(16 - begin) * 100000 : begin > 100 ? 1000000 : 0;
    if (pause)
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    for (const size_t *bad = failing->bad; *bad != SIZE_MAX; bad++)
        if (*bad == begin)
            return by_fail(e, BARYON_ERR_INPUT, "piece %zu", begin);
    return 0;
}

static void the_lowest_failure_is_reported(void **state)
{
    (void)state;
    static const size_t bad[] = {3, 5, 9, 100, SIZE_MAX};
    for (unsigned threads = 1; threads <= 8; threads *= 2) {
        struct by_pool *pool;
        assert_ok(by_pool_open(&pool, threads, &err));
        for (int round = 0; round < 5; round++) {
            struct failing failing = {.bad = bad};
            assert_error(by_par_for(pool, 100000, 1, fail_some, &failing, &err), BARYON_ERR_INPUT,
                         "piece 3");
            for (int i = 0; i <= 3; i++)
                assert_true(failing.low_ran[i]);
            assert_true(failing.ran < 100000);
            assert_int_equal(by_par_for(pool, 10, 1, fail_some, &failing, NULL), -1);
        }
        by_pool_close(pool);
    }
}

struct nested {
    struct by_pool *pool;
    _Atomic int inner;
    _Atomic bool wrong;
};

struct inner {
    struct nested *nested;
    unsigned worker;
    pthread_t thread;
};

static int run_inner(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *e)
{
    struct inner *inner = context;
    (void)begin;
    (void)end;
    (void)e;
    if (worker != inner->worker || !pthread_equal(inner->thread, pthread_self()))
        inner->nested->wrong = true;
    inner->nested->inner++;
    return 0;
}

static int run_outer(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *e)
{
    struct nested *nested = context;
    (void)begin;
    (void)end;
    struct inner inner = {nested, worker, pthread_self()};
    return by_par_for(nested->pool, 10, 1, run_inner, &inner, e);
}

static void a_call_from_inside_runs_on_the_same_worker(void **state)
{
    (void)state;
    struct nested nested = {0};
    assert_ok(by_pool_open(&nested.pool, 4, &err));
    assert_ok(by_par_for(nested.pool, 200, 1, run_outer, &nested, &err));
    assert_int_equal(nested.inner, 2000);
    assert_false(nested.wrong);
    by_pool_close(nested.pool);
}

static void *use_pool(void *context)
{
    static struct marks each[4];
    static _Atomic int next;
    struct marks *marks = &each[next++];
    marks->grain = 10;
    marks->threads = 3;
    for (int i = 0; i < 20; i++)
        if (by_par_for(context, ITEMS, 10, mark, marks, NULL))
            return context;
    return marks->wrong || marks->pieces != 20 * 1001 ? context : NULL;
}

static void several_threads_take_turns(void **state)
{
    (void)state;
    struct by_pool *pool;
    pthread_t threads[4];
    assert_ok(by_pool_open(&pool, 3, &err));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_pool, pool), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    by_pool_close(pool);
}

static void too_many_threads_are_refused(void **state)
{
    (void)state;
    struct by_pool *pool;
    assert_error(by_pool_open(&pool, 5000, &err), BARYON_ERR_USAGE,
                 "5000 threads, must be at most 1024");
}

static void the_affinity_mask_counts(void **state)
{
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_in_range(by_cpu_count(), 1, CPU_COUNT(&before));
    CPU_ZERO(&one);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
        if (CPU_ISSET(cpu, &before))
            CPU_SET(cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(by_cpu_count(), 1);
    struct by_pool *pool;
    assert_ok(by_pool_open(&pool, 0, &err));
    assert_int_equal(by_pool_threads(pool), 1);
    by_pool_close(pool);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void group_quotas_count(void **state)
{
    (void)state;
    assert_ok(by_make_folders("sys/job/step", &err));
    put_file("v2", "0::/job/step\n");
    assert_int_equal(by_cgroup_cpus("v2", "sys"), 0);
    put_file("sys/job/step/cpu.max", "max 100000\n");
    assert_int_equal(by_cgroup_cpus("v2", "sys"), 0);
    put_file("sys/job/step/cpu.max", "250000 100000\n");
    assert_int_equal(by_cgroup_cpus("v2", "sys"), 3);
    put_file("sys/job/cpu.max", "200000 100000\n");
    assert_int_equal(by_cgroup_cpus("v2", "sys"), 2);
    put_file("sys/cpu.max", "50000 100000\n");
    assert_int_equal(by_cgroup_cpus("v2", "sys"), 1);
    put_file("sys/cpu.max", "nonsense\n");
    assert_int_equal(by_cgroup_cpus("v2", "sys"), 2);

    assert_ok(by_make_folders("sys/cpu/box", &err));
    put_file("v1", "7:memory:/box\n4:cpuset:/box\n3:cpu,cpuacct:/box\nbroken\n");
    assert_int_equal(by_cgroup_cpus("v1", "sys"), 0);
    put_file("sys/cpu/box/cpu.cfs_quota_us", "-1\n");
    put_file("sys/cpu/box/cpu.cfs_period_us", "100000\n");
    assert_int_equal(by_cgroup_cpus("v1", "sys"), 0);
    put_file("sys/cpu/box/cpu.cfs_quota_us", "400000\n");
    assert_int_equal(by_cgroup_cpus("v1", "sys"), 4);
    assert_int_equal(by_cgroup_cpus("none", "sys"), 0);
}

/* --- Gates --- */

struct behind {
    struct by_gate gate;
    _Atomic unsigned now, most, all;
};

static int pass_gate(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *e)
{
    struct behind *behind = context;
    (void)begin, (void)end, (void)worker, (void)e;
    by_gate_enter(&behind->gate);
    const unsigned now = ++behind->now;
    if (now > behind->most)
        behind->most = now;
    behind->all++;
    sched_yield();
    behind->now--;
    by_gate_leave(&behind->gate);
    return 0;
}

static void a_gate_lets_so_many_through(void **state)
{
    (void)state;
    struct by_pool *pool;
    struct baryon_error e;
    assert_int_equal(by_pool_open(&pool, 4, &e), 0);
    for (unsigned room = 1; room <= 2; room++) {
        struct behind behind = {.now = 0};
        by_gate_open(&behind.gate, room);
        assert_int_equal(by_par_for(pool, 2000, 1, pass_gate, &behind, &e), 0);
        assert_in_range(behind.most, 1, room);
        assert_int_equal(behind.all, 2000);
        assert_int_equal(behind.gate.room, room);
        by_gate_close(&behind.gate);
    }
    by_gate_enter(NULL); /* no gate */
    by_gate_leave(NULL);
    by_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(no_pool_is_the_caller_alone),
        cmocka_unit_test(nothing_to_do_is_done),
        cmocka_unit_test(the_lowest_failure_is_reported),
        cmocka_unit_test(a_call_from_inside_runs_on_the_same_worker),
        cmocka_unit_test(several_threads_take_turns),
        cmocka_unit_test(a_gate_lets_so_many_through),
        cmocka_unit_test(too_many_threads_are_refused),
        cmocka_unit_test(the_affinity_mask_counts),
        cmocka_unit_test_setup_teardown(group_quotas_count, scratch_enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
