/* Completions for bash, zsh and fish. */
#include "cli/help.h"

#include <string.h>

#define GROUP_TEXT "Commands for checkpoints of language models"
#define HEADING    "# Written by `make docs` from the option rows: do not edit.\n"

static void choice_names(struct by_str *str, const struct by_option *option)
{
    for (const struct by_choice *choice = option->choices; choice->name; choice++)
        by_str_printf(str, "%s%s", choice == option->choices ? "" : " ", choice->name);
}

/* Length of the first word of the name; 0 when an earlier command has the same one. */
static size_t first_word(const struct by_command *const *commands, size_t i)
{
    size_t length = strcspn(commands[i]->name, " ");
    for (size_t k = 0; k < i; k++)
        if (!strncmp(commands[k]->name, commands[i]->name, length + 1))
            return 0;
    return length;
}

static void command_names(struct by_str *str)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    for (size_t i = 0; i < count; i++)
        by_str_printf(str, "%s%.*s", i && first_word(commands, i) ? " " : "",
                      (int)first_word(commands, i), commands[i]->name);
}

/* The second words of the group whose first command is commands[i]. */
static void group_names(struct by_str *str, const struct by_command *const *commands, size_t count,
                        size_t i)
{
    size_t length = first_word(commands, i) + 1;
    for (size_t k = i; k < count; k++)
        if (!strncmp(commands[k]->name, commands[i]->name, length))
            by_str_printf(str, "%s%s", k > i ? " " : "", commands[k]->name + length);
}

/* Calls `write` with each group's first command. */
static void each_group(struct by_str *str,
                       void (*write)(struct by_str *, const struct by_command *const *, size_t,
                                     size_t))
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    for (size_t i = 0; i < count; i++)
        if (first_word(commands, i) && commands[i]->name[first_word(commands, i)] == ' ')
            write(str, commands, count, i);
}

/* What tells a command in the scripts, without blanks. */
static const char *key_of(const struct by_command *command)
{
    static char key[64];
    return by_command_page(command, key, sizeof key);
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
        by_str_printf(str, "    %s:--%s) words='", key_of(command), option->name);
        choice_names(str, option);
        by_str_puts(str, "' ;;\n");
    } else if (by_option_arguments(option) && !names_path(option))
        by_str_printf(str, "    %s:--%s) return ;;\n", key_of(command), option->name);
}

static void bash_group(struct by_str *str, const struct by_command *const *commands, size_t count,
                       size_t i)
{
    by_str_printf(str,
                  "    if [[ $command == %.*s ]]; then\n        command+=-${COMP_WORDS[2]}\n"
                  "        ((COMP_CWORD == 2)) && words='",
                  (int)first_word(commands, i), commands[i]->name);
    group_names(str, commands, count, i);
    by_str_puts(str, "'\n    fi\n");
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
                     "    local command=${COMP_WORDS[1]}\n");
    each_group(str, bash_group);
    by_str_puts(str, "    case $command:$previous in\n    help:help) words='");
    command_names(str);
    by_str_puts(str, "' ;;\n");
    for (size_t i = 0; i < count; i++)
        each_option(str, commands[i], bash_value);
    by_str_puts(str, "    esac\n"
                     "    if [[ -z $words && $word == -* ]]; then\n"
                     "        case $command in\n");
    for (size_t i = 0; i < count; i++) {
        by_str_printf(str, "        %s) words='", key_of(commands[i]));
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

static void zsh_group(struct by_str *str, const struct by_command *const *commands, size_t count,
                      size_t i)
{
    by_str_printf(str,
                  "    if [[ $command == %.*s ]]; then\n"
                  "        if ((CURRENT == 2)); then\n            compadd ",
                  (int)first_word(commands, i), commands[i]->name);
    group_names(str, commands, count, i);
    by_str_puts(str, "\n            return\n        fi\n        command+=-$words[2]\n"
                     "        shift words\n        ((CURRENT--))\n    fi\n");
}

void by_help_zsh(struct by_str *str)
{
    size_t count;
    const struct by_command *const *commands = by_commands(&count);
    by_str_puts(str, "#compdef baryon\n" HEADING "_baryon()\n{\n"
                     "    local -a commands\n    commands=(");
    for (size_t i = 0; i < count; i++) {
        size_t length = first_word(commands, i);
        if (!length)
            continue;
        by_str_printf(str, "\n        '%.*s:", (int)length, commands[i]->name);
        quoted(str, commands[i]->name[length] ? GROUP_TEXT : commands[i]->summary, ":");
        by_str_puts(str, "'");
    }
    by_str_puts(str, "\n    )\n"
                     "    if ((CURRENT == 2)); then\n"
                     "        _describe -t commands command commands\n        return\n    fi\n"
                     "    local command=$words[2]\n"
                     "    shift words\n    ((CURRENT--))\n");
    each_group(str, zsh_group);
    by_str_puts(str, "    case $command in\n");
    for (size_t i = 0; i < count; i++) {
        by_str_printf(str, "    %s)\n        _arguments -s", key_of(commands[i]));
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

/* All words of the name were typed. */
static void fish_seen(struct by_str *str, const char *name)
{
    for (bool first = true; *name; first = false) {
        size_t length = strcspn(name, " ");
        by_str_printf(str, "%s__fish_seen_subcommand_from %.*s", first ? "" : "; and ", (int)length,
                      name);
        name += length + strspn(name + length, " ");
    }
}

static void fish_group(struct by_str *str, const struct by_command *const *commands, size_t count,
                       size_t i)
{
    by_str_printf(str, "complete -c baryon -f -n '__fish_seen_subcommand_from %.*s' -a '",
                  (int)first_word(commands, i), commands[i]->name);
    group_names(str, commands, count, i);
    by_str_puts(str, "'\n");
}

static void fish_option(struct by_str *str, const struct by_command *command,
                        const struct by_option *option)
{
    by_str_puts(str, "complete -c baryon -n '");
    fish_seen(str, command->name);
    by_str_printf(str, "' -l %s", option->name);
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
        size_t length = first_word(commands, i);
        if (!length)
            continue;
        by_str_printf(str, "complete -c baryon -f -n __fish_use_subcommand -a %.*s -d '",
                      (int)length, commands[i]->name);
        quoted(str, commands[i]->name[length] ? GROUP_TEXT : commands[i]->summary, "");
        by_str_puts(str, "'\n");
    }
    by_str_puts(str, "complete -c baryon -f -n '__fish_seen_subcommand_from help' -a '");
    command_names(str);
    by_str_puts(str, "'\n");
    each_group(str, fish_group);
    for (size_t i = 0; i < count; i++)
        each_option(str, commands[i], fish_option);
}
