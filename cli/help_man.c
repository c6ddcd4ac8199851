/* Writes the help of a command as a manual page in roff. */
#include "base/text.h"
#include "cli/help.h"

#include <ctype.h>
#include <stdio.h>

#define PAGE_ROOM 80

/* Text with what roff would take for its own escaped. */
static void roff(struct by_str *str, const char *text)
{
    bool line_start = true;
    for (; *text; text++) {
        if (line_start && (*text == '.' || *text == '\''))
            by_str_puts(str, "\\&");
        if (*text == '\\')
            by_str_puts(str, "\\e");
        else if (*text == '-')
            by_str_puts(str, "\\-");
        else if (text[0] == '\n' && text[1] == '\n') {
            by_str_puts(str, "\n.PP");
            continue;
        } else
            by_str_add(str, text, 1);
        line_start = *text == '\n';
    }
}

static void section(struct by_str *str, const char *title)
{
    by_str_printf(str, ".SH %s\n", title);
}

static void paragraph(struct by_str *str, const char *text)
{
    roff(str, text);
    by_str_puts(str, "\n");
}

static void header(struct by_str *str, const char *page)
{
    by_str_puts(str, ".\\\" Written by `make docs` from the option rows: do not edit.\n.TH ");
    for (; *page; page++)
        by_str_printf(str, *page == '-' ? "\\-" : "%c", toupper((unsigned char)*page));
    by_str_printf(str, " 1 \"\" \"Baryon %d.%d.%d\" \"Baryon Manual\"\n.nh\n.ad l\n",
                  BARYON_VERSION_MAJOR, BARYON_VERSION_MINOR, BARYON_VERSION_PATCH);
}

static void facts(struct by_str *str, const char *title, const struct by_help_fact *list)
{
    section(str, title);
    for (; list->name; list++) {
        by_str_puts(str, ".TP\n.B ");
        paragraph(str, list->name);
        paragraph(str, list->text);
    }
}

static void choices(struct by_str *str, const struct by_option *option)
{
    if (!by_option_has_words(option) || !option->choices->help)
        return;
    by_str_puts(str, ".RS\n");
    for (const struct by_choice *choice = option->choices; choice->name; choice++) {
        by_str_puts(str, ".TP\n.B ");
        paragraph(str, choice->name);
        paragraph(str, choice->help ? choice->help : "");
    }
    by_str_puts(str, ".RE\n");
}

static void print_group(struct by_str *str, const struct by_option_group *group)
{
    size_t count;
    const struct by_option *rows = by_group_rows(group, &count);
    by_str_printf(str, ".SS %s\n", group->title);
    for (size_t i = 0; i < count; i++) {
        const struct by_option *option = &rows[i];
        struct by_str help;
        by_str_puts(str, ".TP\n");
        if (option->letter)
            by_str_printf(str, "\\fB\\-%c\\fR, ", option->letter);
        by_str_puts(str, "\\fB\\-\\-");
        roff(str, option->name);
        by_str_puts(str, "\\fR");
        if (option->arg) {
            by_str_puts(str, " \\fI");
            roff(str, option->arg);
            by_str_puts(str, "\\fR");
        }
        by_str_puts(str, "\n");
        by_str_init(&help);
        by_option_help(option, &help);
        by_str_puts(&help, ".");
        paragraph(str, by_str_text(&help));
        by_str_release(&help);
        choices(str, option);
    }
}

static void examples(struct by_str *str, const struct by_example *list)
{
    if (!list)
        return;
    section(str, "EXAMPLES");
    for (; list->text; list++) {
        by_str_puts(str, ".TP\n.B ");
        paragraph(str, list->command);
        paragraph(str, list->text);
    }
}

/* "llm\-inspect" */
static const char *man_name(const struct by_command *command, char page[PAGE_ROOM])
{
    struct by_text text;
    by_text_init(&text, page, PAGE_ROOM);
    for (const char *c = command->name; *c; c++)
        by_text_add(&text, *c == ' ' ? "\\-" : "%c", *c);
    return page;
}

static void see_also(struct by_str *str, const struct by_command *except)
{
    char page[PAGE_ROOM];
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    section(str, "SEE ALSO");
    if (except)
        by_str_puts(str, ".BR baryon (1)");
    for (size_t i = 0; i < count; i++) {
        if (commands[i] == except)
            continue;
        by_str_printf(str, "%s.BR baryon\\-%s (1)", i || except ? ",\n" : "",
                      man_name(commands[i], page));
    }
    by_str_puts(str, "\n");
}

static void command_page(struct by_str *str, const struct by_command *command)
{
    const struct by_option_group *groups[BY_HELP_GROUPS_MAX];
    size_t count = by_command_groups(command, groups);
    char page[PAGE_ROOM], name[PAGE_ROOM];
    struct by_str usage;
    snprintf(page, sizeof page, "baryon-%s", by_command_page(command, name, sizeof name));
    header(str, page);
    section(str, "NAME");
    by_str_printf(str, "baryon\\-%s \\- %c", man_name(command, page),
                  tolower((unsigned char)command->summary[0]));
    paragraph(str, command->summary + 1);
    section(str, "SYNOPSIS");
    by_str_init(&usage);
    by_command_usage(command, &usage);
    by_str_printf(str, "\\fBbaryon %s\\fR ", command->name);
    paragraph(str, by_str_text(&usage));
    by_str_release(&usage);
    section(str, "DESCRIPTION");
    paragraph(str, command->text);
    section(str, "OPTIONS");
    for (size_t i = 0; i < count; i++)
        print_group(str, groups[i]);
    examples(str, command->examples);
    see_also(str, command);
}

static void main_page(struct by_str *str)
{
    char page[PAGE_ROOM];
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    header(str, "baryon");
    section(str, "NAME");
    by_str_puts(str, "baryon \\- a quantizer for trained models\n");
    section(str, "SYNOPSIS");
    by_str_puts(str, "\\fBbaryon\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIOPERAND\\fR]...\n");
    section(str, "DESCRIPTION");
    paragraph(str, by_about_text);
    section(str, "COMMANDS");
    for (size_t i = 0; i < count; i++) {
        by_str_printf(str, ".TP\n.BR baryon\\-%s (1)\n", man_name(commands[i], page));
        by_str_printf(str, "%s.\n", commands[i]->summary);
    }
    section(str, "OPTIONS");
    paragraph(str, by_options_text);
    section(str, "CONFIGURATION");
    paragraph(str, by_config_text);
    facts(str, "EXIT STATUS", by_exit_facts);
    facts(str, "ENVIRONMENT", by_environment_facts);
    see_also(str, NULL);
}

void by_help_man(struct by_str *str, const struct by_command *command)
{
    if (command)
        command_page(str, command);
    else
        main_page(str);
}
