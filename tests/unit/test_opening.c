/* Sessions that bring operators of their own and are opened at once, in processes that know none.
 */
#include "engine/ort.h"
#include "engine/tap.h"

#include "engine_build.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESSES 20
#define THREADS   4

static pthread_barrier_t start;

static int look(void *context, const struct by_tap_look *taken, struct baryon_error *e)
{
    (void)context, (void)taken, (void)e;
    return 0;
}

static void *open_tapped(void *context)
{
    static const char *const names[] = {"p"};
    const struct by_tap tap = {.values = names, .value_count = 1, .look = look};
    const struct by_session_options options = {.threads = 1};
    struct by_tapped *tapped;
    struct baryon_error *problem = context;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    gives(model, "y", BY_ELEM_FLOAT, "2,2");
    put_node(model->graph, "a", "Neg", "x", "p");
    put_node(model->graph, "b", "Neg", "p", "y");
    pthread_barrier_wait(&start);
    if (by_tapped_open(&tapped, model, &tap, 1, &options, problem) == 0)
        by_tapped_close(tapped);
    by_model_free(model);
    return NULL;
}

static int open_at_once(void)
{
    pthread_t threads[THREADS];
    static struct baryon_error problems[THREADS];
    const struct by_ort *ort;
    int failed = by_ort_open(&ort, NULL, &problems[0]) != 0;
    pthread_barrier_init(&start, NULL, THREADS);
    for (size_t i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, open_tapped, &problems[i]))
            abort();
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        failed |= problems[i].code != 0;
    }
    return failed;
}

static void none_is_in_the_way_of_another(void **state)
{
    (void)state;
    for (int i = 0; i < PROCESSES; i++) {
        int status;
        const pid_t child = fork();
        if (child == 0)
            _exit(open_at_once());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(none_is_in_the_way_of_another)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
