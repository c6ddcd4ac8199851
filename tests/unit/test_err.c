/* Tests how errors are filled, cut, quoted and formatted. */
#include "base/err.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_formats(const struct baryon_error *err, const char *wanted)
{
    char text[2048];
    int size = baryon_error_format(err, text, sizeof text);
    assert_string_equal(text, wanted);
    assert_int_equal(size, strlen(wanted));
}

static void parts_are_joined_in_order(void **state)
{
    (void)state;
    struct baryon_error err;
    assert_int_equal(by_fail(&err, BARYON_ERR_INPUT, "rank %d, must be at most %d", 17, 16), -1);
    assert_formats(&err, "rank 17, must be at most 16");
    by_err_in(&err, "node[%d]", 3);
    by_err_in(&err, "graph.");
    assert_formats(&err, "graph.node[3]: rank 17, must be at most 16");
    by_err_offset(&err, 99);
    assert_formats(&err, "graph.node[3]: rank 17, must be at most 16");
    by_err_file(&err, "m.onnx");
    by_err_hint(&err, "try %s", "this");
    assert_formats(&err, "m.onnx@99: graph.node[3]: rank 17, must be at most 16; try this");
}

static void the_first_file_and_offset_stay(void **state)
{
    (void)state;
    struct baryon_error err;
    by_fail(&err, BARYON_ERR_IO, "x");
    by_err_file(&err, "inner");
    by_err_file(&err, "outer");
    by_err_offset(&err, 1);
    by_err_offset(&err, 2);
    assert_formats(&err, "inner@1: x");
    by_fail(&err, BARYON_ERR_IO, "y");
    assert_formats(&err, "y");
    assert_int_equal(err.offset, -1);
    by_err_offset(&err, UINT64_MAX);
    assert_int_equal(err.offset, -1);
}

static void long_parts_are_cut(void **state)
{
    (void)state;
    struct baryon_error err;
    char text[4096];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    by_fail(&err, BARYON_ERR_INPUT, "%s", text);
    by_err_hint(&err, "%s", text);
    by_err_file(&err, text);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(strlen(err.hint), sizeof err.hint - 1);
    assert_int_equal(strlen(err.file), sizeof err.file - 1);
    for (int i = 0; i < 100; i++)
        by_err_in(&err, "step%03d.", i);
    assert_true(strlen(err.place) < sizeof err.place);
    assert_memory_equal(err.place, "step099.step098.", 16);
    assert_non_null(strstr(err.place, ".step083. ... step013."));
    assert_string_equal(err.place + strlen(err.place) - 16, "step001.step000.");
    by_err_in(&err, "%s", text);
    assert_true(strlen(err.place) < sizeof err.place);
    assert_string_equal(err.place + strlen(err.place) - 16, "step001.step000.");
    char small[8];
    assert_true(baryon_error_format(&err, small, sizeof small) > 1000);
    assert_string_equal(small, "aaaaaaa");
}

static void errno_is_told_in_words(void **state)
{
    (void)state;
    struct baryon_error err;
    errno = ENOSPC;
    assert_int_equal(by_fail_errno(&err, BARYON_ERR_IO, "cannot write %d", 7), -1);
    assert_formats(&err, "cannot write 7: No space left on device");
    assert_int_equal(err.code, BARYON_ERR_IO);
    errno = ENOMEM;
    by_fail_errno(&err, BARYON_ERR_IO, "cannot map");
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
}

static void null_is_accepted(void **state)
{
    (void)state;
    by_err_clear(NULL);
    errno = EIO;
    assert_int_equal(by_fail(NULL, BARYON_ERR_IO, "x"), -1);
    assert_int_equal(by_fail_errno(NULL, BARYON_ERR_IO, "x"), -1);
    assert_int_equal(by_err_hint(NULL, "x"), -1);
    assert_int_equal(by_err_in(NULL, "x"), -1);
    assert_int_equal(by_err_file(NULL, "x"), -1);
    assert_int_equal(by_err_offset(NULL, 1), -1);
    assert_int_equal(by_err_nomem(NULL, 1), -1);
}

