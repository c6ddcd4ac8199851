/* Completions for bash, zsh and fish. */
#include "cli/help.h"

#include <string.h>

#define HEADING "# Written by `make docs` from the option rows: do not edit.\n"

static void choice_names(struct by_str *str, const struct by_option *option)
{
    for (const struct by_choice *choice = option->choices; choice->name; choice++)
        by_str_printf(str, "%s%s", choice == option->choices ? "" : " ", choice->name);
}

static void command_names(struct by_str *str)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    for (size_t i = 0; i < count; i++)
        by_str_printf(str, "%s%s", i ? " " : "", commands[i]->name);
}

static bool names_path(const struct by_option *option)
{
    return option->arg && (strstr(option->arg, "FILE") || strstr(option->arg, "PATH") ||
                           strstr(option->arg, "FOLDER"));
}

/* Calls `write` for every option of a command. */
static void each_option(struct by_str *str, const struct by_command *command,
                        void (*write)(struct by_str *, const struct by_command *,
                                      const struct by_option *))
{
    const struct by_option_group *groups[BY_HELP_GROUPS_MAX];
    size_t count = by_command_groups(command, groups);
    for (size_t i = 0; i < count; i++) {
        size_t row_count;
        const struct by_option *rows = by_group_rows(groups[i], &row_count);
        for (size_t k = 0; k < row_count; k++)
            write(str, command, &rows[k]);
    }
}

static void bash_word(struct by_str *str, const struct by_command *command,
                      const struct by_option *option)
{
    (void)command;
    if (option->letter)
        by_str_printf(str, " -%c", option->letter);
    by_str_printf(str, " --%s", option->name);
}

static void bash_value(struct by_str *str, const struct by_command *command,
                       const struct by_option *option)
{
    if (by_option_has_words(option)) {
        by_str_printf(str, "    %s:--%s) words='", command->name, option->name);
        choice_names(str, option);
        by_str_puts(str, "' ;;\n");
    } else if (by_option_arguments(option) && !names_path(option))
        by_str_printf(str, "    %s:--%s) return ;;\n", command->name, option->name);
}

void by_help_bash(struct by_str *str)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    by_str_puts(str, HEADING "_baryon()\n{\n"
                             "    local word=${COMP_WORDS[COMP_CWORD]} words=\n"
                             "    local previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
                             "    COMPREPLY=()\n"
                             "    if ((COMP_CWORD == 1)); then\n        words='");
    command_names(str);
    by_str_puts(str, "'\n        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                     "        return\n    fi\n"
                     "    case ${COMP_WORDS[1]}:$previous in\n    help:help) words='");
    command_names(str);
    by_str_puts(str, "' ;;\n");
    for (size_t i = 0; i < count; i++)
        each_option(str, commands[i], bash_value);
    by_str_puts(str, "    esac\n"
                     "    if [[ -z $words && $word == -* ]]; then\n"
                     "        case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; i < count; i++) {
        by_str_printf(str, "        %s) words='", commands[i]->name);
        each_option(str, commands[i], bash_word);
        by_str_puts(str, "' ;;\n");
    }
    by_str_puts(str, "        esac\n    fi\n"
                     "    [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                     "}\ncomplete -o default -F _baryon baryon\n");
}

/* Inside '...' of zsh's and fish's descriptions. */
static void quoted(struct by_str *str, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            by_str_puts(str, "'\\'");
        else if (strchr(special, *text))
            by_str_puts(str, "\\");
        by_str_add(str, text, 1);
    }
}

static void zsh_argument(struct by_str *str, const struct by_option *option)
{
    for (unsigned i = 0; i < by_option_arguments(option); i++) {
        by_str_puts(str, ":");
        quoted(str, option->arg, "[]:");
        by_str_puts(str, ":");
        if (by_option_has_words(option)) {
            by_str_puts(str, "(");
            choice_names(str, option);
            by_str_puts(str, ")");
        } else if (names_path(option))
            by_str_puts(str, "_files");
    }
}

static void zsh_option(struct by_str *str, const struct by_command *command,
                       const struct by_option *option)
{
    (void)command;
    const char *star = by_option_is_list(option) ? "*" : "";
    by_str_puts(str, " \\\n            ");
    if (option->letter && *star)
        by_str_printf(str, "'*'{-%c,--%s}'[", option->letter, option->name);
    else if (option->letter)
        by_str_printf(str, "'(-%c --%s)'{-%c,--%s}'[", option->letter, option->name, option->letter,
                      option->name);
    else
        by_str_printf(str, "'%s--%s[", star, option->name);
    quoted(str, option->help, "[]:");
    by_str_puts(str, "]");
    zsh_argument(str, option);
    by_str_puts(str, "'");
}

void by_help_zsh(struct by_str *str)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    by_str_puts(str, "#compdef baryon\n" HEADING "_baryon()\n{\n"
                     "    local -a commands\n    commands=(");
    for (size_t i = 0; i < count; i++) {
        by_str_printf(str, "\n        '%s:", commands[i]->name);
        quoted(str, commands[i]->summary, ":");
        by_str_puts(str, "'");
    }
    by_str_puts(str, "\n    )\n"
                     "    if ((CURRENT == 2)); then\n"
                     "        _describe -t commands command commands\n        return\n    fi\n"
                     "    local command=$words[2]\n"
                     "    shift words\n    ((CURRENT--))\n"
                     "    case $command in\n");
    for (size_t i = 0; i < count; i++) {
        by_str_printf(str, "    %s)\n        _arguments -s", commands[i]->name);
        each_option(str, commands[i], zsh_option);
        by_str_puts(str, " \\\n            '*: :");
        if (!strcmp(commands[i]->name, "help")) {
            by_str_puts(str, "(");
            command_names(str);
            by_str_puts(str, ")");
        } else
            by_str_puts(str, "_files");
        by_str_puts(str, "'\n        ;;\n");
    }
    by_str_puts(str, "    esac\n}\n_baryon \"$@\"\n");
}

static void fish_option(struct by_str *str, const struct by_command *command,
                        const struct by_option *option)
{
    by_str_printf(str, "complete -c baryon -n '__fish_seen_subcommand_from %s' -l %s",
                  command->name, option->name);
    if (option->letter)
        by_str_printf(str, " -s %c", option->letter);
    if (by_option_has_words(option)) {
        by_str_puts(str, " -x -a '");
        choice_names(str, option);
        by_str_puts(str, "'");
    } else if (by_option_arguments(option))
        by_str_puts(str, names_path(option) ? " -r -F" : " -x");
    by_str_puts(str, " -d '");
    quoted(str, option->help, "");
    by_str_puts(str, "'\n");
}

void by_help_fish(struct by_str *str)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    by_str_puts(str, HEADING);
    for (size_t i = 0; i < count; i++) {
        by_str_printf(str, "complete -c baryon -f -n __fish_use_subcommand -a %s -d '",
                      commands[i]->name);
        quoted(str, commands[i]->summary, "");
        by_str_puts(str, "'\n");
    }
    by_str_puts(str, "complete -c baryon -f -n '__fish_seen_subcommand_from help' -a '");
    command_names(str);
    by_str_puts(str, "'\n");
    for (size_t i = 0; i < count; i++)
        each_option(str, commands[i], fish_option);
}
