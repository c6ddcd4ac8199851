/* baryon help: all pages that are made from the option rows. */
#include "cli/cmd.h"
#include "cli/help.h"

#include <stdio.h>
#include <string.h>

enum format { SCREEN, MAN, MARKDOWN, BASH, ZSH, FISH };

struct settings {
    int format;
};

static int needs_all(const struct by_cli *cli, const char *format, struct baryon_error *err)
{
    if (!cli->operand_count)
        return 0;
    return by_fail(err, BARYON_ERR_USAGE,
                   "--format %s covers all commands, COMMAND is not valid with it", format);
}

static int write_page(struct by_cli *cli, enum format format, const struct by_command *command,
                      struct baryon_error *err)
{
    struct by_str *text = &cli->out.text;
    switch (format) {
    case MAN:
        by_help_man(text, command);
        return 0;
    case MARKDOWN:
        by_help_markdown(text);
        return needs_all(cli, "markdown", err);
    case BASH:
        by_help_bash(text);
        return needs_all(cli, "bash", err);
    case ZSH:
        by_help_zsh(text);
        return needs_all(cli, "zsh", err);
    case FISH:
        by_help_fish(text);
        return needs_all(cli, "fish", err);
    case SCREEN:
        break;
    }
    if (command)
        by_help_command(&cli->out, command);
    else
        by_help_overview(&cli->out);
    return 0;
}

static int run_help(struct by_cli *cli, const void *data, struct baryon_error *err)
{
    const struct settings *settings = data;
    const struct by_command *command = NULL;
    char name[64] = "";
    for (size_t i = 0; i < cli->operand_count; i++)
        snprintf(name + strlen(name), sizeof name - strlen(name), "%s%s", i ? " " : "",
                 cli->operands[i]);
    if (cli->operand_count && !(command = by_command_find(name)))
        return by_command_is_group(cli->operands[0])
                   ? by_command_unknown_in(cli->operands[0],
                                           cli->operand_count > 1 ? cli->operands[1] : NULL, err)
                   : by_command_unknown(cli->operands[0], err);
    if (!cli->common.json)
        return write_page(cli, (enum format)settings->format, command, err);
    if (settings->format != SCREEN)
        return by_fail(err, BARYON_ERR_USAGE,
                       "--json and --format are both given, only one is allowed");
    by_help_json(&cli->out.text, command);
    return 0;
}

static const struct by_choice formats[] = {
    {"text", SCREEN, "plain text"},
    {"man", MAN, "manual page in roff"},
    {"markdown", MARKDOWN, "reference of all commands"},
    {"bash", BASH, "completions for bash"},
    {"zsh", ZSH, "completions for zsh"},
    {"fish", FISH, "completions for fish"},
    {0},
};

static const struct by_option rows[] = {
    {.name = "format",
     .type = BY_OPT_CHOICE,
     .arg = "FORMAT",
     .choices = formats,
     .fallback = "text",
     .offset = offsetof(struct settings, format),
     .help = "Output format"},
};

static const struct by_option_group group = BY_OPTION_GROUP("Help", rows);

static const struct by_example examples[] = {
    {"baryon help run", "Show the help of 'run'"},
    {"baryon help --format man run | man -l -", "Show the manual page of 'run', installed or not"},
    {". <(baryon help --format bash)", "Enable completions in this shell"},
    {0},
};

const struct by_command by_cmd_help = {
    .name = "help",
    .operands = "[COMMAND...]",
    .max_operands = 2,
    .summary = "Show all commands, or the help of one",
    .text = "Show the list of commands, or the help of one command. --format selects manual pages, "
            "the reference in docs/commands.md, or shell completions.",
    .examples = examples,
    .settings_size = sizeof(struct settings),
    .groups = {{&group, 0}},
    .run = run_help,
};
