/* Starts the user's command in a process group of its own and reads what it prints. */
#include "base/shell.h"

#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT     ((size_t)64 << 10)
#define ASK_MSEC 100

extern char **environ;

/* --- Starting --- */

static int prepare_files(posix_spawn_file_actions_t *files, const int pipe_ends[2])
{
    int problem = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (!problem)
        problem = posix_spawn_file_actions_adddup2(files, pipe_ends[1], STDOUT_FILENO);
    return problem;
}

/* A group of its own, so that what it starts ends with it; signals as for a new program. */
static int prepare_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    sigaddset(&usual, SIGPIPE);
    int problem = posix_spawnattr_setpgroup(attributes, 0);
    if (!problem)
        problem = posix_spawnattr_setsigmask(attributes, &none);
    if (!problem)
        problem = posix_spawnattr_setsigdefault(attributes, &usual);
    if (!problem)
        problem = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    return problem;
}

static int start_shell(const char *command, const int pipe_ends[2], pid_t *pid)
{
    char shell[] = "/bin/sh", option[] = "-c";
    char *const arguments[] = {shell, option, (char *)(uintptr_t)command, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int problem = posix_spawn_file_actions_init(&files);
    if (problem)
        return problem;
    problem = posix_spawnattr_init(&attributes);
    if (!problem) {
        problem = prepare_files(&files, pipe_ends);
        if (!problem)
            problem = prepare_attributes(&attributes);
        if (!problem)
            problem = posix_spawn(pid, shell, &files, &attributes, arguments, environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return problem;
}

/* --- Reading --- */

static void keep_end(struct by_str *out)
{
    if (out->size <= 2 * KEPT)
        return;
    memmove(out->text, out->text + out->size - KEPT, KEPT);
    out->size = KEPT;
    out->text[KEPT] = '\0';
}

/* Until the command closes its output, or has to end. */
static void read_output(int fd, const struct by_shell_options *options,
                        struct by_shell_result *result)
{
    char bytes[4096];
    const double begin = by_seconds();
    for (;;) {
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        const int count = poll(&ready, 1, ASK_MSEC);
        result->stopped = options->stop && options->stop(options->context);
        result->timed_out = options->seconds > 0 && by_seconds() - begin > options->seconds;
        if (result->stopped || result->timed_out || (count < 0 && errno != EINTR))
            return;
        if (count <= 0)
            continue;
        const ssize_t size = read(fd, bytes, sizeof bytes);
        if (size == 0 || (size < 0 && errno != EINTR && errno != EAGAIN))
            return;
        if (size > 0)
            by_str_add(&result->out, bytes, (size_t)size);
        keep_end(&result->out);
    }
}

/* It may have closed its output and go on. */
static int wait_for(pid_t pid, const struct by_shell_options *options,
                    struct by_shell_result *result)
{
    int status = 0;
    const double begin = by_seconds();
    bool killed = result->stopped || result->timed_out;
    if (killed)
        kill(-pid, SIGKILL);
    for (;;) {
        const pid_t ended = waitpid(pid, &status, killed ? 0 : WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return status;
        if (killed || ended)
            continue;
        (void)poll(NULL, 0, ASK_MSEC / 10);
        result->stopped = options->stop && options->stop(options->context);
        result->timed_out = options->seconds > 0 && by_seconds() - begin > options->seconds;
        killed = result->stopped || result->timed_out;
        if (killed)
            kill(-pid, SIGKILL);
    }
}

int by_shell_run(const char *command, const struct by_shell_options *options,
                 struct by_shell_result *result, struct baryon_error *err)
{
    int ends[2];
    pid_t pid;
    *result = (struct by_shell_result){.status = -1};
    by_str_init(&result->out);
    if (pipe(ends) < 0)
        return by_fail_errno(err, BARYON_ERR_IO, "no pipe for the command");
    for (size_t i = 0; i < 2; i++)
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    const int problem = start_shell(command, ends, &pid);
    (void)close(ends[1]);
    if (problem) {
        (void)close(ends[0]);
        errno = problem;
        return by_fail_errno(err, BARYON_ERR_IO, "/bin/sh cannot be started");
    }
    read_output(ends[0], options, result);
    (void)close(ends[0]);
    const int status = wait_for(pid, options, result);
    result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return by_str_error(&result->out, err);
}

void by_shell_release(struct by_shell_result *result)
{
    by_str_release(&result->out);
}

void by_shell_word(struct by_str *out, const char *text)
{
    by_str_puts(out, "'");
    for (; *text; text++)
        if (*text == '\'')
            by_str_puts(out, "'\\''");
        else
            by_str_add(out, text, 1);
    by_str_puts(out, "'");
}
