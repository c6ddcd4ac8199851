/* Options as rows: values of every type, groups, configuration files. */
#include "base/str.h"
#include "config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scratch.h"

static const struct by_choice colours[] = {{"red", 7, "warm"}, {"blue", -2, NULL}, {0}};

struct all {
    bool flag;
    int64_t count, signed_count;
    double number, percent;
    uint64_t bytes;
    const char *text;
    int choice;
    struct by_setting_extent extent;
    struct by_setting_range range;
    struct by_setting_numbers numbers;
    struct by_setting_texts texts;
    struct by_setting_pairs pairs, sizes, spans;
};

#define AT(member) .offset = offsetof(struct all, member)

static const struct by_option rows[] = {
    {.name = "flag", .type = BY_OPT_FLAG, AT(flag), .help = "h"},
    {.name = "count",
     .type = BY_OPT_INT,
     .arg = "N",
     .min = 1,
     .max = 64,
     .fallback = "3",
     AT(count),
     .help = "h"},
    {.name = "signed-count", .type = BY_OPT_INT, .arg = "N", AT(signed_count), .help = "h"},
    {.name = "number",
     .type = BY_OPT_NUMBER,
     .arg = "X",
     .min = 0.5,
     .max = 2.5,
     AT(number),
     .help = "h"},
    {.name = "percent",
     .type = BY_OPT_PERCENT,
     .arg = "P",
     .min = 0,
     .max = 100,
     AT(percent),
     .help = "h"},
    {.name = "bytes",
     .type = BY_OPT_BYTES,
     .arg = "B",
     .min = 1,
     .max = 9.2e18,
     AT(bytes),
     .help = "h"},
    {.name = "text", .type = BY_OPT_TEXT, .arg = "T", AT(text), .help = "h"},
    {.name = "choice",
     .type = BY_OPT_CHOICE,
     .arg = "C",
     .choices = colours,
     AT(choice),
     .help = "h"},
    {.name = "extent",
     .type = BY_OPT_EXTENT,
     .arg = "WxH",
     .min = 1,
     .max = 100,
     AT(extent),
     .help = "h"},
    {.name = "range", .type = BY_OPT_RANGE, .arg = "L:H", AT(range), .help = "h"},
    {.name = "numbers", .type = BY_OPT_NUMBERS, .arg = "X,X", .most = 3, AT(numbers), .help = "h"},
    {.name = "texts", .type = BY_OPT_TEXTS, .arg = "A,B", AT(texts), .help = "h"},
    {.name = "pairs", .type = BY_OPT_PAIRS, .arg = "OLD=NEW", AT(pairs), .help = "h"},
    {.name = "sizes",
     .type = BY_OPT_SIZES,
     .arg = "N=S",
     .min = 1,
     .max = 9.2e18,
     AT(sizes),
     .help = "h"},
    {.name = "spans", .type = BY_OPT_SPANS, .arg = "A B", AT(spans), .help = "h"},
    {.name = "only-here",
     .type = BY_OPT_TEXT,
     .arg = "T",
     .command_line = true,
     AT(text),
     .help = "h"},
};
static const struct by_option_group group = BY_OPTION_GROUP("All", rows);

struct world {
    struct by_config config;
    struct all all;
};

static void begin(struct world *world)
{
    memset(&world->all, 0xa5, sizeof world->all);
    by_config_init(&world->config);
    by_err_clear(&err);
    assert_int_equal(by_config_bind(&world->config, &group, &world->all, &err), 0);
}

static void end(struct world *world)
{
    by_config_release(&world->config);
}

static int set(struct world *world, const char *name, const char *text)
{
    by_err_clear(&err);
    return by_config_set(&world->config, by_config_find(&world->config, name), text, NULL,
                         BY_SOURCE_FLAG, &err);
}

