/* Tests growing texts, number parsing, name suggestions and UTF-8. */
#include "base/str.h"

#include "base/format.h"
#include "base/log.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"

static void texts_grow(void **state)
{
    (void)state;
    struct by_str str;
    by_str_init(&str);
    assert_string_equal(by_str_text(&str), "");
    by_str_add(&str, NULL, 0);
    by_str_puts(&str, "a=");
    by_str_printf(&str, "%d %s", 42, "b");
    by_str_add(&str, "\0c", 2);
    assert_int_equal(str.size, 8);
    assert_memory_equal(str.text, "a=42 b\0c", 9);
    by_str_clear(&str);
    assert_string_equal(by_str_text(&str), "");
    by_str_reserve(&str, 5000);
    assert_string_equal(by_str_text(&str), "");
    const char *const place = str.text;
    for (int i = 0; i < 1000; i++)
        by_str_printf(&str, "%03d", i);
    assert_int_equal(str.size, 3000);
    assert_memory_equal(str.text + 2997, "999", 4);
    assert_ptr_equal(str.text, place);
    assert_int_equal(by_str_error(&str, &err), 0);
    by_str_release(&str);
}

static void long_formats_fit(void **state)
{
    (void)state;
    static char text[5000];
    memset(text, 'x', sizeof text - 1);
    struct by_str str;
    by_str_init(&str);
    for (size_t size = 250; size < 260; size++) {
        by_str_clear(&str);
        by_str_printf(&str, "<%.*s>", (int)size, text);
        assert_int_equal(str.size, size + 2);
        assert_int_equal(str.text[size + 1], '>');
    }
    by_str_printf(&str, "%s", text);
    assert_int_equal(str.size, 261 + sizeof text - 1);
    by_str_release(&str);
}

static void a_failure_sticks(void **state)
{
    (void)state;
    struct by_str str;
    by_str_init(&str);
    by_str_puts(&str, "kept");
    by_str_add(&str, "x", SIZE_MAX - 2);
    assert_true(str.failed);
    by_str_puts(&str, "dropped");
    assert_string_equal(by_str_text(&str), "kept");
    assert_int_equal(by_str_error(&str, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
    by_str_release(&str);
}

static void utf8_is_judged(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        bool valid;
    } rows[] = {
        {"", 0, true},
        {"plain\n\0", 7, true},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, true},
        {"\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", 10, true},
        {"\xc3", 1, false},             /* cut off */
        {"\xe2\x82", 2, false},         /* cut off */
        {"\xa9", 1, false},             /* continuation alone */
        {"\xc0\x80", 2, false},         /* overlong */
        {"\xe0\x9f\xbf", 3, false},     /* overlong */
        {"\xf0\x8f\xbf\xbf", 4, false}, /* overlong */
        {"\xed\xa0\x80", 3, false},     /* surrogate */
        {"\xf4\x90\x80\x80", 4, false}, /* beyond U+10FFFF */
        {"\xf8\x88\x80\x80\x80", 5, false},
        {"\xff", 1, false},
        {"\xc3(", 2, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (by_utf8_valid(rows[i].bytes, rows[i].size) != rows[i].valid)
            fail_msg("row %zu", i);
}

static void every_code_point_survives(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char bytes[4];
        uint32_t back = 0;
        size_t size = by_utf8_put(bytes, code);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        assert_int_equal(by_utf8_next((uint8_t *)bytes, size, &back), surrogate ? 0 : size);
        assert_true(surrogate || back == code);
        assert_int_equal(by_utf8_next((uint8_t *)bytes, size - 1, &back), 0);
    }
}

static void integers_are_parsed_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {{"0", 0},
                {"-0", 0},
                {"+7", 7},
                {"0012", 12},
                {"9223372036854775807", INT64_MAX},
                {"-9223372036854775808", INT64_MIN}};
    static const char *const bad[] = {"",
                                      "-",
                                      "+-1",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "0x10",
                                      "1e3",
                                      "1_0",
                                      "٣",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999"};
    int64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(by_parse_i64(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    value = 5;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(by_parse_i64(bad[i], &value));
    assert_int_equal(value, 5);
}

static void doubles_are_parsed_whole(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},        {"1.5", 1.5},
                {"-.25", -0.25}, {"3.", 3},
                {"+1e3", 1000},  {"1E-2", 0.01},
                {"1e-400", 0},   {"5e-324", 0x1p-1074},
                {"0.1", 0.1},    {"1.7976931348623157e308", 0x1.fffffffffffffp1023}};
    static const char *const bad[] = {"",     ".",     "-",     "e5",  "1e",   "1e+",
                                      "1,5",  " 1",    "1 ",    "nan", "inf",  "0x1",
                                      "1.5f", "1e999", "1.2.3", "--1", "1e5.5"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(by_parse_double(good[i].text, &value));
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (by_parse_double(bad[i], &value))
            fail_msg("%s", bad[i]);
}

static void byte_counts_have_units(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"512", 512},
                {"512B", 512},
                {"1k", 1000},
                {"1K", 1000},
                {"2kB", 2000},
                {"3M", 3000000},
                {"1G", 1000000000},
                {"2T", 2000000000000},
                {"1KiB", 1024},
                {"4MiB", 4194304},
                {"1.5GiB", 1610612736},
                {"0.25k", 250},
                {"1TiB", 1099511627776},
                {"18446744073709551615", UINT64_MAX}};
    static const char *const bad[] = {"",    "k",    "-1",  "1.5",       "1.k",
                                      "1 k", "1Ki",  "1kk", "1X",        "1iB",
                                      "1e3", "1KIB", "+1",  "1.5B",      "18446744073709551616",
                                      "1BB", "1kBx", "0x1", "20000000T", "18446744073709551615k"};
    uint64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!by_parse_bytes(good[i].text, &value))
            fail_msg("%s", good[i].text);
        assert_true(value == good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (by_parse_bytes(bad[i], &value))
            fail_msg("%s", bad[i]);
}

