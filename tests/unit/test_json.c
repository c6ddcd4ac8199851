/* Tests that written JSON is valid for all values and bytes. */
#include "base/json.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void write_sample(struct by_json *json)
{
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", "a \"b\"\\");
    by_json_open(json, "list", '[');
    by_json_int(json, NULL, INT64_MIN);
    by_json_double(json, NULL, 0.1);
    by_json_double(json, NULL, (double)NAN);
    by_json_double(json, NULL, (double)INFINITY);
    by_json_bool(json, NULL, true);
    by_json_open(json, NULL, '{');
    by_json_close(json, '}');
    by_json_close(json, ']');
    by_json_open(json, "none", '[');
    by_json_close(json, ']');
    by_json_bool(json, "no", false);
    by_json_null(json, "nil");
    by_json_close(json, '}');
}

static void assert_written(bool compact, const char *wanted)
{
    struct by_str out;
    struct by_json json;
    by_str_init(&out);
    by_json_init(&json, &out, compact);
    write_sample(&json);
    assert_string_equal(by_str_text(&out), wanted);
    assert_int_equal(json.depth, 0);
    by_str_release(&out);
}

static void compact_text_has_no_blanks(void **state)
{
    (void)state;
    assert_written(true,
                   "{\"name\":\"a \\\"b\\\"\\\\\",\"list\":[-9223372036854775808,0.1,null,null,"
                   "true,{}],\"none\":[],\"no\":false,\"nil\":null}");
}

static void plain_text_is_indented(void **state)
{
    (void)state;
    assert_written(false, "{\n"
                          "  \"name\": \"a \\\"b\\\"\\\\\",\n"
                          "  \"list\": [\n"
                          "    -9223372036854775808,\n"
                          "    0.1,\n"
                          "    null,\n"
                          "    null,\n"
                          "    true,\n"
                          "    {}\n"
                          "  ],\n"
                          "  \"none\": [],\n"
                          "  \"no\": false,\n"
                          "  \"nil\": null\n"
                          "}");
}

static void items_of_a_flat_list_have_a_line_each(void **state)
{
    struct by_str out;
    struct by_json json;
    (void)state;
    by_str_init(&out);
    by_json_init(&json, &out, false);
    json.flat = 3;
    by_json_open(&json, NULL, '{');
    by_json_int(&json, "a", 1);
    by_json_open(&json, "list", '[');
    for (int i = 0; i < 2; i++) {
        by_json_open(&json, NULL, '{');
        by_json_int(&json, "b", i);
        by_json_open(&json, "c", '[');
        by_json_int(&json, NULL, 2);
        by_json_int(&json, NULL, 3);
        by_json_close(&json, ']');
        by_json_close(&json, '}');
    }
    by_json_close(&json, ']');
    by_json_close(&json, '}');
    assert_string_equal(by_str_text(&out), "{\n"
                                           "  \"a\": 1,\n"
                                           "  \"list\": [\n"
                                           "    {\"b\":0,\"c\":[2,3]},\n"
                                           "    {\"b\":1,\"c\":[2,3]}\n"
                                           "  ]\n"
                                           "}");
    by_str_release(&out);
}

static void any_bytes_become_valid_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
        const char *wanted;
    } rows[] = {
        {"", 0, "\"\""},
        {"\0", 1, "\"\\u0000\""},
        {"\b\f\n\r\t\x01\x1f\x7f", 8, "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\""},
        {"\xc3\xa9\xf0\x9f\x98\x80", 6, "\"\xc3\xa9\xf0\x9f\x98\x80\""},
        {"a\xff\xc3", 3, "\"a\\ufffd\\ufffd\""},
        {"\xc2\x9b\xe2\x80\xae\xef\xbb\xbf", 8, "\"\\u009b\\u202e\\ufeff\""},
        {"a/b'c", 5, "\"a/b'c\""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct by_str out;
        struct by_json json;
        by_str_init(&out);
        by_json_init(&json, &out, true);
        by_json_bytes(&json, NULL, rows[i].text, rows[i].size);
        assert_string_equal(by_str_text(&out), rows[i].wanted);
        by_str_release(&out);
    }
}

static void several_values_at_the_top_are_lines_of_their_own_text(void **state)
{
    (void)state;
    struct by_str out;
    by_str_init(&out);
    for (int i = 0; i < 2; i++) {
        struct by_json json;
        by_json_init(&json, &out, true);
        by_json_open(&json, NULL, '{');
        by_json_int(&json, "i", i);
        by_json_close(&json, '}');
        by_str_puts(&out, "\n");
    }
    assert_string_equal(by_str_text(&out), "{\"i\":0}\n{\"i\":1}\n");
    by_str_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compact_text_has_no_blanks),
        cmocka_unit_test(plain_text_is_indented),
        cmocka_unit_test(items_of_a_flat_list_have_a_line_each),
        cmocka_unit_test(any_bytes_become_valid_text),
        cmocka_unit_test(several_values_at_the_top_are_lines_of_their_own_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
