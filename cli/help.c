/* Writes the help pages of the terminal from the commands and their option rows. */
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

const struct by_help_fact by_exit_facts[] = {
    {"0", "Success."},
    {"1", "A defect in Baryon, or a failure without a status of its own."},
    {"2", "The command line is invalid."},
    {"3", "A file is damaged or invalid, or changed while it was read."},
    {"4", "A file is valid, but Baryon does not support its contents."},
    {"5", "Out of memory or disk space, or an input/output error."},
    {"6", "ONNX Runtime is missing or too old, or rejected the model."},
    {"7", "A goal was missed; the output is saved nevertheless."},
    {"130, 143, 129", "Stopped by SIGINT, SIGTERM or SIGHUP."},
    {0},
};

const struct by_help_fact by_environment_facts[] = {
    {"BARYON_ONNXRUNTIME", "Path of the ONNX Runtime library or of its folder."},
    {"BARYON_OPS", "Path of a library with Quark operators, instead of Baryon's own."},
    {"BARYON_CBLAS", "Path of a CBLAS library for statistics of layers, instead of the system's; "
                     "'own' selects Baryon's loops."},
    {"NO_COLOR", "Disables colours if set to any value."},
    {"CLICOLOR_FORCE", "Enables colours, even without a terminal, if set to any value but 0."},
    {0},
};

const char by_about_text[] = "Baryon is a quantizer for trained models in ONNX format. It also "
                             "inspects, checks, edits, converts, runs and compares models.";

const char by_options_text[] =
    "Options and operands can be given in any order; -- ends the options. Long names can be "
    "abbreviated as long as they are unique. If an option is given twice, the last value counts; "
    "options that take a list collect all values. --FLAG=false overrides true in a configuration "
    "file.\n\n"
    "Results go to standard output, progress and messages to standard error. With --json the "
    "result is one JSON document. A failure is then a JSON object with the member \"error\", in "
    "addition to the message on standard error. MODEL can be - for standard input.";

const char by_config_text[] =
    "A configuration file (--config) is YAML, or JSON if its name ends with .json. It maps long "
    "option names to values; _ can replace - in names. Flags are true or false. Lists are lists, "
    "or texts as on the command line. NAME=VALUE options can be maps. Options on the command line "
    "override the file. Unknown and repeated keys, values of a wrong type or out of range, "
    "anchors, aliases and tags are errors. Paths have the same meaning as on the command line. "
    "Options that name libraries or outputs are errors in a file, as are --force and "
    "--allow-links.";

size_t by_command_groups(const struct by_command *command,
                         const struct by_option_group *groups[BY_HELP_GROUPS_MAX])
{
    size_t count = 0;
    while (count < BY_COMMAND_GROUPS_MAX && command->groups[count].group) {
        groups[count] = command->groups[count].group;
        count++;
    }
    groups[count++] = &by_common_group;
    return count;
}

const char *by_option_usage(const struct by_option *option, char *buf, size_t size)
{
    char letter[8] = "";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(buf, size, "%s--%s%s%s", letter, option->name, option->arg ? " " : "",
             option->arg ? option->arg : "");
    return buf;
}

void by_option_help(const struct by_option *option, struct by_str *str)
{
    char range[256];
    by_str_puts(str, option->help);
    by_option_range(option, range, sizeof range);
    if (*range || option->fallback)
        by_str_printf(str, " (%s%s%s%s)", range, *range && option->fallback ? "; " : "",
                      option->fallback ? "default " : "", option->fallback ? option->fallback : "");
}

const char *by_command_page(const struct by_command *command, char *buf, size_t size)
{
    snprintf(buf, size, "%s", command->name);
    for (char *blank = strchr(buf, ' '); blank; blank = strchr(blank, ' '))
        *blank = '-';
    return buf;
}

void by_command_usage(const struct by_command *command, struct by_str *str)
{
    by_str_puts(str, "[OPTION]...");
    if (*command->operands)
        by_str_printf(str, " %s", command->operands);
}