static void doubles_are_written_to_be_read_back(void **state)
{
    (void)state;
    char text[BY_DOUBLE_MAX];
    assert_string_equal(by_format_double(text, 0.1), "0.1");
    assert_string_equal(by_format_double(text, 1e300), "1e+300");
    assert_string_equal(by_format_double(text, -3), "-3");
    assert_string_equal(by_format_double(text, 1.0 / 3), "0.3333333333333333");
    assert_string_equal(by_format_double(text, (double)NAN), "nan");
    assert_string_equal(by_format_double(text, (double)-INFINITY), "-inf");
    uint64_t bits = 1;
    for (int i = 0; i < 20000; i++) {
        double value, back;
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        assert_true(by_parse_double(by_format_double(text, value), &back));
        assert_memory_equal(&back, &value, sizeof value);
    }
}

/* A locale with a decimal comma: one of the machine's, or one made here from its sources. */
static bool set_comma_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "pl_PL.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i]))
            return true;
    if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") ||
        setenv("LOCPATH", ".", 1))
        return false;
    return setlocale(LC_ALL, "de_DE.UTF-8");
}

static void a_decimal_comma_changes_nothing(void **state)
{
    (void)state;
    if (!set_comma_locale())
        skip();
    char text[BY_DOUBLE_MAX];
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5");
    double value = 0;
    assert_true(by_parse_double("1.5", &value));
    assert_true(value == 1.5);
    assert_false(by_parse_double("1,5", &value));
    assert_string_equal(by_format_double(text, 1.5), "1.5");
    struct by_str str = {0};
    by_str_printf(&str, "%.2f", 2.25);
    assert_string_equal(by_str_text(&str), "2.25");
    by_str_release(&str);
    by_fail(&err, BARYON_ERR_INPUT, "%g", 0.5);
    assert_string_equal(err.message, "0.5");
    errno = ENOENT;
    by_fail_errno(&err, BARYON_ERR_IO, "x");
    assert_string_equal(err.message, "x: No such file or directory");
    snprintf(text, sizeof text, "%.1f", 1.5);
    assert_string_equal(text, "1,5");
    setlocale(LC_ALL, "C");
}

