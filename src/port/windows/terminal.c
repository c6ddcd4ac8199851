/* Asks what the console can do. */
#include "port/windows/inside.h"

int by_win_isatty(int fd)
{
    DWORD mode;
    return GetConsoleMode(by_win_handle(fd), &mode) != 0;
}

int ioctl(int fd, int what, struct winsize *out)
{
    CONSOLE_SCREEN_BUFFER_INFO info;
    (void)what;
    if (!GetConsoleScreenBufferInfo(by_win_handle(fd), &info))
        return by_win_fail();
    out->ws_col = (unsigned short)(info.srWindow.Right - info.srWindow.Left + 1);
    out->ws_row = (unsigned short)(info.srWindow.Bottom - info.srWindow.Top + 1);
    return 0;
}

/* Whether there is such a descriptor. */
int fcntl(int fd, int what)
{
    (void)what;
    return _get_osfhandle(fd) == -1 || _get_osfhandle(fd) == -2 ? -1 : 0;
}
