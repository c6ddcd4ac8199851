/*
 * What is written about commands, all of it from their structs and option rows.
 */
#ifndef BY_HELP_H
#define BY_HELP_H

#include "cli/cmd.h"

/* Groups of a command, those of its own first, the common ones last. */
#define BY_HELP_GROUPS_MAX (BY_COMMAND_GROUPS_MAX + 1)
size_t by_command_groups(const struct by_command *command,
                         const struct by_option_group *groups[BY_HELP_GROUPS_MAX]);
/* "-d, --data PATH"; returns buf. */
const char *by_option_usage(const struct by_option *option, char *buf, size_t size);
/* The help text with range and default: what every page says about an option. */
void by_option_help(const struct by_option *option, struct by_str *str);
/* The name with '-' between its words, as in names of pages; returns buf. */
const char *by_command_page(const struct by_command *command, char *buf, size_t size);
/* "[OPTION]... MODEL OUT" */
void by_command_usage(const struct by_command *command, struct by_str *str);

struct by_help_fact {
    const char *name, *text; /* name NULL ends a list */
};
extern const struct by_help_fact by_exit_facts[], by_environment_facts[];
/* Paragraphs on how all commands take options, and on configuration files. */
extern const char by_options_text[], by_config_text[], by_about_text[];

/* Breaks text into lines of at most `width`, each after `indent` blanks; `at` is the
 * column that the first line begins at. */
void by_wrap(struct by_str *str, const char *text, size_t indent, size_t at, size_t width);

/* For the screen. */
void by_help_overview(struct by_out *out);
/* Of the commands of a group, such as llm. */
void by_help_group(struct by_out *out, const char *group);
void by_help_command(struct by_out *out, const struct by_command *command);
/* Files made from the rows. command NULL: the page of baryon itself. */
void by_help_man(struct by_str *str, const struct by_command *command);
void by_help_markdown(struct by_str *str);
void by_help_bash(struct by_str *str);
void by_help_zsh(struct by_str *str);
void by_help_fish(struct by_str *str);
void by_help_json(struct by_str *str, const struct by_command *command);

#endif
