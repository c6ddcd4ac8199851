/*
 * baryon COMMAND [OPTION]... [OPERAND]...
 *
 * Finds the command, reads its options, runs it, and says what went wrong.
 */
#include "cli/cmd.h"
#include "cli/help.h"
#include "cli/opt.h"
#include "cli/tell.h"
#include "cli/term.h"
#include "cli/versions.h"

#include "base/mem.h"
#include "base/par.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void log_line(void *context, enum by_log_level level, const char *text)
{
    struct by_str line;
    (void)context;
    by_str_init(&line);
    if (by_term_is_tty(STDERR_FILENO)) /* a progress bar may stand there */
        by_str_puts(&line, "\r\033[K");
    by_str_printf(&line, "baryon: %s", level == BY_LOG_WARNING ? "warning: " : "");
    by_clean(&line, text);
    by_tell_line(&line);
    by_str_release(&line);
}

static int check_operands(const struct by_cli *cli, struct baryon_error *err)
{
    const struct by_command *command = cli->command;
    char quoted[BY_QUOTE_MAX];
    if (cli->operand_count > command->max_operands)
        return by_fail(err, BARYON_ERR_USAGE, "unexpected argument %s",
                       by_quote(quoted, cli->operands[command->max_operands]));
    if (cli->operand_count < command->min_operands)
        return by_fail(err, BARYON_ERR_USAGE, "%s requires %s", command->name, command->operands);
    for (size_t i = 0; i < cli->operand_count; i++)
        if (!*cli->operands[i])
            return by_fail(err, BARYON_ERR_USAGE, "an argument is empty");
    return 0;
}

static int parse(struct by_cli *cli, void *settings, int argc, char **argv, bool *stopped,
                 struct baryon_error *err)
{
    struct by_operands operands;
    if (by_command_bind(&cli->config, cli->command, &cli->common, settings, err) < 0 ||
        by_opt_parse(&cli->config, argc, argv, &operands, err) < 0)
        return -1;
    cli->operands = operands.at;
    cli->operand_count = operands.count;
    *stopped = operands.stopped;
    return *stopped ? 0 : check_operands(cli, err);
}

static void apply_common(struct by_cli *cli)
{
    cli->out.color = cli->out.color && !cli->common.no_color;
    cli->log = (struct by_log){
        .write = log_line,
        .level = cli->common.quiet     ? BY_LOG_WARNING
                 : cli->common.verbose ? BY_LOG_DEBUG
                                       : BY_LOG_NOTICE,
    };
}

/* Parsing sorts them. */
static int keep_words(struct by_cli *cli, int argc, char **argv, struct baryon_error *err)
{
    cli->word_count = (size_t)argc - 1;
    const char **words = by_arena_alloc(&cli->config.arena, (size_t)argc, sizeof *words, err);
    if (!words)
        return -1;
    for (size_t i = 0; i < cli->word_count; i++)
        words[i] = argv[i + 1];
    cli->words = words;
    return 0;
}

static int parse_and_run(struct by_cli *cli, void *settings, int argc, char **argv,
                         struct baryon_error *err)
{
    bool stopped = false;
    if (keep_words(cli, argc, argv, err) < 0)
        return -1;
    if (parse(cli, settings, argc, argv, &stopped, err) < 0) {
        if (err->code == BARYON_ERR_USAGE && !err->hint[0])
            by_err_hint(err, "see 'baryon %s --help'", cli->command->name);
        return -1;
    }
    apply_common(cli);
    if (!stopped)
        return cli->command->run(cli, settings, err);
    if (cli->common.help)
        by_help_command(&cli->out, cli->command);
    else
        by_version_line(&cli->out);
    return 0;
}

static int run_command(const struct by_command *command, int argc, char **argv)
{
    struct by_cli cli = {.command = command};
    struct baryon_error err;
    by_err_clear(&err);
    by_config_init(&cli.config);
    by_out_init(&cli.out);
    void *settings = by_alloc_zero(1, command->settings_size, &err);
    int status = settings ? parse_and_run(&cli, settings, argc, argv, &err) : -1;
    if (status == 0)
        status = by_out_flush(&cli.out, &err);
    bool json = cli.common.json || by_opt_wants_json(argc, argv);
    by_free(settings);
    by_out_release(&cli.out);
    by_config_release(&cli.config);
    if (status < 0 && err.code == BARYON_OK)
        by_fail(&err, BARYON_ERR_INTERNAL, "%s failed and gave no reason; please report this",
                command->name);
    return status < 0 ? by_tell_error(&err, json) : 0;
}

static bool is_help(const char *option)
{
    return !strcmp(option, "--help") || !strcmp(option, "-h");
}

static int help_of_group(const char *group)
{
    struct baryon_error err;
    struct by_out out;
    by_err_clear(&err);
    by_out_init(&out);
    by_help_group(&out, group);
    const int status = by_out_flush(&out, &err);
    by_out_release(&out);
    return status < 0 ? by_tell_error(&err, false) : 0;
}

/* Nothing but options before a command: --help, --version. */
static int run_without_command(const char *option)
{
    char quoted[BY_QUOTE_MAX];
    struct baryon_error err;
    struct by_out out;
    int status = 0;
    by_err_clear(&err);
    by_out_init(&out);
    if (is_help(option))
        by_help_overview(&out);
    else if (!strcmp(option, "--version") || !strcmp(option, "-V"))
        by_version_line(&out);
    else {
        status = by_fail(&err, BARYON_ERR_USAGE, "option %s is before the command",
                         by_quote(quoted, option));
        by_err_hint(&err, "write 'baryon COMMAND %s'; 'baryon help' lists the commands", option);
    }
    if (status == 0)
        status = by_out_flush(&out, &err);
    by_out_release(&out);
    return status < 0 ? by_tell_error(&err, false) : 0;
}

/* OpenBLAS, if it is loaded, starts a thread for each processor, which nobody asks for anything,
 * and sends the process a SIGINT where it cannot. Only before there are threads may the
 * environment change, so this is no matter of the library. */
static void keep_blas_quiet(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
}

/* A command of two words. */
static const struct by_command *find_in_group(const char *group, const char *name)
{
    char both[64];
    const int size = snprintf(both, sizeof both, "%s %s", group, name);
    return size < 0 || (size_t)size >= sizeof both ? NULL : by_command_find(both);
}

int main(int argc, char **argv)
{
    struct baryon_error err;
    by_err_clear(&err);
    keep_blas_quiet();
    by_keep_memory(by_cpu_count());
    by_term_start();
    if (argc < 2) {
        by_fail(&err, BARYON_ERR_USAGE, "no command given");
        by_err_hint(&err, "'baryon help' lists the commands");
        return by_tell_error(&err, false);
    }
    if (argv[1][0] == '-')
        return run_without_command(argv[1]);
    const struct by_command *command = by_command_find(argv[1]);
    if (command)
        return run_command(command, argc - 1, argv + 1);
    if (argc > 2 && (command = find_in_group(argv[1], argv[2])))
        return run_command(command, argc - 2, argv + 2);
    if (argc == 3 && is_help(argv[2]) && by_command_is_group(argv[1]))
        return help_of_group(argv[1]);
    if (by_command_is_group(argv[1]))
        by_command_unknown_in(argv[1], argc > 2 ? argv[2] : NULL, &err);
    else
        by_command_unknown(argv[1], &err);
    return by_tell_error(&err, by_opt_wants_json(argc - 1, argv + 1));
}
