/* Tests loops on threads that somebody else provides. */
#include "graph_build.h"

#include "base/team.h"

#include <pthread.h>
#include <stdatomic.h>

struct marks {
    _Atomic int seen[1000];
    _Atomic bool wrong;
    unsigned workers;
    const struct by_team *team;
    _Atomic int inner;
};

static int mark(void *context, size_t begin, size_t end, unsigned worker, struct baryon_error *e)
{
    struct marks *marks = context;
    (void)e;
    if (begin % 7 || (end - begin != 7 && end != 1000) || worker >= marks->workers)
        marks->wrong = true;
    for (size_t i = begin; i < end; i++)
        marks->seen[i]++;
    return 0;
}

static void assert_marked(const struct by_team *team, unsigned workers)
{
    struct marks marks = {.workers = workers};
    assert_ok(by_team_for(team, 1000, 7, mark, &marks, &err));
    assert_false(marks.wrong);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(marks.seen[i], 1);
}

static void every_item_is_done_once(void **state)
{
    (void)state;
    struct by_pool_team alone;
    assert_marked(NULL, 1);
    by_pool_team(&alone, NULL);
    assert_int_equal(alone.team.workers, 1);
    assert_marked(&alone.team, 1);
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct by_pool *pool;
        struct by_pool_team team;
        assert_ok(by_pool_open(&pool, threads, &err));
        by_pool_team(&team, pool);
        assert_int_equal(team.team.workers, threads);
        assert_marked(&team.team, threads);
        assert_ok(by_team_for(&team.team, 0, 7, mark, NULL, &err));
        by_pool_close(pool);
    }
}

static int fail_odd(void *context, size_t begin, size_t end, unsigned worker,
                    struct baryon_error *e)
{
    (void)context, (void)end, (void)worker;
    return begin % 2 ? by_fail(e, BARYON_ERR_INPUT, "piece %zu", begin) : 0;
}

static void the_lowest_failure_is_reported(void **state)
{
    (void)state;
    struct by_pool *pool;
    struct by_pool_team team;
    assert_ok(by_pool_open(&pool, 3, &err));
    by_pool_team(&team, pool);
    for (int i = 0; i < 20; i++)
        assert_err(by_team_for(&team.team, 100, 1, fail_odd, NULL, &err), BARYON_ERR_INPUT,
                   "piece 1");
    assert_err(by_team_for(NULL, 100, 1, fail_odd, NULL, &err), BARYON_ERR_INPUT, "piece 1");
    by_pool_close(pool);
}

struct inner {
    struct marks *marks;
    unsigned worker;
    pthread_t thread;
};

static int run_inner(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *e)
{
    struct inner *inner = context;
    (void)begin, (void)end, (void)e;
    if (worker != inner->worker || !pthread_equal(inner->thread, pthread_self()))
        inner->marks->wrong = true;
    inner->marks->inner++;
    return 0;
}

static int run_outer(void *context, size_t begin, size_t end, unsigned worker,
                     struct baryon_error *e)
{
    struct marks *marks = context;
    struct inner inner = {marks, worker, pthread_self()};
    (void)begin, (void)end;
    return by_team_for(marks->team, 5, 1, run_inner, &inner, e);
}

static void a_call_from_inside_runs_on_the_same_worker(void **state)
{
    (void)state;
    struct by_pool *pool;
    struct by_pool_team team;
    assert_ok(by_pool_open(&pool, 4, &err));
    by_pool_team(&team, pool);
    struct marks marks = {.team = &team.team};
    assert_ok(by_team_for(&team.team, 100, 1, run_outer, &marks, &err));
    assert_int_equal(marks.inner, 500);
    assert_false(marks.wrong);
    by_pool_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(the_lowest_failure_is_reported),
        cmocka_unit_test(a_call_from_inside_runs_on_the_same_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
