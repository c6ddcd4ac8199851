/*
 * What the tests under Wine ask of another program on Windows.
 *
 *   helper hold FILE               keeps it open for itself alone until its input ends
 *   helper pages                   prints the code pages of the machine and of the console
 *   helper interrupt MSEC COMMAND  starts it, sends Ctrl-C to the console, prints its status
 *
 * As a library it leaves a file "loaded" in the current folder.
 */
#include <windows.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLANTED
BOOL WINAPI DllMain(HINSTANCE self, DWORD why, void *unused)
{
    (void)self, (void)why, (void)unused;
    FILE *file = fopen("loaded", "w");
    return file && fclose(file) == 0;
}
#else
static int hold(const char *path)
{
    HANDLE file = CreateFileA(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    printf("%s\n", file == INVALID_HANDLE_VALUE ? "failed" : "held");
    fflush(stdout);
    getchar();
    return 0;
}

static BOOL WINAPI go_on(DWORD event)
{
    return event == CTRL_C_EVENT;
}

static int interrupt(unsigned milliseconds, char *command)
{
    STARTUPINFOA start = {.cb = sizeof start};
    PROCESS_INFORMATION made;
    DWORD status = 0;
    FreeConsole();
    AllocConsole();
    SetConsoleCtrlHandler(go_on, TRUE);
    if (!CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &start, &made))
        return 1;
    Sleep(milliseconds);
    if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0))
        return 2;
    WaitForSingleObject(made.hProcess, 60000);
    GetExitCodeProcess(made.hProcess, &status);
    printf("status %lu\n", status);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 2 && !strcmp(argv[1], "pages"))
        return printf("%u %u\n", GetACP(), GetOEMCP()) < 0;
    if (argc == 3 && !strcmp(argv[1], "hold"))
        return hold(argv[2]);
    if (argc == 4 && !strcmp(argv[1], "interrupt"))
        return interrupt((unsigned)atoi(argv[2]), argv[3]);
    return 3;
}
#endif
