/* Starts the user's command in a job of its own and reads what it prints. */
#include "base/shell.h"

#include "base/thread.h"
#include "port/windows/inside.h"

#define KEPT     ((size_t)64 << 10)
#define ASK_MSEC 100

struct running {
    HANDLE process, job, output;
    double begin;
};

/* --- Starting --- */

static bool make_output(HANDLE *ours, HANDLE *theirs)
{
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    return CreatePipe(ours, theirs, &inherited, 1 << 16) &&
           SetHandleInformation(*ours, HANDLE_FLAG_INHERIT, 0);
}

/* All that it starts ends with the job. */
static HANDLE make_job(void)
{
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.BasicLimitInformation.LimitFlags =
                                                       JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE};
    HANDLE job = CreateJobObjectW(NULL, NULL);
    if (job)
        SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

/* Windows would look for the name alone in the current folder before its own. */
static bool find_shell(wchar_t path[BY_WIDE_MAX])
{
    static const wchar_t name[] = L"\\cmd.exe";
    const UINT length = GetSystemDirectoryW(path, BY_WIDE_MAX);
    if (!length || length + sizeof name / sizeof *name > BY_WIDE_MAX)
        return false;
    wcscpy(path + length, name);
    return true;
}

static bool start_command(struct running *run, wchar_t *line, HANDLE output)
{
    wchar_t shell[BY_WIDE_MAX];
    if (!find_shell(shell))
        return false;
    SECURITY_ATTRIBUTES inherited = {.nLength = sizeof inherited, .bInheritHandle = TRUE};
    HANDLE nothing = CreateFileW(L"NUL", GENERIC_READ, 0, &inherited, OPEN_EXISTING, 0, NULL);
    STARTUPINFOW start = {.cb = sizeof start,
                          .dwFlags = STARTF_USESTDHANDLES,
                          .hStdInput = nothing,
                          .hStdOutput = output,
                          .hStdError = GetStdHandle(STD_ERROR_HANDLE)};
    PROCESS_INFORMATION process;
    const bool started = CreateProcessW(shell, line, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL,
                                        &start, &process);
    CloseHandle(nothing);
    if (!started)
        return false;
    if (run->job)
        AssignProcessToJobObject(run->job, process.hProcess);
    ResumeThread(process.hThread);
    CloseHandle(process.hThread);
    run->process = process.hProcess;
    return true;
}

/* --- Reading --- */

static void keep_last_output(struct by_str *out)
{
    if (out->size <= 2 * KEPT)
        return;
    memmove(out->text, out->text + out->size - KEPT, KEPT);
    out->size = KEPT;
    out->text[KEPT] = '\0';
}

/* Takes what is there; false: nothing was. */
static bool take_output(const struct running *run, struct by_str *out)
{
    char bytes[4096];
    DWORD there = 0, size = 0;
    if (!PeekNamedPipe(run->output, NULL, 0, NULL, &there, NULL) || !there ||
        !ReadFile(run->output, bytes, sizeof bytes, &size, NULL))
        return false;
    by_str_add(out, bytes, size);
    keep_last_output(out);
    return true;
}

static int follow_command(struct running *run, const struct by_shell_options *options,
                          struct by_shell_result *result)
{
    DWORD status = 1;
    for (;;) {
        const bool ended = WaitForSingleObject(run->process, 0) == WAIT_OBJECT_0;
        const bool took = take_output(run, &result->out);
        if (ended && !took)
            break;
        if (!took)
            WaitForSingleObject(run->process, ASK_MSEC / 10);
        result->stopped = options->stop && options->stop(options->context);
        result->timed_out = options->seconds > 0 && by_seconds() - run->begin > options->seconds;
        if (result->stopped || result->timed_out) {
            TerminateJobObject(run->job, 128 + SIGKILL);
            TerminateProcess(run->process, 128 + SIGKILL);
            WaitForSingleObject(run->process, INFINITE);
            break;
        }
    }
    GetExitCodeProcess(run->process, &status);
    return (int)status;
}

static wchar_t *command_line(const char *command)
{
    struct by_str line;
    by_str_init(&line);
    by_str_printf(&line, "cmd.exe /d /s /c \"%s\"", command);
    wchar_t *wide = line.failed ? NULL : by_win_wide_text(by_str_text(&line));
    by_str_release(&line);
    return wide;
}

static int fail_to_start(struct baryon_error *err, const char *what)
{
    by_win_fail();
    return by_fail_errno(err, BARYON_ERR_IO, "%s", what);
}

int by_shell_run(const char *command, const struct by_shell_options *options,
                 struct by_shell_result *result, struct baryon_error *err)
{
    HANDLE theirs;
    struct running run = {.begin = by_seconds()};
    *result = (struct by_shell_result){.status = -1};
    by_str_init(&result->out);
    wchar_t *line = command_line(command);
    if (!line)
        return by_err_nomem(err, strlen(command));
    if (!make_output(&run.output, &theirs)) {
        free(line);
        return fail_to_start(err, "no pipe for the command");
    }
    run.job = make_job();
    const bool started = start_command(&run, line, theirs);
    if (!started)
        fail_to_start(err, "cmd.exe cannot be started");
    free(line);
    CloseHandle(theirs);
    if (started) {
        result->status = follow_command(&run, options, result);
        CloseHandle(run.process);
    }
    CloseHandle(run.output);
    if (run.job)
        CloseHandle(run.job);
    return started ? by_str_error(&result->out, err) : -1;
}

void by_shell_release(struct by_shell_result *result)
{
    by_str_release(&result->out);
}

/* cmd.exe knows no quote within quotes, and paths have none. */
void by_shell_word(struct by_str *out, const char *text)
{
    by_str_puts(out, "\"");
    for (; *text; text++)
        if (*text != '"')
            by_str_add(out, text, 1);
    by_str_puts(out, "\"");
}