static void refuses(struct world *world, const char *name, const char *text, const char *message)
{
    assert_int_equal(set(world, name, text), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_string_equal(err.message, message);
}

static void binding_sets_defaults(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_false(world.all.flag);
    assert_int_equal(world.all.count, 3);
    assert_int_equal(world.all.signed_count, 0);
    assert_null(world.all.text);
    assert_int_equal(world.all.numbers.count, 0);
    assert_int_equal(by_config_source(&world.config, "count"), BY_SOURCE_DEFAULT);
    assert_false(by_config_given(&world.config, "count"));
    end(&world);
}

static void numbers_are_whole_or_refused(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_int_equal(set(&world, "count", "64"), 0);
    assert_int_equal(world.all.count, 64);
    assert_true(by_config_given(&world.config, "count"));
    refuses(&world, "count", "65", "'65' is not a whole number from 1 to 64");
    refuses(&world, "count", "0", "'0' is not a whole number from 1 to 64");
    refuses(&world, "count", "12x", "'12x' is not a whole number from 1 to 64");
    refuses(&world, "count", "", "'' is not a whole number from 1 to 64");
    refuses(&world, "count", "1e1", "'1e1' is not a whole number from 1 to 64");
    refuses(&world, "signed-count", "9223372036854775808",
            "'9223372036854775808' is not a whole number");
    assert_int_equal(set(&world, "signed-count", "-9223372036854775808"), 0);
    assert_true(world.all.signed_count == INT64_MIN);
    assert_int_equal(set(&world, "number", "2.5"), 0);
    assert_true(world.all.number == 2.5);
    refuses(&world, "number", "2.6", "'2.6' is not a number from 0.5 to 2.5");
    refuses(&world, "number", "1,5", "'1,5' is not a number from 0.5 to 2.5");
    refuses(&world, "number", "nan", "'nan' is not a number from 0.5 to 2.5");
    end(&world);
}

static void units_are_understood(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_int_equal(set(&world, "percent", "5%"), 0);
    assert_true(world.all.percent == 0.05);
    assert_int_equal(set(&world, "percent", "50"), 0);
    assert_true(world.all.percent == 0.5);
    refuses(&world, "percent", "101%", "'101%' is not a percentage from 0 to 100");
    assert_int_equal(set(&world, "bytes", "64MiB"), 0);
    assert_true(world.all.bytes == 64u << 20);
    refuses(&world, "bytes", "12q", "'12q' is not a number of bytes such as 64MiB, at least 1");
    refuses(&world, "bytes", "99999999T",
            "'99999999T' is not a number of bytes such as 64MiB, at least 1");
    end(&world);
}

static void choices_have_values(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_int_equal(set(&world, "choice", "blue"), 0);
    assert_int_equal(world.all.choice, -2);
    refuses(&world, "choice", "bleu", "'bleu' is not one of red, blue");
    assert_string_equal(err.hint, "did you mean 'blue'?");
    refuses(&world, "choice", "Red", "'Red' is not one of red, blue");
    assert_int_equal(set(&world, "flag", NULL), 0);
    assert_true(world.all.flag);
    assert_int_equal(set(&world, "flag", "false"), 0);
    assert_false(world.all.flag);
    refuses(&world, "flag", "yes", "'yes' is not true or false");
    refuses(&world, "text", "", "'' is not a text of at least one character");
    end(&world);
}

static void pairs_of_numbers(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_int_equal(set(&world, "extent", "20x10"), 0);
    assert_int_equal(world.all.extent.width, 20);
    assert_int_equal(world.all.extent.height, 10);
    assert_int_equal(set(&world, "extent", "7"), 0);
    assert_int_equal(world.all.extent.height, 7);
    refuses(&world, "extent", "20x101",
            "'20x101' is not a size WIDTHxHEIGHT or one number for both, from 1 to 100");
    assert_int_equal(set(&world, "range", "-3:9"), 0);
    assert_true(world.all.range.set && world.all.range.low == -3 && world.all.range.high == 9);
    refuses(&world, "range", "9:3", "'9:3' is not a range LOW:HIGH of whole numbers");
    refuses(&world, "range", "9", "'9' is not a range LOW:HIGH of whole numbers");
    end(&world);
}

static void lists_collect(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_int_equal(set(&world, "numbers", "0.25,-1e3"), 0);
    assert_int_equal(set(&world, "numbers", "4"), 0);
    assert_int_equal(world.all.numbers.count, 3);
    assert_true(world.all.numbers.at[1] == -1000 && world.all.numbers.at[2] == 4);
    refuses(&world, "numbers", "5", "'5' is not a list of numbers separated by commas, at most 3");
    refuses(&world, "texts", "a,,b", "'a,,b' is not a list of names separated by commas");
    assert_int_equal(set(&world, "pairs", "a=b=c"), 0);
    assert_string_equal(world.all.pairs.at[0].name, "a=b");
    assert_string_equal(world.all.pairs.at[0].value, "c");
    refuses(&world, "pairs", "a", "'a' is not a pair OLD=NEW");
    refuses(&world, "pairs", "=a", "'=a' is not a pair OLD=NEW");
    assert_int_equal(set(&world, "sizes", "x:0=12"), 0);
    assert_string_equal(world.all.sizes.at[0].name, "x:0");
    assert_int_equal(world.all.sizes.at[0].size, 12);
    refuses(&world, "sizes", "N=0", "'N=0' is not NAME=SIZE with a whole number, at least 1");
    end(&world);
}

static void load(struct world *world, const char *name, const char *text, int expected)
{
    put_file(name, text);
    by_err_clear(&err);
    assert_int_equal(by_config_load(&world->config, name, &err), expected);
}

static void a_file_sets_what_flags_did_not(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_int_equal(set(&world, "count", "9"), 0);
    assert_int_equal(set(&world, "texts", "flag"), 0);
    load(&world, "a.yaml",
         "count: 5\nsigned_count: -5\nflag: true\ntexts: [a, b]\nnumbers: [1, 2.5]\n"
         "pairs: {x: y, u: v}\nsizes: {N: 4}\nspans: [s, e]\nextent: 3x4\nchoice: red\n"
         "text: no\nbytes: 1KiB\n",
         0);
    assert_int_equal(world.all.count, 9);
    assert_int_equal(world.all.signed_count, -5);
    assert_true(world.all.flag);
    assert_int_equal(world.all.texts.count, 1);
    assert_string_equal(world.all.texts.at[0], "flag");
    assert_int_equal(world.all.numbers.count, 2);
    assert_int_equal(world.all.pairs.count, 2);
    assert_string_equal(world.all.pairs.at[1].value, "v");
    assert_int_equal(world.all.sizes.at[0].size, 4);
    assert_string_equal(world.all.spans.at[0].value, "e");
    assert_int_equal(world.all.extent.height, 4);
    assert_int_equal(world.all.choice, 7);
    assert_string_equal(world.all.text, "no");
    assert_int_equal(by_config_source(&world.config, "bytes"), BY_SOURCE_FILE);
    assert_int_equal(set(&world, "numbers", "7"), 0);
    assert_int_equal(world.all.numbers.count, 1);
    end(&world);
}

static void json_says_the_same(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    load(&world, "a.json",
         "{\"count\": 5, \"choice\": \"blue\", \"spans\": [[\"a\", \"b\"], [\"c\", \"d\"]]}", 0);
    assert_int_equal(world.all.count, 5);
    assert_int_equal(world.all.choice, -2);
    assert_int_equal(world.all.spans.count, 2);
    load(&world, "empty.yaml", "", 0);
    end(&world);
}

static void files_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *text, *place, *message, *hint;
    } cases[] = {
        {"a: 1\n", "1:1", "unknown key 'a'", ""},
        {"flag: true\nnumbres: 1\n", "2:1", "unknown key 'numbres'", "did you mean 'numbers'?"},
        {"only-here: x\n", "1:1", "unknown key 'only-here'", ""},
        {"signed-count: 1\nsigned_count: 2\n", "2:1", "'signed-count' is given twice", ""},
        {"flag: no\n", "1:7: flag", "'no' is not true or false", ""},
        {"count: 65\n", "1:8: count", "'65' is not a whole number from 1 to 64", ""},
        {"count: '6'\n", "1:8: count", "the quoted text '6' is not a whole number from 1 to 64",
         ""},
        {"count: [6]\n", "1:8: count", "a list is not a whole number from 1 to 64", ""},
        {"count:\n", NULL, "an empty value is not a whole number from 1 to 64", ""},
        {"count: {a: 1}\n", NULL, "a map is not a whole number from 1 to 64", ""},
        {"numbers: [[1]]\n", NULL, "a list is not a list of numbers separated by commas, at most 3",
         ""},
        {"pairs: {a: [1]}\n", NULL, "a list is not a pair OLD=NEW", ""},
        {"spans: a\n", NULL, "a single value is not two values A B", ""},
        {"spans: [a, b, c]\n", NULL, "a single value is not two values A B", ""},
        {"choice: bleu\n", "1:9: choice", "'bleu' is not one of red, blue", "did you mean 'blue'?"},
        {"[1, 2]\n", "1:1", "a configuration file must be a map of option names to values", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct world world;
        begin(&world);
        load(&world, "bad.yaml", cases[i].text, -1);
        assert_int_equal(err.code, BARYON_ERR_INPUT);
        assert_string_equal(err.message, cases[i].message);
        assert_string_equal(err.hint, cases[i].hint);
        if (cases[i].place)
            assert_string_equal(err.place, cases[i].place);
        end(&world);
    }
}

