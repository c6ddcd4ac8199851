/* Tests the search for ONNX Runtime, with folders of our own as those set at build time. */
static const char *set_folders = "";
#define BY_ORT_FOLDERS set_folders
#include "src/engine/ort_find.c" /* takes the place of the library's own */

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "scratch.h"

static char stub[PATH_MAX];

static int enter(void **state)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 20);
    assert_true(length > 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/'), "/../stub/ops.so");
    return realpath(path, stub) && unsetenv("BARYON_ONNXRUNTIME") == 0 ? scratch_enter(state) : -1;
}

static void put_library(const char *folder, const char *name)
{
    char path[256];
    assert_ok(by_make_folders(folder, &err));
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(symlink(stub, path), 0);
}

static int find(const char *given)
{
    void *handle;
    int result = by_ort_find(given, &handle, &err);
    if (!result)
        assert_non_null(handle);
    return result;
}

static void test_given(void **state)
{
    (void)state;
    put_library("plain", STEM ".1.31.1");
    put_library("root/lib", STEM);
    put_library("part", STEM ".1.31.1.part");
    put_library(".", "here.so");
    put_file("text.so", "not a library\n");
    assert_ok(find("plain"));
    assert_ok(find("root"));
    assert_ok(find("plain/" STEM ".1.31.1"));
    assert_ok(find("here.so")); /* a file, not a name for the system to look up */
    assert_error(find("part"), BARYON_ERR_DEPENDENCY,
                 "the path for ONNX Runtime is 'part', a folder without " STEM "*");
    assert_error(find("none"), BARYON_ERR_DEPENDENCY,
                 "the path for ONNX Runtime is 'none': No such file or directory");
    assert_int_equal(find("text.so"), -1);
    assert_int_equal(err.code, BARYON_ERR_DEPENDENCY);
    assert_memory_equal(err.message, "the library './text.so' cannot be loaded: ", 42);
}

static void test_environment(void **state)
{
    (void)state;
    put_library("env", STEM ".1");
    assert_int_equal(setenv("BARYON_ONNXRUNTIME", "env", 1), 0);
    assert_ok(find(NULL));
    assert_int_equal(setenv("BARYON_ONNXRUNTIME", "nowhere", 1), 0);
    assert_error(find(NULL), BARYON_ERR_DEPENDENCY,
                 "$BARYON_ONNXRUNTIME for ONNX Runtime is 'nowhere': No such file or directory");
    assert_ok(find("env")); /* what is given goes before */
    assert_int_equal(unsetenv("BARYON_ONNXRUNTIME"), 0);
}

static void test_set_folders(void **state)
{
    (void)state;
    put_library("second", STEM ".1");
    set_folders = "absent::second";
    assert_ok(find(NULL));
    put_file("broken", "");
    assert_ok(by_make_folders("bad", &err));
    put_file("bad/" STEM, "text");
    set_folders = "absent:bad:second";
    assert_int_equal(find(NULL), -1); /* what is there must work */
    assert_memory_equal(err.message,
                        "the library 'bad/" STEM "' cannot be loaded: ", 37 + strlen(STEM));
    set_folders = "";
}

static void test_nowhere(void **state)
{
    (void)state;
    void *handle = dlopen(STEM ".1", RTLD_NOW);
    if (handle || (handle = dlopen(STEM, RTLD_NOW)))
        skip(); /* this machine has one */
    set_folders = "/no/such:/nor/this";
    assert_int_equal(find(NULL), -1);
    assert_int_equal(err.code, BARYON_ERR_DEPENDENCY);
    assert_memory_equal(err.message, "ONNX Runtime is not installed: no " STEM "* in ",
                        39 + strlen(STEM));
    assert_non_null(strstr(err.message, "/tests/unit/baryon, "));
    assert_non_null(strstr(err.message, "/tests/lib/baryon, /no/such, /nor/this, and neither "));
    assert_string_equal(err.hint,
                        "run 'make deps', or set BARYON_ONNXRUNTIME to the library or its folder");
    set_folders = "";
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_given, enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_environment, enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_set_folders, enter, scratch_leave),
        cmocka_unit_test_setup_teardown(test_nowhere, enter, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
