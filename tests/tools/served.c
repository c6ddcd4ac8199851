/*
 * Runs the program many times in one process, which has opened ONNX Runtime: a line of standard
 * input is a file for what it says and its arguments, separated by the byte 31. The answer is a
 * line: the exit status, and the memory peak of the process in KiB. What ends a run ends the
 * process. With --fork each run is a process of its own, and a signal that ends it is a negative
 * status.
 */
#include "engine/ort.h"

#define main program_main
#include "cli/main.c"
#undef main

#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SECONDS       120
#define ARGUMENTS_MAX 256

static void redirect(const char *path)
{
    const int said = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600),
              nothing = open("/dev/null", O_RDONLY);
    if (said < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(said, 1) < 0 || dup2(said, 2) < 0)
        _exit(127);
    close(said);
    close(nothing);
}

static int run_line(char *line)
{
    char *arguments[ARGUMENTS_MAX + 2] = {"baryon"};
    int count = 0;
    char *rest = line;
    const char *path = strsep(&rest, "\x1f");
    while (rest && count < ARGUMENTS_MAX)
        arguments[++count] = strsep(&rest, "\x1f");
    redirect(path);
    alarm(SECONDS);
    const int status = program_main(count + 1, arguments);
    fflush(NULL);
    alarm(0);
    return status;
}

/* The status of the run in a process of its own. */
static int fork_line(char *line, int lines)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        close(lines); /* exit() would give back what is read of it */
        exit(run_line(line));
    }
    if (child < 0 || waitpid(child, &status, 0) < 0)
        exit(1);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    const bool forks = argc > 1 && !strcmp(argv[1], "--fork");
    const struct by_ort *ort;
    const int answers = dup(1);
    FILE *lines = fdopen(dup(0), "r");
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    struct rusage usage;
    keep_blas_quiet();
    if (!lines || by_ort_open(&ort, NULL, NULL) < 0)
        return 6;
    while ((length = getline(&line, &size, lines)) > 0) {
        line[length - 1] = '\0';
        const int status = forks ? fork_line(line, fileno(lines)) : run_line(line);
        getrusage(forks ? RUSAGE_CHILDREN : RUSAGE_SELF, &usage);
        dprintf(answers, "%d %ld\n", status, usage.ru_maxrss);
    }
    free(line);
    fclose(lines);
    by_ort_close(ort);
    return 0;
}
