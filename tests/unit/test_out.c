/* Tables, numbers and cleaned text on standard output. */
#include "cli/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

static struct by_out plain(unsigned columns)
{
    struct by_out out = {.columns = columns};
    by_str_init(&out.text);
    return out;
}

static void two_columns(struct by_table *table, struct by_out *out)
{
    by_table_init(table, out);
    by_table_column(table, "name", BY_LEFT, BY_PLAIN);
    by_table_flexible(table);
    by_table_column(table, "n", BY_RIGHT, BY_PLAIN);
}

static void columns_are_as_wide_as_their_cells(void **state)
{
    struct by_out out = plain(0);
    struct by_table table;
    (void)state;
    two_columns(&table, &out);
    by_table_cell(&table, "a");
    by_table_count(&table, 1234567);
    by_table_cell(&table, "l\u00e4nger");
    by_table_bytes(&table, 12);
    assert_int_equal(by_table_print(&table, 2, &err), 0);
    assert_string_equal(by_str_text(&out.text), "  name            n\n"
                                                "  a       1,234,567\n"
                                                "  l\u00e4nger       12 B\n");
    by_out_release(&out);
}

static void blanks_at_the_end_go(void **state)
{
    struct by_out out = plain(0);
    struct by_table table;
    (void)state;
    by_table_init(&table, &out);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_column(&table, "", BY_LEFT, BY_PLAIN);
    by_table_cell(&table, "abc");
    by_table_cell(&table, "%s", "");
    by_table_cell(&table, "a");
    by_table_cell(&table, "b");
    assert_int_equal(by_table_print(&table, 0, &err), 0);
    assert_string_equal(by_str_text(&out.text), "abc\na    b\n");
    by_out_release(&out);
}

static void narrow_terminals_shorten_names(void **state)
{
    struct by_out out = plain(24);
    struct by_table table;
    (void)state;
    two_columns(&table, &out);
    by_table_cell(&table, "abcdefghijklmnopqrstuvwxyz");
    by_table_count(&table, 42);
    assert_int_equal(by_table_print(&table, 0, &err), 0);
    assert_string_equal(by_str_text(&out.text), "name                   n\n"
                                                "abcd..mnopqrstuvwxyz  42\n");
    by_out_release(&out);
    out = plain(24);
    out.utf8 = true;
    two_columns(&table, &out);
    by_table_cell(&table, "abcdefghijklm\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6");
    by_table_count(&table, 100000);
    assert_int_equal(by_table_print(&table, 0, &err), 0);
    assert_string_equal(by_str_text(&out.text), "name                   n\n"
                                                "abc\u2026jklm\u00f6\u00f6\u00f6\u00f6\u00f6\u00f6"
                                                "\u00f6  100,000\n");
    by_out_release(&out);
}

static void styles_only_with_colour(void **state)
{
    struct by_out out = plain(0);
    (void)state;
    by_out_printf(&out, BY_RED, "x");
    out.color = true;
    by_out_printf(&out, BY_RED, "y");
    by_out_printf(&out, BY_PLAIN, "z");
    assert_string_equal(by_str_text(&out.text), "x\033[31my\033[0mz");
    by_out_release(&out);
}

static void control_bytes_do_not_reach_the_terminal(void **state)
{
    struct by_str str;
    (void)state;
    by_str_init(&str);
    by_clean(&str, "a\033[2Jb\tc\x7f\xc2\x9b\xff \u00e9\u4e2d");
    assert_string_equal(by_str_text(&str), "a\\x1b[2Jb\\x09c\\x7f\\xc2\\x9b\\xff \u00e9\u4e2d");
    by_str_clear(&str);
    by_clean_bytes(&str, "\xe4\xb8", 2);
    assert_string_equal(by_str_text(&str), "\\xe4\\xb8");
    by_str_clear(&str);
    by_clean(&str, "turns \u202e round, \u200b hides");
    assert_string_equal(by_str_text(&str), "turns \\xe2\\x80\\xae round, \\xe2\\x80\\x8b hides");
    by_str_clear(&str);
    char longer[1000];
    memset(longer, 'a', sizeof longer);
    longer[255] = '\033';
    by_clean_bytes(&str, longer, sizeof longer);
    assert_int_equal(str.size, sizeof longer + 3);
    assert_memory_equal(by_str_text(&str) + 254, "a\\x1ba", 6);
    by_str_release(&str);
}

static void numbers_for_people(void **state)
{
    char text[32];
    (void)state;
    assert_string_equal(by_count_text(0, text, sizeof text), "0");
    assert_string_equal(by_count_text(999, text, sizeof text), "999");
    assert_string_equal(by_count_text(1000, text, sizeof text), "1,000");
    assert_string_equal(by_count_text(UINT64_MAX, text, sizeof text), "18,446,744,073,709,551,615");
    struct by_str str;
    by_str_init(&str);
    by_plural(&str, 1, "node");
    by_plural(&str, 2000, " edge");
    assert_string_equal(by_str_text(&str), "1 node2,000  edges");
    by_str_release(&str);
    assert_string_equal(by_bytes_text(1023, text, sizeof text), "1023 B");
    assert_string_equal(by_bytes_text(1024, text, sizeof text), "1.0 KiB");
    assert_string_equal(by_bytes_text((1u << 20) - 1, text, sizeof text), "1.0 MiB");
    assert_string_equal(by_bytes_text(UINT64_MAX, text, sizeof text), "16.0 EiB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_cells),
        cmocka_unit_test(blanks_at_the_end_go),
        cmocka_unit_test(narrow_terminals_shorten_names),
        cmocka_unit_test(styles_only_with_colour),
        cmocka_unit_test(control_bytes_do_not_reach_the_terminal),
        cmocka_unit_test(numbers_for_people),
    };
    return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