static void codes_have_names_and_exits(void **state)
{
    (void)state;
    static const struct {
        enum baryon_code code;
        const char *name;
        int status;
    } rows[] = {
        {BARYON_OK, "ok", 0},
        {BARYON_ERR_INTERNAL, "internal", 1},
        {BARYON_ERR_USAGE, "usage", 2},
        {BARYON_ERR_INPUT, "input", 3},
        {BARYON_ERR_CHANGED, "changed", 3},
        {BARYON_ERR_UNSUPPORTED, "unsupported", 4},
        {BARYON_ERR_NOMEM, "memory", 5},
        {BARYON_ERR_IO, "io", 5},
        {BARYON_ERR_DEPENDENCY, "dependency", 6},
        {BARYON_ERR_ENGINE, "engine", 6},
        {BARYON_ERR_GOAL, "goal", 7},
        {BARYON_ERR_CANCELLED, "cancelled", 130},
        {(enum baryon_code)12345, "internal", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(baryon_code_name(rows[i].code), rows[i].name);
        assert_int_equal(baryon_code_exit(rows[i].code), rows[i].status);
    }
}

static void quoting_shows_what_is_there(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *wanted;
    } rows[] = {
        {"conv1", 5, "'conv1'"},
        {"", 0, "''"},
        {"a\0b", 3, "'a\\x00b'"},
        {"\x1b[31m\n\x7f", 7, "'\\x1b[31m\\x0a\\x7f'"},
        {"h\xc3\xa9", 3, "'h\xc3\xa9'"},
        {"\xff\xc3", 2, "'\\xff\\xc3'"},
        {"\xc2\x9b", 2, "'\\xc2\\x9b'"}, /* a terminal's escape in one character */
        {"\xe2\x80\xae"
         "x",
         4, "'\\xe2\\x80\\xaex'"}, /* turns the text around */
    };
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(by_quote_bytes(quoted, rows[i].text, rows[i].size), rows[i].wanted);
    assert_string_equal(by_quote(quoted, NULL), "''");
}

static void long_names_are_cut_between_characters(void **state)
{
    (void)state;
    char quoted[BY_QUOTE_MAX], text[200];
    memset(text, 'a', sizeof text);
    by_quote_bytes(quoted, text, 128);
    assert_int_equal(strlen(quoted), 130);
    by_quote_bytes(quoted, text, 129);
    assert_string_equal(quoted + 127, "aa'...");
    memcpy(text + 127, "\xc3\xa9", 2);
    by_quote_bytes(quoted, text, sizeof text);
    assert_string_equal(quoted + 126, "aa'...");
    memset(text, '\xff', sizeof text);
    by_quote_bytes(quoted, text, 32);
    assert_int_equal(strlen(quoted), 130);
    by_quote_bytes(quoted, text, 33);
    assert_string_equal(quoted + 125, "\\xff'...");
}

static void long_messages_are_cut_between_characters(void **state)
{
    (void)state;
    struct baryon_error err;
    char text[600];
    static const char *const tails[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
    for (size_t t = 0; t < 3; t++) {
        size_t size = strlen(tails[t]);
        for (size_t kept = 1; kept <= size; kept++) {
            size_t begin = sizeof err.message - 1 - kept;
            memset(text, 'a', sizeof text);
            memcpy(text + begin, tails[t], size);
            text[begin + size] = '\0';
            by_fail(&err, BARYON_ERR_INPUT, "%s", text);
            assert_int_equal(strlen(err.message), kept == size ? begin + size : begin);
            memset(text + begin + size, 'b', 20);
            text[begin + size + 20] = '\0';
            by_fail(&err, BARYON_ERR_INPUT, "%s", text);
            assert_int_equal(strlen(err.message), kept == size ? begin + size : begin);
        }
    }
}

/* Names in a file and the file's own may have anything in them. */
static void nothing_in_an_error_speaks_to_a_terminal(void **state)
{
    (void)state;
    struct baryon_error err;
    by_fail(&err, BARYON_ERR_INPUT, "key %s", "\x1b[31mred\xe2\x80\xae");
    by_err_hint(&err, "see %s", "a\nb\xc2\x9b");
    by_err_in(&err, "node[%s]", "\x07");
    by_err_file(&err, "m\x1b\xff.onnx");
    assert_string_equal(err.message, "key \\x1b[31mred\\xe2\\x80\\xae");
    assert_string_equal(err.hint, "see a\\x0ab\\xc2\\x9b");
    assert_string_equal(err.place, "node[\\x07]");
    assert_string_equal(err.file, "m\x1b\xff.onnx");
    assert_formats(&err, "m\\x1b\\xff.onnx: node[\\x07]: key \\x1b[31mred\\xe2\\x80\\xae; "
                         "see a\\x0ab\\xc2\\x9b");
    char text[600];
    memset(text, '\x1b', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    by_fail(&err, BARYON_ERR_INPUT, "%s", text);
    assert_int_equal(strlen(err.message), (sizeof err.message - 1) / 4 * 4);
    by_err_in(&err, "%s", text);
    assert_int_equal(strlen(err.place), (sizeof err.place - 1) / 4 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_joined_in_order),
        cmocka_unit_test(the_first_file_and_offset_stay),
        cmocka_unit_test(long_parts_are_cut),
        cmocka_unit_test(errno_is_told_in_words),
        cmocka_unit_test(null_is_accepted),
        cmocka_unit_test(codes_have_names_and_exits),
        cmocka_unit_test(quoting_shows_what_is_there),
        cmocka_unit_test(long_names_are_cut_between_characters),
        cmocka_unit_test(long_messages_are_cut_between_characters),
        cmocka_unit_test(nothing_in_an_error_speaks_to_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
