/* Lists all commands and finds one by its name. */
#include "base/text.h"
#include "cli/cmd.h"

#include <string.h>

#define COMMAND(entry) extern const struct by_command entry;
#include "cli/commands.h"
#undef COMMAND

static const struct by_command *const commands[] = {
#define COMMAND(entry) &entry,
#include "cli/commands.h"
#undef COMMAND
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

#define COMMON(member) offsetof(struct by_common, member)

static const struct by_option common_rows[] = {
    {.name = "config",
     .type = BY_OPT_TEXT,
     .arg = "FILE",
     .offset = COMMON(config),
     .command_line = true,
     .help = "Read options from a YAML or JSON file; the command line overrides it"},
    {.name = "json",
     .type = BY_OPT_FLAG,
     .offset = COMMON(json),
     .help = "Write the result as JSON"},
    {.name = "quiet",
     .letter = 'q',
     .type = BY_OPT_FLAG,
     .offset = COMMON(quiet),
     .help = "Print only warnings and errors, no progress and no notices"},
    {.name = "verbose",
     .letter = 'v',
     .type = BY_OPT_FLAG,
     .offset = COMMON(verbose),
     .help = "Print more details"},
    {.name = "no-color",
     .type = BY_OPT_FLAG,
     .offset = COMMON(no_color),
     .help = "Print no colours, even on a terminal"},
    {.name = "help",
     .letter = 'h',
     .type = BY_OPT_FLAG,
     .offset = COMMON(help),
     .command_line = true,
     .help = "Show the help of the command"},
    {.name = "version",
     .letter = 'V',
     .type = BY_OPT_FLAG,
     .offset = COMMON(version),
     .command_line = true,
     .help = "Show the version"},
};

const struct by_option_group by_common_group = BY_OPTION_GROUP("Common options", common_rows);

const struct by_command *const *by_commands(size_t *count)
{
    *count = COMMAND_COUNT;
    return commands;
}

const struct by_command *by_command_find(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(commands[i]->name, name))
            return commands[i];
    return NULL;
}

int by_command_unknown(const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    const char *names[COMMAND_COUNT];
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i]->name;
    by_fail(err, BARYON_ERR_USAGE, "unknown command %s", by_quote(quoted, name));
    const char *near = by_nearest(name, names, COMMAND_COUNT);
    return near ? by_err_hint(err, "did you mean '%s'?", near)
                : by_err_hint(err, "'baryon help' lists the commands");
}

/* What follows "llm " in the name of a command of the group llm, else NULL. */
static const char *name_in_group(const struct by_command *command, const char *group)
{
    size_t length = strlen(group);
    return !strncmp(command->name, group, length) && command->name[length] == ' '
               ? command->name + length + 1
               : NULL;
}

bool by_command_is_group(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (name_in_group(commands[i], name))
            return true;
    return false;
}

int by_command_unknown_in(const char *group, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX], list[256];
    struct by_text text;
    by_text_init(&text, list, sizeof list);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        const char *member = name_in_group(commands[i], group);
        if (member)
            by_text_add(&text, "%s%s", text.used ? ", " : "", member);
    }
    if (name)
        by_fail(err, BARYON_ERR_USAGE, "unknown command %s of '%s'", by_quote(quoted, name), group);
    else
        by_fail(err, BARYON_ERR_USAGE, "no command of '%s' given", group);
    return by_err_hint(err, "it has %s", list);
}

int by_command_bind(struct by_config *config, const struct by_command *command,
                    struct by_common *common, void *settings, struct baryon_error *err)
{
    for (size_t i = 0; i < BY_COMMAND_GROUPS_MAX && command->groups[i].group; i++)
        if (by_config_bind(config, command->groups[i].group,
                           (char *)settings + command->groups[i].offset, err) < 0)
            return -1;
    return by_config_bind(config, &by_common_group, common, err);
}