static void names_are_found_in_both_spellings(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_ptr_equal(by_config_find(&world.config, "signed_count"),
                     by_config_find(&world.config, "signed-count"));
    assert_null(by_config_find(&world.config, "signed"));
    assert_null(by_config_find(&world.config, "signed-counts"));
    assert_string_equal(by_config_nearest(&world.config, "singed_count", BY_SOURCE_FILE),
                        "signed-count");
    assert_null(by_config_nearest(&world.config, "only-her", BY_SOURCE_FILE));
    assert_string_equal(by_config_nearest(&world.config, "only-her", BY_SOURCE_FLAG), "only-here");
    end(&world);
}

static void defects_of_the_program_are_told(void **state)
{
    static const struct by_option other = {.name = "other", .type = BY_OPT_FLAG, .help = "h"};
    static const struct by_option bad[] = {
        {.name = "bad", .type = BY_OPT_INT, .arg = "N", .max = 3, .fallback = "4", .help = "h"}};
    static const struct by_option_group bad_group = BY_OPTION_GROUP("Bad", bad);
    struct world world;
    (void)state;
    begin(&world);
    assert_error(by_config_set(&world.config, &other, "true", NULL, BY_SOURCE_FLAG, &err),
                 BARYON_ERR_INTERNAL, "option 'other' is not bound");
    assert_error(by_config_bind(&world.config, &bad_group, &world.all, &err), BARYON_ERR_USAGE,
                 "default of bad: '4' is not a whole number from 0 to 3");
    for (int i = 2; i < BY_CONFIG_GROUPS_MAX; i++)
        assert_ok(by_config_bind(&world.config, &group, &world.all, &err));
    assert_error(by_config_bind(&world.config, &group, &world.all, &err), BARYON_ERR_INTERNAL,
                 "more than 20 groups of options");
    end(&world);
}

