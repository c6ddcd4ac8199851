/* The program's beginning: arguments in UTF-8, streams of bytes, a console that shows them. */
#include "port/windows/inside.h"

int by_main(int argc, char **argv);

static char *narrow_argument(const wchar_t *wide)
{
    const int size = WideCharToMultiByte(CP_UTF8, 0, wide, -1, NULL, 0, NULL, NULL);
    char *text = size > 0 ? malloc((size_t)size) : NULL;
    if (!text)
        exit(5);
    WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, size, NULL, NULL);
    return text;
}

/* Colours by escape sequences, from Windows 10 on. */
static void prepare_console(void)
{
    DWORD mode;
    bool shows = true;
    SetConsoleOutputCP(CP_UTF8);
    for (int fd = 1; fd <= 2; fd++)
        if (GetConsoleMode(by_win_handle(fd), &mode))
            shows &= SetConsoleMode(by_win_handle(fd), mode | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
    if (shows)
        setenv("TERM", "xterm", 0);
    if (!by_win_getenv("LC_ALL") && !by_win_getenv("LC_CTYPE"))
        setenv("LANG", "C.UTF-8", 0);
}

int wmain(int argc, wchar_t **wide)
{
    char **argv = calloc((size_t)argc + 1, sizeof *argv);
    if (!argv)
        return 5;
    for (int i = 0; i < argc; i++)
        argv[i] = narrow_argument(wide[i]);
    for (int fd = 0; fd <= 2; fd++)
        _setmode(fd, O_BINARY);
    SetDefaultDllDirectories(LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
    prepare_console();
    return by_main(argc, argv);
}
