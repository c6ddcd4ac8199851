/*
 * For tests that touch files: a folder of their own, which they work in, and short
 * ways to make files and to compare errors. Include cmocka.h first.
 */
#ifndef BY_TEST_SCRATCH_H
#define BY_TEST_SCRATCH_H

#include "base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct baryon_error err;
static char scratch_path[64];

static inline int scratch_enter(void **state)
{
    (void)state;
    snprintf(scratch_path, sizeof scratch_path, "/tmp/baryon-test-XXXXXX");
    return mkdtemp(scratch_path) ? chdir(scratch_path) : -1;
}

static inline int scratch_leave(void **state)
{
    (void)state;
    char command[192];
    snprintf(command, sizeof command, "chmod -R u+rwx %s; rm -rf %s", scratch_path, scratch_path);
    return chdir("/") || system(command);
}

static inline const char *error_text(void)
{
    static char text[2048];
    baryon_error_format(&err, text, sizeof text);
    return text;
}

#define assert_ok(call)                                                                            \
    do {                                                                                           \
        if (call)                                                                                  \
            fail_msg("%s: %s", #call, error_text());                                               \
    } while (0)

#define assert_error(call, wanted_code, wanted_text)                                               \
    do {                                                                                           \
        by_err_clear(&err);                                                                        \
        assert_int_equal(call, -1);                                                                \
        assert_string_equal(error_text(), wanted_text);                                            \
        assert_int_equal(err.code, wanted_code);                                                   \
    } while (0)

static inline void put_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

static inline void assert_file(const char *path, const char *text)
{
    static char bytes[65536];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    bytes[size] = '\0';
    assert_string_equal(bytes, text);
}

#endif
