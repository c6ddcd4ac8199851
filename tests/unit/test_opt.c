/* The command line of a command, from its option rows. */
#include "cli/opt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"

struct settings {
    bool json, inner, help;
    int64_t limit, level;
    const char *data, *config;
    struct by_setting_texts names;
    struct by_setting_pairs between;
};

#define AT(member) .offset = offsetof(struct settings, member)

static const struct by_option rows[] = {
    {.name = "json", .type = BY_OPT_FLAG, AT(json), .help = "h"},
    {.name = "inner", .letter = 'i', .type = BY_OPT_FLAG, AT(inner), .help = "h"},
    {.name = "limit",
     .letter = 'l',
     .type = BY_OPT_INT,
     .arg = "N",
     .min = 1,
     .max = 9,
     AT(limit),
     .help = "h"},
    {.name = "level", .type = BY_OPT_INT, .arg = "N", .fallback = "4", AT(level), .help = "h"},
    {.name = "data", .type = BY_OPT_TEXT, .arg = "PATH", AT(data), .help = "h"},
    {.name = "names", .type = BY_OPT_TEXTS, .arg = "A,B", AT(names), .help = "h"},
    {.name = "between", .type = BY_OPT_SPANS, .arg = "START END", AT(between), .help = "h"},
    {.name = "config",
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     .command_line = true,
     AT(config),
     .help = "h"},
    {.name = "help",
     .letter = 'h',
     .type = BY_OPT_FLAG,
     .command_line = true,
     AT(help),
     .help = "h"},
};
static const struct by_option_group group = BY_OPTION_GROUP("All", rows);

static struct by_config config;
static struct settings settings;
static struct by_operands operands;

/* Parses a line of words; the words stay until the next call. */
static int parse(const char *line)
{
    static char copy[512];
    static char *argv[32];
    int argc = 0;
    by_config_release(&config);
    by_config_init(&config);
    assert_int_equal(by_config_bind(&config, &group, &settings, &err), 0);
    by_err_clear(&err);
    snprintf(copy, sizeof copy, "command %s", line);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    return by_opt_parse(&config, argc, argv, &operands, &err);
}

static void options_and_operands_mix(void **state)
{
    (void)state;
    assert_ok(parse("a --json --limit 3 b -i --data=x/y c"));
    assert_true(settings.json && settings.inner);
    assert_int_equal(settings.limit, 3);
    assert_int_equal(settings.level, 4);
    assert_string_equal(settings.data, "x/y");
    assert_int_equal(operands.count, 3);
    assert_string_equal(operands.at[0], "a");
    assert_string_equal(operands.at[2], "c");
    assert_ok(parse("-il5 -"));
    assert_true(settings.inner);
    assert_int_equal(settings.limit, 5);
    assert_string_equal(operands.at[0], "-");
}

static void two_dashes_end_the_options(void **state)
{
    (void)state;
    assert_ok(parse("a -- --json -i --"));
    assert_false(settings.json);
    assert_int_equal(operands.count, 4);
    assert_string_equal(operands.at[1], "--json");
    assert_string_equal(operands.at[3], "--");
}

static void the_last_value_counts_and_lists_collect(void **state)
{
    (void)state;
    assert_ok(parse("--limit 3 --limit 4 --names a,b --names c --json --json=false"));
    assert_int_equal(settings.limit, 4);
    assert_int_equal(settings.names.count, 3);
    assert_string_equal(settings.names.at[2], "c");
    assert_false(settings.json);
}

static void names_may_be_cut(void **state)
{
    (void)state;
    assert_ok(parse("--lim 3 --js"));
    assert_int_equal(settings.limit, 3);
    assert_true(settings.json);
    assert_error(parse("--l 3"), BARYON_ERR_USAGE,
                 "option '--l' is ambiguous: '--limit' or '--level'");
}

static void two_values_behind_one_option(void **state)
{
    (void)state;
    assert_ok(parse("m --between a b x --between --c d"));
    assert_int_equal(settings.between.count, 2);
    assert_string_equal(settings.between.at[0].value, "b");
    assert_string_equal(settings.between.at[1].name, "--c");
    assert_string_equal(settings.between.at[1].value, "d");
    assert_int_equal(operands.count, 2);
    assert_string_equal(operands.at[1], "x");
    assert_error(parse("m --between a"), BARYON_ERR_USAGE,
                 "option '--between' requires two values: START END");
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    assert_error(parse("--limt 3"), BARYON_ERR_USAGE,
                 "unknown option '--limt'; did you mean '--limit'?");
    assert_error(parse("--zebra=3"), BARYON_ERR_USAGE, "unknown option '--zebra'");
    assert_error(parse("-ix"), BARYON_ERR_USAGE, "unknown option '-x'");
    assert_error(parse("--limit"), BARYON_ERR_USAGE, "option '--limit' requires a value: N");
    assert_error(parse("-l"), BARYON_ERR_USAGE, "option '--limit' requires a value: N");
    assert_error(parse("--limit 10"), BARYON_ERR_USAGE,
                 "--limit: '10' is not a whole number from 1 to 9");
    assert_error(parse("--json=maybe"), BARYON_ERR_USAGE, "--json: 'maybe' is not true or false");
}

static void help_stops_the_parsing(void **state)
{
    (void)state;
    assert_ok(parse("--limit x --help --nothing"));
    assert_true(settings.help && operands.stopped);
    assert_ok(parse("--config /nowhere -h"));
    assert_true(operands.stopped);
}

static void files_come_before_flags(void **state)
{
    (void)state;
    put_file("a.yaml", "limit: 2\nnames: [x, y]\njson: true\ndata: from file\n");
    put_file("b.yaml", "limit: 20\n");
    assert_ok(parse("--limit 7 --config a.yaml --names z --json=false"));
    assert_int_equal(settings.limit, 7);
    assert_int_equal(settings.names.count, 1);
    assert_string_equal(settings.data, "from file");
    assert_false(settings.json);
    assert_ok(parse("--config b.yaml --config a.yaml"));
    assert_int_equal(settings.limit, 2);
    assert_true(settings.json);
    assert_error(parse("--config b.yaml"), BARYON_ERR_INPUT,
                 "b.yaml: 1:8: limit: '20' is not a whole number from 1 to 9");
}

static void json_is_seen_before_anything_is_parsed(void **state)
{
    char *with[] = {"c", "x", "--json", "--bad", NULL}, *without[] = {"c", "--", "--json", NULL};
    (void)state;
    assert_true(by_opt_wants_json(4, with));
    assert_false(by_opt_wants_json(3, without));
}

static int leave(void **state)
{
    by_config_release(&config);
    return scratch_leave(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_and_operands_mix),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(the_last_value_counts_and_lists_collect),
        cmocka_unit_test(names_may_be_cut),
        cmocka_unit_test(two_values_behind_one_option),
        cmocka_unit_test(wrong_options_are_refused),
        cmocka_unit_test(help_stops_the_parsing),
        cmocka_unit_test(files_come_before_flags),
        cmocka_unit_test(json_is_seen_before_anything_is_parsed),
    };
    return cmocka_run_group_tests_name("opt", tests, scratch_enter, leave);
}