void by_wrap(struct by_str *str, const char *text, size_t indent, size_t at, size_t width)
{
    bool first = true;
    while (*text) {
        size_t word = strcspn(text, " \n");
        if (!first && (at + 1 + word > width)) {
            by_str_printf(str, "\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        by_str_printf(str, "%s%.*s", first ? "" : " ", (int)word, text);
        at += word + !first;
        first = false;
        text += word;
        if (text[0] == '\n' && text[1] == '\n') {
            by_str_printf(str, "\n\n%*s", (int)indent, "");
            at = indent;
            first = true;
        }
        text += strspn(text, " \n");
    }
}

#define HELP_WIDTH  79
#define HELP_COLUMN 26

static void print_group(struct by_out *out, const struct by_option_group *group)
{
    size_t count;
    const struct by_option *rows = by_group_rows(group, &count);
    by_out_printf(out, BY_BOLD, "\n%s\n", group->title);
    for (size_t i = 0; i < count; i++) {
        const struct by_option *option = &rows[i];
        char usage[128];
        struct by_str help;
        by_str_init(&help);
        by_option_usage(option, usage, sizeof usage);
        by_option_help(option, &help);
        by_out_printf(out, BY_PLAIN, "  %s", option->letter ? "" : "    ");
        by_out_printf(out, BY_CYAN, "%s", usage);
        size_t used = strlen(usage) + (option->letter ? 2 : 6);
        if (used + 2 > HELP_COLUMN) {
            by_str_puts(&out->text, "\n");
            used = 0;
        }
        by_str_printf(&out->text, "%*s", (int)(HELP_COLUMN - used), "");
        by_wrap(&out->text, by_str_text(&help), HELP_COLUMN, HELP_COLUMN, HELP_WIDTH);
        by_str_puts(&out->text, "\n");
        by_str_release(&help);
    }
}

static void print_examples(struct by_out *out, const struct by_command *command)
{
    if (!command->examples)
        return;
    by_out_printf(out, BY_BOLD, "\nExamples\n");
    for (const struct by_example *example = command->examples; example->text; example++) {
        by_str_printf(&out->text, "  %s\n      ", example->command);
        by_wrap(&out->text, example->text, 6, 6, HELP_WIDTH);
        by_str_puts(&out->text, "\n");
    }
}

void by_help_command(struct by_out *out, const struct by_command *command)
{
    const struct by_option_group *groups[BY_HELP_GROUPS_MAX];
    size_t count = by_command_groups(command, groups);
    by_out_printf(out, BY_BOLD, "Usage:");
    by_str_printf(&out->text, " baryon %s ", command->name);
    by_command_usage(command, &out->text);
    by_str_printf(&out->text, "\n\n%s.\n\n", command->summary);
    by_wrap(&out->text, command->text, 0, 0, HELP_WIDTH);
    by_str_puts(&out->text, "\n");
    for (size_t i = 0; i < count; i++)
        print_group(out, groups[i]);
    print_examples(out, command);
}

/* Those whose names begin with prefix. */
static void print_commands(struct by_out *out, const char *prefix)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    for (size_t i = 0; i < count; i++) {
        if (strncmp(commands[i]->name, prefix, strlen(prefix)) != 0)
            continue;
        by_str_puts(&out->text, "  ");
        by_out_printf(out, BY_CYAN, "%s", commands[i]->name);
        by_str_printf(&out->text, "%*s%s\n", (int)(16 - strlen(commands[i]->name)), "",
                      commands[i]->summary);
    }
    by_str_puts(&out->text, "\nRun 'baryon help COMMAND' for the help of a command.\n");
}

void by_help_overview(struct by_out *out)
{
    by_out_printf(out, BY_BOLD, "Usage:");
    by_str_puts(&out->text, " baryon COMMAND [OPTION]... [OPERAND]...\n\n");
    by_wrap(&out->text, by_about_text, 0, 0, HELP_WIDTH);
    by_out_printf(out, BY_BOLD, "\n\nCommands\n");
    print_commands(out, "");
}

void by_help_group(struct by_out *out, const char *group)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "%s ", group);
    by_out_printf(out, BY_BOLD, "Usage:");
    by_str_printf(&out->text, " baryon %sCOMMAND [OPTION]... [OPERAND]...\n", prefix);
    by_out_printf(out, BY_BOLD, "\nCommands\n");
    print_commands(out, prefix);
}
