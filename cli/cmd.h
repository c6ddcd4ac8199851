/*
 * Commands.
 *
 * A command is one file, cli/cmd_NAME.c, that ends with a struct by_command, and one
 * row in cli/commands.h. Its help, manual page, completions and reference are made
 * from that struct and its option rows; `make docs` writes them, and the tests fail
 * until it was run. Every option needs a case under tests/cli.
 */
#ifndef BY_CMD_H
#define BY_CMD_H

#include "base/log.h"
#include "cli/out.h"
#include "config/config.h"

/* Options of every command. */
struct by_common {
    bool help, version, verbose, quiet, json, no_color;
    const char *config;
};

extern const struct by_option_group by_common_group;

struct by_cli {
    const struct by_command *command;
    struct by_common common;
    struct by_config config;
    const char *const *operands;
    size_t operand_count;
    const char *const *words; /* of the command line, after the command, as they were given */
    size_t word_count;
    struct by_out out; /* standard output, written when the command is done */
    struct by_log log; /* notices of the library, to standard error */
};

struct by_example {
    const char *command, *text; /* text NULL ends the list */
};

#define BY_COMMAND_GROUPS_MAX 18

/* A shared group, and where in the command's settings its struct is. */
struct by_command_group {
    const struct by_option_group *group; /* NULL ends the list */
    size_t offset;
};

struct by_command {
    const char *name;
    const char *operands; /* as in help: "MODEL OUT" */
    size_t min_operands, max_operands;
    const char *summary; /* one line, without a full stop */
    const char *text;    /* paragraphs, an empty line between them */
    const struct by_example *examples;
    size_t settings_size;
    struct by_command_group groups[BY_COMMAND_GROUPS_MAX];
    /*
     * 0, or -1 with err filled; an err without a message ends the program with the
     * code's exit status and says nothing more.
     */
    int (*run)(struct by_cli *cli, const void *settings, struct baryon_error *err);
};

/* All commands, in the order of help. */
const struct by_command *const *by_commands(size_t *count);
const struct by_command *by_command_find(const char *name);
/* "unknown command 'x'", with the nearest one. */
int by_command_unknown(const char *name, struct baryon_error *err);
/* True for the first word of commands that have two, "llm". */
bool by_command_is_group(const char *name);
/* Says which commands the group has; name NULL: none was given. */
int by_command_unknown_in(const char *group, const char *name, struct baryon_error *err);

/* Binds all groups of a command; NULL settings: a scratch block from the config's arena. */
int by_command_bind(struct by_config *config, const struct by_command *command,
                    struct by_common *common, void *settings, struct baryon_error *err);

#endif
