/*
 * Runs the program many times: a line of standard input is a file for what it says and its arguments,
 * separated by the byte 31. Each run is a fork of this process, which has opened ONNX Runtime, so
 * that it costs a tenth. The answer is a line: exit status or minus the signal, and the memory peak in KiB.
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
    const int said = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), nothing = open("/dev/null", O_RDONLY);
    if (said < 0 || nothing < 0 || dup2(nothing, 0) < 0 || dup2(said, 1) < 0 || dup2(said, 2) < 0)
        _exit(127);
    close(said);
    close(nothing);
}

static void run_line(char *line)
{
    char *arguments[ARGUMENTS_MAX + 2] = {"baryon"};
    int count = 0;
    char *rest = line;
    const char *path = strsep(&rest, "\x1f");
    while (rest && count < ARGUMENTS_MAX)
        arguments[++count] = strsep(&rest, "\x1f");
    redirect(path);
    alarm(SECONDS);
    exit(program_main(count + 1, arguments));
}

static void answer(pid_t child)
{
    int status;
    struct rusage usage;
    if (wait4(child, &status, 0, &usage) < 0)
        exit(1);
    printf("%d %ld\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status), usage.ru_maxrss);
    fflush(stdout);
}

int main(void)
{
    const struct by_ort *ort;
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    keep_blas_quiet();
    if (by_ort_open(&ort, NULL, NULL) < 0)
        return 6;
    while ((length = getline(&line, &size, stdin)) > 0) {
        line[length - 1] = '\0';
        const pid_t child = fork();
        if (child == 0)
            run_line(line);
        answer(child);
    }
    free(line);
    by_ort_close(ort);
    return 0;
}
