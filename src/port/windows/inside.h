/*
 * What the files of port/windows share: paths and errors of Windows.
 */
#ifndef BY_PORT_INSIDE_H
#define BY_PORT_INSIDE_H

#include "port/windows/posix.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* From Windows 10 1607 on, and not in every version of the headers. */
#define BY_FILE_DISPOSITION_EX ((FILE_INFO_BY_HANDLE_CLASS)21)
#define BY_FILE_RENAME_EX      ((FILE_INFO_BY_HANDLE_CLASS)22)

/* Wide characters of any path that is accepted, with what goes before it. */
#define BY_WIDE_MAX (PATH_MAX + 64)

/* Sets errno by GetLastError(), and returns -1. */
int by_win_fail(void);
int by_win_errno(DWORD code);

/* A path as \\?\..., which has no limit of 260 characters and no special names. False with errno;
 * EINVAL for a device (CON, COM1): its name is in `out` as \\.\CON. */
bool by_win_wide(wchar_t out[BY_WIDE_MAX], int folder, const char *path);
/* Where an open file or folder is, as \\?\...; false with errno. */
bool by_win_path_of(wchar_t out[BY_WIDE_MAX], HANDLE handle);
/* UTF-8, with / between folders and without \\?\; false when it does not fit. */
bool by_win_narrow(char *out, size_t size, const wchar_t *path);
/* Text that is no path; by whoever frees it. NULL with errno. */
wchar_t *by_win_wide_text(const char *text);

/* Opens what is there with no more than the right to ask about it. */
HANDLE by_win_look(const wchar_t *path, bool follow);
HANDLE by_win_handle(int fd);
/* For reading, empty where there is none; the file is removed when this is closed, also by the end
 * of the process. */
int by_win_open_last(const char *path);

#endif