static void distances_count_slips(void **state)
{
    (void)state;
    char far[66];
    memset(far, 'a', 65);
    far[65] = '\0';
    assert_int_equal(by_edit_distance("", ""), 0);
    assert_int_equal(by_edit_distance("abc", ""), 3);
    assert_int_equal(by_edit_distance("", "abc"), 3);
    assert_int_equal(by_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(by_edit_distance("chekc", "check"), 1);
    assert_int_equal(by_edit_distance("per-chanel", "per-channel"), 1);
    assert_int_equal(by_edit_distance(far, far), UINT_MAX);
    assert_int_equal(by_edit_distance(far + 1, far + 1), 0);
}

static void the_nearest_name_is_near(void **state)
{
    (void)state;
    static const char *const names[] = {"inspect", "copy", "check", "run", "version"};
    assert_string_equal(by_nearest("chekc", names, 5), "check");
    assert_string_equal(by_nearest("inspct", names, 5), "inspect");
    assert_string_equal(by_nearest("cpy", names, 5), "copy");
    assert_string_equal(by_nearest("check", names, 5), "check");
    assert_null(by_nearest("quantize", names, 5));
    assert_null(by_nearest("x", names, 5));
    assert_null(by_nearest("", names, 5));
    assert_null(by_nearest("run", names, 0));
}

static void patterns_match_whole_names(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool match;
    } rows[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "a/b.c", true},
        {"a*", "ba", false},
        {"*conv*", "/model/conv1/w", true},
        {"a*b*c", "aXbYbZc", true},
        {"a*b*c", "aXbYbZ", false},
        {"a?c", "a/c", true},
        {"?", "", false},
        {"?", "\xc3\xa9", true},
        {"??", "\xc3\xa9", false},
        {"[abc]x", "bx", true},
        {"[a-c]x", "dx", false},
        {"[!a-c]x", "dx", true},
        {"[^a]", "a", false},
        {"[]]", "]", true},
        {"[!]]", "]", false},
        {"[a-]", "-", true},
        {"[\xc3\xa0-\xc3\xbf]", "\xc3\xa9", true},
        {"x[0-9]*", "x12", true},
        {"a[b", "a[b", true},
        {"a\\*", "a*", true},
        {"a\\*", "ab", false},
        {"a\\", "a\\", true},
        {"\xff*", "\xff\xfe", true},
        {"*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (by_glob(rows[i].pattern, rows[i].name) != rows[i].match)
            fail_msg("'%s' on '%s'", rows[i].pattern, rows[i].name);
}

struct heard {
    enum by_log_level level;
    char text[2048];
    int count;
};

static void hear(void *context, enum by_log_level level, const char *text)
{
    struct heard *heard = context;
    heard->level = level;
    heard->count++;
    snprintf(heard->text, sizeof heard->text, "%s", text);
}

static void notices_reach_the_caller(void **state)
{
    (void)state;
    struct heard heard = {0};
    struct by_log log = {hear, &heard, BY_LOG_INFO};
    by_log(NULL, BY_LOG_WARNING, "nobody %d", 1);
    by_log(&(struct by_log){0}, BY_LOG_WARNING, "nobody %d", 1);
    by_log(&log, BY_LOG_DEBUG, "too low");
    assert_int_equal(heard.count, 0);
    by_log(&log, BY_LOG_NOTICE, "%s %.1f", "value", 1.5);
    assert_int_equal(heard.count, 1);
    assert_int_equal(heard.level, BY_LOG_NOTICE);
    assert_string_equal(heard.text, "value 1.5");
    by_log(&log, BY_LOG_WARNING, "%2000d", 1);
    assert_int_equal(strlen(heard.text), 1023);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_grow),
        cmocka_unit_test(long_formats_fit),
        cmocka_unit_test(a_failure_sticks),
        cmocka_unit_test(utf8_is_judged),
        cmocka_unit_test(every_code_point_survives),
        cmocka_unit_test(integers_are_parsed_whole),
        cmocka_unit_test(doubles_are_parsed_whole),
        cmocka_unit_test(byte_counts_have_units),
        cmocka_unit_test(doubles_are_written_to_be_read_back),
        cmocka_unit_test_setup_teardown(a_decimal_comma_changes_nothing, scratch_enter,
                                        scratch_leave),
        cmocka_unit_test(distances_count_slips),
        cmocka_unit_test(the_nearest_name_is_near),
        cmocka_unit_test(patterns_match_whole_names),
        cmocka_unit_test(notices_reach_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
