/* What tests/lib/windows_units.h declares. */
#include "tests/lib/windows_units.h"

#include "port/windows/inside.h"

#undef system

/* --- Commands --- */

/* Wine gives no handle to a program of Linux: its status comes as a file. */
int run_in_shell(const char *command)
{
    static unsigned count;
    char script[64], done[80];
    int status = -1;
    snprintf(script, sizeof script, "/tmp/baryon-sh-%lu-%u", GetCurrentProcessId(), ++count);
    snprintf(done, sizeof done, "%s.done", script);
    FILE *file = fopen(script, "wb");
    if (!file)
        return -1;
    fprintf(file, "( %s\n)\necho $? >%s.new\nmv %s.new %s\n", command, script, script, done);
    fclose(file);
    STARTUPINFOW start = {.cb = sizeof start};
    PROCESS_INFORMATION made;
    wchar_t line[80];
    swprintf(line, 80, L"sh %hs", script);
    if (!CreateProcessW(L"\\bin\\sh", line, NULL, NULL, FALSE, 0, NULL, NULL, &start, &made))
        return -1;
    while (!(file = fopen(done, "rb")))
        Sleep(1);
    if (fscanf(file, "%d", &status) != 1)
        status = -1;
    fclose(file);
    unlink(script);
    unlink(done);
    return status;
}

static int run_with_paths(const char *format, const char *a, const char *b)
{
    char command[2 * PATH_MAX];
    snprintf(command, sizeof command, format, a, b);
    return run_in_shell(command);
}

/* --- Files --- */

char *mkdtemp(char *path)
{
    for (unsigned number; getrandom(&number, sizeof number, 0) > 0;) {
        snprintf(path + strlen(path) - 6, 7, "%06x", number & 0xffffff);
        if (mkdir(path, 0700) == 0)
            return path;
        if (errno != EEXIST)
            break;
    }
    return NULL;
}

int make_by_template(char *path)
{
    return mkostemp(path, 0);
}

/* Linux knows the drive Z: as its root. */
int symlink(const char *to, const char *path)
{
    return run_with_paths("ln -s '%s' '%s'", to[0] == 'Z' && to[1] == ':' ? to + 2 : to, path);
}

int link(const char *from, const char *to)
{
    return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int mknod(const char *path, unsigned mode, uint64_t device)
{
    (void)device;
    return run_with_paths(S_ISFIFO(mode) ? "mkfifo '%s'%s"
                                         : "python3 -c \"import os; os.mknod('%s', 0o140600)\"%s",
                          path, "");
}

int mkfifo(const char *path, unsigned mode)
{
    return mknod(path, S_IFIFO | mode, 0);
}

/* Of "/proc/self/exe", which is all that tests ask for. */
ssize_t readlink(const char *path, char *to, size_t size)
{
    wchar_t wide[BY_WIDE_MAX];
    (void)path;
    return GetModuleFileNameW(NULL, wide, BY_WIDE_MAX) && by_win_narrow(to, size, wide)
               ? (ssize_t)strlen(to)
               : -1;
}

/* --- Tests that are left out --- */

static bool is_left_out(const char *file, const char *test)
{
    char name[256];
    const char *base = strstr(file, "test_"), *all = getenv("BARYON_LEFT_OUT");
    snprintf(name, sizeof name, " %.*s/%s ", (int)strcspn(base + 5, "."), base + 5, test);
    return all && strstr(all, name);
}

int run_most(const char *file, const char *group, const struct CMUnitTest *tests, size_t count,
             CMFixtureFunction begin, CMFixtureFunction end)
{
    struct CMUnitTest *chosen = calloc(count, sizeof *chosen);
    size_t used = 0;
    for (size_t i = 0; chosen && i < count; i++)
        if (!is_left_out(file, tests[i].name))
            chosen[used++] = tests[i];
    const int failed = chosen ? _cmocka_run_group_tests(group, chosen, used, begin, end) : 1;
    free(chosen);
    return failed;
}
