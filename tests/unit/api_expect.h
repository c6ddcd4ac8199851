/*
 * For tests of the public interface, which know nothing but <baryon.h>: calls that have to work,
 * calls that have to fail in so many words, and a folder to work in.
 */
#ifndef API_EXPECT_H
#define API_EXPECT_H

#include <baryon.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct baryon_error err;

static inline void ok_at(int failed, const char *file, int line)
{
    char text[2048];
    if (!failed)
        return;
    baryon_error_format(&err, text, sizeof text);
    print_error("%s\n", text);
    _fail(file, line);
}
#define ok(call) ok_at((call) != 0, __FILE__, __LINE__)

static inline void assert_error_at(int result, enum baryon_code code, const char *wanted,
                                   const char *file, int line)
{
    char text[2048];
    baryon_error_format(&err, text, sizeof text);
    if (result != -1 || strcmp(text, wanted) != 0 || err.code != code) {
        print_error("%d, code %d: %s\nwanted %s\n", result, err.code, text, wanted);
        _fail(file, line);
    }
}
#define assert_error(call, code, wanted) assert_error_at(call, code, wanted, __FILE__, __LINE__)

static char api_folder[64];

static inline int api_enter(void **state)
{
    (void)state;
    snprintf(api_folder, sizeof api_folder, "/tmp/baryon-test-XXXXXX");
    return mkdtemp(api_folder) ? chdir(api_folder) : -1;
}

static inline int api_leave(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", api_folder);
    return chdir("/") || system(command);
}

#endif
