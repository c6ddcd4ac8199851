/* What has to hold for every command and every option, whoever adds one. */
#include "api/registry.h"
#include "cli/cmd.h"
#include "cli/help.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct baryon_error err;

/* Calls `visit` for each option of each command, with a config bound as the program does. */
static void each_option(void (*visit)(const struct by_command *, struct by_config *,
                                      const struct by_option *))
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    for (size_t i = 0; i < count; i++) {
        const struct by_option_group *groups[BY_HELP_GROUPS_MAX];
        size_t group_count = by_command_groups(commands[i], groups);
        for (size_t g = 0; g < group_count; g++) {
            size_t row_count;
            const struct by_option *rows = by_group_rows(groups[g], &row_count);
            for (size_t k = 0; k < row_count; k++) {
                struct by_config config;
                struct by_common common;
                void *settings = by_alloc_zero(1, commands[i]->settings_size, &err);
                by_config_init(&config);
                assert_int_equal(by_command_bind(&config, commands[i], &common, settings, &err), 0);
                visit(commands[i], &config, &rows[k]);
                by_config_release(&config);
                by_free(settings);
            }
        }
    }
}

static bool is_sentence(const char *text)
{
    size_t length = strlen(text);
    return length > 3 && isupper((unsigned char)text[0]) && text[length - 1] != '.' &&
           text[length - 1] != ' ';
}

static void commands_explain_themselves(void **state)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        const struct by_command *command = commands[i];
        assert_ptr_equal(by_command_find(command->name), command);
        assert_true(is_sentence(command->summary));
        assert_true(strlen(command->summary) <= 64);
        assert_true(command->text[strlen(command->text) - 1] == '.');
        assert_true(command->min_operands <= command->max_operands);
        assert_true((command->max_operands > 0) == (*command->operands != '\0'));
        assert_non_null(command->examples);
        assert_non_null(command->run);
        char start[64];
        snprintf(start, sizeof start, "baryon %s", command->name);
        for (const struct by_example *example = command->examples; example->text; example++)
            assert_non_null(strstr(example->command, start));
    }
    assert_null(by_command_find("inspec"));
}

static void row_is_complete(const struct by_command *command, struct by_config *config,
                            const struct by_option *option)
{
    (void)command;
    assert_ptr_equal(by_config_find(config, option->name), option);
    assert_true(is_sentence(option->help));
    assert_true((option->arg != NULL) == (by_option_arguments(option) > 0));
    assert_true(by_option_has_words(option) == (option->choices != NULL));
    for (const char *c = option->name; *c; c++)
        assert_true(islower((unsigned char)*c) ||
                    (c > option->name && (isdigit((unsigned char)*c) || *c == '-')));
    assert_null(strstr(option->help, "  "));
}

static void letter_is_unique(const struct by_command *command, struct by_config *config,
                             const struct by_option *option)
{
    size_t same = 0;
    (void)command;
    for (size_t i = 0; option->letter && i < config->count; i++)
        for (size_t k = 0; k < config->bindings[i].count; k++)
            same += config->bindings[i].rows[k].letter == option->letter;
    assert_true(same == (option->letter != 0));
}

static int set(struct by_config *config, const struct by_option *option, const char *text)
{
    by_err_clear(&err);
    return by_config_set(config, option, text, NULL, BY_SOURCE_FLAG, &err);
}

static void refused(struct by_config *config, const struct by_option *option, const char *text)
{
    char expects[256];
    assert_int_equal(set(config, option, text), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_non_null(strstr(err.message, by_option_expects(option, expects, sizeof expects)));
}

static void range_is_kept(const struct by_command *command, struct by_config *config,
                          const struct by_option *option)
{
    char text[64];
    (void)command;
    if (option->type == BY_OPT_INT || option->type == BY_OPT_BYTES) {
        refused(config, option, "1x");
        refused(config, option, "");
        refused(config, option, "99999999999999999999999");
    }
    if (option->type == BY_OPT_INT && option->max > 0) {
        snprintf(text, sizeof text, "%.0f", option->min);
        assert_int_equal(set(config, option, text), 0);
        snprintf(text, sizeof text, "%.0f", option->min - 1);
        refused(config, option, text);
        if (option->max < 1e15) {
            snprintf(text, sizeof text, "%.0f", option->max);
            assert_int_equal(set(config, option, text), 0);
            snprintf(text, sizeof text, "%.0f", option->max + 1);
            refused(config, option, text);
        }
    }
    if (option->type == BY_OPT_CHOICE) {
        for (const struct by_choice *choice = option->choices; choice->name; choice++)
            assert_int_equal(set(config, option, choice->name), 0);
        refused(config, option, "no such choice");
    }
    if (option->type == BY_OPT_FLAG)
        refused(config, option, "1");
    if (option->type == BY_OPT_PAIRS || option->type == BY_OPT_SIZES)
        refused(config, option, "no pair");
}

static void help_names(const struct by_command *command, struct by_config *config,
                       const struct by_option *option)
{
    char name[80];
    struct by_str man;
    struct by_out out = {.color = false};
    (void)config;
    by_str_init(&out.text);
    by_str_init(&man);
    snprintf(name, sizeof name, "--%s", option->name);
    by_help_command(&out, command);
    assert_non_null(strstr(by_str_text(&out.text), name));
    by_help_man(&man, command);
    size_t used = 0;
    for (const char *c = option->name; *c; c++)
        used += (size_t)snprintf(name + used, sizeof name - used, *c == '-' ? "\\-" : "%c", *c);
    assert_non_null(strstr(by_str_text(&man), name));
    by_str_release(&man);
    by_str_release(&out.text);
}

static void every_row_is_complete(void **state)
{
    (void)state;
    each_option(row_is_complete);
}

static void letters_are_unique(void **state)
{
    (void)state;
    each_option(letter_is_unique);
}

static void every_range_is_kept(void **state)
{
    (void)state;
    each_option(range_is_kept);
}

static void every_option_is_in_help_and_manual(void **state)
{
    (void)state;
    each_option(help_names);
}

static void help_fits_eighty_columns(void **state)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        struct by_out out = {.color = false};
        by_str_init(&out.text);
        by_help_command(&out, commands[i]);
        for (const char *line = by_str_text(&out.text); *line;) {
            size_t length = strcspn(line, "\n");
            if (by_text_width(line, length) > 80)
                fail_msg("%.*s", (int)length, line);
            line += length + 1;
        }
        by_str_release(&out.text);
    }
}

static void lists_have_rows_with_texts(void **state)
{
    size_t count;
    const struct by_registry *registries = by_registries(&count);
    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(by_registry_find(registries[i].name), &registries[i]);
        assert_true(registries[i].count() > 0);
        for (size_t k = 0; k < registries[i].count(); k++) {
            struct by_registry_row row = {.name = NULL};
            registries[i].row(k, &row);
            assert_true(row.name && *row.name);
            assert_true(row.help && *row.help);
        }
    }
    assert_null(by_registry_find("nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands_explain_themselves),
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(letters_are_unique),
        cmocka_unit_test(every_range_is_kept),
        cmocka_unit_test(every_option_is_in_help_and_manual),
        cmocka_unit_test(help_fits_eighty_columns),
        cmocka_unit_test(lists_have_rows_with_texts),
    };
    return cmocka_run_group_tests_name("commands", tests, NULL, NULL);
}