static void words_for_what_is_expected(void **state)
{
    char text[256];
    (void)state;
    assert_string_equal(by_option_range(&rows[1], text, sizeof text), "from 1 to 64");
    assert_string_equal(by_option_range(&rows[5], text, sizeof text), "at least 1");
    assert_string_equal(by_option_range(&rows[7], text, sizeof text), "red, blue");
    assert_string_equal(by_option_range(&rows[10], text, sizeof text), "at most 3");
    assert_string_equal(by_option_range(&rows[0], text, sizeof text), "");
    assert_int_equal(by_option_arguments(&rows[0]), 0);
    assert_int_equal(by_option_arguments(&rows[14]), 2);
    assert_true(by_option_is_list(&rows[11]));
    assert_false(by_option_is_list(&rows[6]));
}

/* What is written reads back as the same settings. */
static void settings_are_written_and_read_back(void **state)
{
    struct world world, again;
    struct by_str text, second;
    (void)state;
    begin(&world);
    const char *const values[][2] = {
        {"flag", "true"},       {"count", "7"},        {"signed-count", "-3"},
        {"number", "1.25"},     {"percent", "12.5"},   {"bytes", "64KiB"},
        {"text", "a \"b\" #c"}, {"choice", "blue"},    {"extent", "3x4"},
        {"range", "-5:9"},      {"numbers", "0.1,2"},  {"texts", "x: y,re:a,b"},
        {"pairs", "a=b"},       {"sizes", "batch=12"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_int_equal(set(&world, values[i][0], values[i][1]), 0);
    assert_int_equal(by_config_set(&world.config, by_config_find(&world.config, "spans"), "s", "e",
                                   BY_SOURCE_FLAG, &err),
                     0);
    by_str_init(&text);
    by_config_write(&world.config, &group, NULL, NULL, &text);
    put_file("all.yaml", by_str_text(&text));
    begin(&again);
    assert_int_equal(by_config_load(&again.config, "all.yaml", &err), 0);
    assert_int_equal(again.all.texts.count, 2);
    assert_string_equal(again.all.texts.at[1], "re:a,b");
    assert_string_equal(again.all.text, "a \"b\" #c");
    by_str_init(&second);
    by_config_write(&again.config, &group, NULL, NULL, &second);
    assert_string_equal(by_str_text(&second), by_str_text(&text));
    by_str_release(&text);
    by_str_release(&second);
    end(&again);
    end(&world);
}

static void a_preset_stands_between_default_and_file(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    const struct by_option *count = by_config_find(&world.config, "count");
    const struct by_option *texts = by_config_find(&world.config, "texts");
    assert_int_equal(by_config_set(&world.config, count, "5", NULL, BY_SOURCE_PRESET, &err), 0);
    assert_int_equal(world.all.count, 5);
    assert_false(by_config_given(&world.config, "count"));
    assert_int_equal(by_config_set(&world.config, texts, "p", NULL, BY_SOURCE_PRESET, &err), 0);
    assert_int_equal(by_config_set(&world.config, texts, "f", NULL, BY_SOURCE_FILE, &err), 0);
    assert_int_equal(by_config_set(&world.config, texts, "q", NULL, BY_SOURCE_PRESET, &err), 0);
    assert_int_equal(world.all.texts.count, 1);
    assert_string_equal(world.all.texts.at[0], "f");
    assert_true(by_config_given(&world.config, "texts"));
    end(&world);
}

static void an_expression_ends_a_list(void **state)
{
    struct world world;
    (void)state;
    begin(&world);
    assert_int_equal(set(&world, "texts", "a,re:b{1,2}"), 0);
    assert_int_equal(world.all.texts.count, 2);
    assert_string_equal(world.all.texts.at[1], "re:b{1,2}");
    assert_int_equal(set(&world, "texts", "^/x/.*{1,2}"), 0);
    assert_string_equal(world.all.texts.at[2], "^/x/.*{1,2}");
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binding_sets_defaults),
        cmocka_unit_test(numbers_are_whole_or_refused),
        cmocka_unit_test(units_are_understood),
        cmocka_unit_test(choices_have_values),
        cmocka_unit_test(pairs_of_numbers),
        cmocka_unit_test(lists_collect),
        cmocka_unit_test(a_file_sets_what_flags_did_not),
        cmocka_unit_test(json_says_the_same),
        cmocka_unit_test(files_are_refused_with_their_place),
        cmocka_unit_test(names_are_found_in_both_spellings),
        cmocka_unit_test(defects_of_the_program_are_told),
        cmocka_unit_test(words_for_what_is_expected),
        cmocka_unit_test(settings_are_written_and_read_back),
        cmocka_unit_test(a_preset_stands_between_default_and_file),
        cmocka_unit_test(an_expression_ends_a_list),
    };
    return cmocka_run_group_tests_name("config", tests, scratch_enter, scratch_leave);
}
