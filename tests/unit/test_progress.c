/* Progress on a standard error that is no terminal. */
#include "cli/progress.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "scratch.h"

/* What a run of 8 samples writes when it began so many seconds ago, 2 of them before. */
static void run_with(double seconds, uint64_t before, struct by_progress_style style)
{
    struct by_progress progress;
    /* To events, what comes after the first step comes with it, however long it takes. */
    const double no_later = style.json ? 3600 : 0;
    int old = dup(STDERR_FILENO);
    int file = open("stderr", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    by_progress_begin(&progress, "run", "samples", before, 8, &style);
    progress.start -= seconds;
    by_progress_step(&progress, before + 1);
    progress.start += no_later;
    for (uint64_t done = before + 2; done <= 8; done++)
        by_progress_step(&progress, done);
    progress.start -= no_later;
    double took = by_progress_end(&progress);
    assert_true(dup2(old, STDERR_FILENO) >= 0);
    close(file);
    close(old);
    assert_true(took >= seconds && took < seconds + 3600);
}

static void run(double seconds, bool quiet)
{
    run_with(seconds, 0, (struct by_progress_style){.quiet = quiet});
}

/* Steps of a run of `total`, so many seconds apart. */
static void run_steps(double apart, uint64_t total)
{
    struct by_progress progress;
    const struct by_progress_style style = {0};
    int old = dup(STDERR_FILENO);
    int file = open("stderr", O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(file >= 0 && dup2(file, STDERR_FILENO) >= 0);
    by_progress_begin(&progress, "run", "samples", 0, total, &style);
    progress.start += 3600; /* however long a step takes here, it ends before it begins */
    progress.drawn = -3600;
    for (uint64_t done = 1; done <= total; done++) {
        progress.start -= apart;
        by_progress_step(&progress, done);
    }
    assert_true(dup2(old, STDERR_FILENO) >= 0);
    close(file);
    close(old);
}

static void one_line_every_tenth(void **state)
{
    (void)state;
    run_steps(1000, 16);
    assert_file("stderr", "baryon: run: 12 % (2 of 16 samples)\n"
                          "baryon: run: 25 % (4 of 16 samples)\n"
                          "baryon: run: 31 % (5 of 16 samples)\n"
                          "baryon: run: 43 % (7 of 16 samples)\n"
                          "baryon: run: 50 % (8 of 16 samples)\n"
                          "baryon: run: 62 % (10 of 16 samples)\n"
                          "baryon: run: 75 % (12 of 16 samples)\n"
                          "baryon: run: 81 % (13 of 16 samples)\n"
                          "baryon: run: 93 % (15 of 16 samples)\n"
                          "baryon: run: 100 % (16 of 16 samples)\n");
}

/* A stage that ends before it took so long says nothing, however many steps it has. */
static void one_line_in_ten_seconds(void **state)
{
    (void)state;
    run(10, false);
    assert_file("stderr", "baryon: run: 12 % (1 of 8 samples)\n");
}

static void nothing_in_the_first_seconds(void **state)
{
    (void)state;
    run(-3600, false); /* it begins in an hour: however long a step takes, none is over */
    assert_file("stderr", "");
}

static void what_was_done_before_is_not_told_again(void **state)
{
    (void)state;
    run_with(10, 6, (struct by_progress_style){0});
    assert_file("stderr", "baryon: run: 87 % (7 of 8 samples)\n");
}

/* The first at the beginning, then not four a second: it began long ago, then all came at once. */
static void events(void **state)
{
    char text[1024];
    (void)state;
    run_with(10, 2, (struct by_progress_style){.json = true});
    FILE *file = fopen("stderr", "r");
    assert_non_null(file);
    static const char *const starts[] = {
        "{\"event\":\"progress\",\"stage\":\"run\",\"done\":2,\"total\":8,"
        "\"samples_per_second\":",
        "{\"event\":\"progress\",\"stage\":\"run\",\"done\":3,\"total\":8,"
        "\"samples_per_second\":0.",
        "{\"event\":\"progress\",\"stage\":\"run\",\"done\":8,\"total\":8,"
        "\"samples_per_second\":0.",
    };
    for (size_t i = 0; i < 3; i++) {
        assert_non_null(fgets(text, sizeof text, file));
        assert_memory_equal(text, starts[i], strlen(starts[i]));
        assert_int_equal(text[strlen(text) - 1], '\n');
    }
    assert_null(fgets(text, sizeof text, file));
    fclose(file);
}

static void no_events_when_quiet(void **state)
{
    (void)state;
    run_with(10, 0, (struct by_progress_style){.json = true, .quiet = true});
    assert_file("stderr", "");
}

static void nothing_when_quiet(void **state)
{
    (void)state;
    run(10, true);
    assert_file("stderr", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_line_every_tenth),
        cmocka_unit_test(one_line_in_ten_seconds),
        cmocka_unit_test(nothing_in_the_first_seconds),
        cmocka_unit_test(nothing_when_quiet),
        cmocka_unit_test(what_was_done_before_is_not_told_again),
        cmocka_unit_test(events),
        cmocka_unit_test(no_events_when_quiet),
    };
    return cmocka_run_group_tests_name("progress", tests, scratch_enter, scratch_leave);
}
