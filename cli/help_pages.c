/* The reference in Markdown, and help as JSON. */
#include "cli/help.h"

#include "base/json.h"

static void markdown_facts(struct by_str *str, const char *title, const struct by_help_fact *list)
{
    by_str_printf(str, "\n## %s\n\n| | |\n|---|---|\n", title);
    for (; list->name; list++)
        by_str_printf(str, "| `%s` | %s |\n", list->name, list->text);
}

static void markdown_choices(struct by_str *str, const struct by_option *option)
{
    if (!by_option_has_words(option) || !option->choices->help)
        return;
    for (const struct by_choice *choice = option->choices; choice->name; choice++)
        by_str_printf(str, "<br>`%s`: %s", choice->name, choice->help ? choice->help : "");
}

/* A bar would end the cell of the table. */
static void cell(struct by_str *str, const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            by_str_puts(str, "\\");
        by_str_add(str, text, 1);
    }
}

static void markdown_group(struct by_str *str, const struct by_option_group *group)
{
    size_t count;
    const struct by_option *rows = by_group_rows(group, &count);
    by_str_printf(str, "\n| %s | |\n|---|---|\n", group->title);
    for (size_t i = 0; i < count; i++) {
        char usage[128];
        struct by_str help;
        by_str_init(&help);
        by_option_help(&rows[i], &help);
        by_str_puts(str, "| `");
        cell(str, by_option_usage(&rows[i], usage, sizeof usage));
        by_str_puts(str, "` | ");
        cell(str, by_str_text(&help));
        markdown_choices(str, &rows[i]);
        by_str_puts(str, " |\n");
        by_str_release(&help);
    }
}

static void markdown_command(struct by_str *str, const struct by_command *command)
{
    const struct by_option_group *groups[BY_HELP_GROUPS_MAX];
    size_t count = by_command_groups(command, groups);
    by_str_printf(str, "\n## baryon %s\n\n%s.\n\n    baryon %s ", command->name, command->summary,
                  command->name);
    by_command_usage(command, str);
    by_str_puts(str, "\n\n");
    by_wrap(str, command->text, 0, 0, 100);
    by_str_puts(str, "\n");
    for (size_t i = 0; i + 1 < count; i++)
        markdown_group(str, groups[i]);
    for (const struct by_example *example = command->examples; example && example->text; example++)
        by_str_printf(str, "\n%s:\n\n    %s\n", example->text, example->command);
}

void by_help_markdown(struct by_str *str)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    by_str_puts(str, "# Commands\n\n<!-- Written by `make docs` from the option rows: do not edit. "
                     "-->\n\n");
    by_wrap(str, by_about_text, 0, 0, 100);
    by_str_puts(str, "\n\n| command | |\n|---|---|\n");
    for (size_t i = 0; i < count; i++) {
        char page[64];
        by_str_printf(str, "| [%s](#baryon-%s) | %s |\n", commands[i]->name,
                      by_command_page(commands[i], page, sizeof page), commands[i]->summary);
    }
    by_str_puts(str, "\n## Options\n\n");
    by_wrap(str, by_options_text, 0, 0, 100);
    by_str_puts(str, "\n");
    markdown_group(str, &by_common_group);
    by_str_puts(str, "\n## Configuration files\n\n");
    by_wrap(str, by_config_text, 0, 0, 100);
    by_str_puts(str, "\n");
    markdown_facts(str, "Exit status", by_exit_facts);
    markdown_facts(str, "Environment", by_environment_facts);
    for (size_t i = 0; i < count; i++)
        markdown_command(str, commands[i]);
}

static void json_option(struct by_json *json, const struct by_option *option)
{
    char letter[] = {option->letter, '\0'}, expects[256];
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", option->name);
    if (option->letter)
        by_json_text(json, "letter", letter);
    if (option->arg)
        by_json_text(json, "value", option->arg);
    by_json_text(json, "expects", by_option_expects(option, expects, sizeof expects));
    if (option->fallback)
        by_json_text(json, "default", option->fallback);
    by_json_bool(json, "repeatable", by_option_is_list(option));
    by_json_bool(json, "in_config", !option->command_line && !option->not_in_files);
    by_json_text(json, "help", option->help);
    by_json_close(json, '}');
}

static void json_command(struct by_json *json, const struct by_command *command)
{
    const struct by_option_group *groups[BY_HELP_GROUPS_MAX];
    size_t count = by_command_groups(command, groups);
    by_json_open(json, NULL, '{');
    by_json_text(json, "name", command->name);
    by_json_text(json, "operands", command->operands);
    by_json_text(json, "summary", command->summary);
    by_json_open(json, "options", '[');
    for (size_t i = 0; i < count; i++) {
        size_t row_count;
        const struct by_option *rows = by_group_rows(groups[i], &row_count);
        for (size_t k = 0; k < row_count; k++)
            json_option(json, &rows[k]);
    }
    by_json_close(json, ']');
    by_json_close(json, '}');
}

void by_help_json(struct by_str *str, const struct by_command *command)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    struct by_json json;
    by_json_init(&json, str, false);
    by_json_open(&json, NULL, '{');
    by_json_open(&json, "commands", '[');
    for (size_t i = 0; i < count; i++)
        if (!command || commands[i] == command)
            json_command(&json, commands[i]);
    by_json_close(&json, ']');
    by_json_close(&json, '}');
    by_str_puts(str, "\n");
}
