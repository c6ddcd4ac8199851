/*
 * For unit tests on Windows, included first: what they use of POSIX beside what the code does.
 * Commands, links and devices are those of the Linux under Wine. Tests that are left out there, as
 * tests/windows.py says in BARYON_LEFT_OUT, are not run.
 */
#ifndef BY_TEST_WINDOWS_UNITS_H
#define BY_TEST_WINDOWS_UNITS_H

#include "port/windows/posix.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define system  run_in_shell
#define mkstemp make_by_template
int run_in_shell(const char *command);
char *mkdtemp(char *path);
int make_by_template(char *path);
int symlink(const char *to, const char *path);
int link(const char *from, const char *to);
int mknod(const char *path, unsigned mode, uint64_t device);
int mkfifo(const char *path, unsigned mode);
ssize_t readlink(const char *path, char *to, size_t size);

#undef S_IFSOCK
#define S_IFSOCK 0xC000

int run_most(const char *file, const char *group, const struct CMUnitTest *tests, size_t count,
             CMFixtureFunction begin, CMFixtureFunction end);
#undef cmocka_run_group_tests
#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests_name(name, tests, begin, end)                                       \
    run_most(__BASE_FILE__, name, tests, sizeof tests / sizeof *tests, begin, end)
#define cmocka_run_group_tests(tests, begin, end)                                                  \
    cmocka_run_group_tests_name(#tests, tests, begin, end)

#endif
