/* Renames and removes files, also those that are open here. */
#include "port/windows/inside.h"

enum { WRITERS_MAX = 64 }; /* that may come between the steps of one replacement */

/* --- Removing --- */

/* The name is free at once, as in POSIX; where the system cannot, when the file is closed. */
static bool remove_at_once(const wchar_t *path)
{
    FILE_DISPOSITION_INFO_EX info = {.Flags = FILE_DISPOSITION_FLAG_DELETE |
                                              FILE_DISPOSITION_FLAG_POSIX_SEMANTICS |
                                              FILE_DISPOSITION_FLAG_IGNORE_READONLY_ATTRIBUTE};
    HANDLE handle =
        CreateFileW(path, DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    if (handle == INVALID_HANDLE_VALUE)
        return false;
    const bool done =
        SetFileInformationByHandle(handle, BY_FILE_DISPOSITION_EX, &info, sizeof info);
    CloseHandle(handle);
    return done;
}

int unlinkat(int folder, const char *path, int flags)
{
    wchar_t wide[BY_WIDE_MAX];
    (void)flags;
    if (!by_win_wide(wide, folder, path))
        return -1;
    const DWORD attributes = GetFileAttributesW(wide);
    if (attributes == INVALID_FILE_ATTRIBUTES)
        return by_win_fail();
    if (attributes & FILE_ATTRIBUTE_DIRECTORY) {
        errno = EISDIR;
        return -1;
    }
    return remove_at_once(wide) || DeleteFileW(wide) ? 0 : by_win_fail();
}

int by_win_unlink(const char *path)
{
    return unlinkat(AT_FDCWD, path, 0);
}

int by_win_rmdir(const char *path)
{
    wchar_t wide[BY_WIDE_MAX];
    return by_win_wide(wide, AT_FDCWD, path) && RemoveDirectoryW(wide) ? 0 : by_win_fail();
}

int by_win_mkdir(const char *path, unsigned mode)
{
    wchar_t wide[BY_WIDE_MAX];
    (void)mode;
    if (!by_win_wide(wide, AT_FDCWD, path))
        return -1;
    return CreateDirectoryW(wide, NULL) ? 0 : by_win_fail();
}

/* --- Renaming --- */

/* In one step, also where the old file is open in a program that lets others remove it. */
static bool replace_at_once(const wchar_t *from, const wchar_t *to)
{
    const size_t length = wcslen(to) * sizeof *to;
    const size_t size = sizeof(FILE_RENAME_INFO) + length + sizeof *to;
    FILE_RENAME_INFO *info = calloc(1, size);
    if (!info)
        return false;
    info->Flags = FILE_RENAME_FLAG_REPLACE_IF_EXISTS | FILE_RENAME_FLAG_POSIX_SEMANTICS;
    info->FileNameLength = (DWORD)length;
    memcpy(info->FileName, to, length);
    HANDLE handle =
        CreateFileW(from, DELETE, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                    OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    bool done = false;
    if (handle != INVALID_HANDLE_VALUE) {
        done = SetFileInformationByHandle(handle, BY_FILE_RENAME_EX, info, (DWORD)size);
        CloseHandle(handle);
    }
    free(info);
    return done;
}

/*
 * Where one step is refused, since the old file is open or mapped (here too: a model that is
 * written over), that one takes another name first and has its old one again if anything fails.
 */
static bool replace_in_steps(const wchar_t *from, const wchar_t *to)
{
    wchar_t aside[BY_WIDE_MAX];
    const wchar_t *base = wcsrchr(to, L'\\');
    if (!base || swprintf(aside, BY_WIDE_MAX, L"%.*ls\\.baryon-old-%lu-%ls", (int)(base - to), to,
                          GetCurrentProcessId(), base + 1) < 0)
        return false;
    if (!MoveFileExW(to, aside, 0))
        return false;
    if (!MoveFileExW(from, to, 0)) {
        const DWORD problem = GetLastError();
        if (!MoveFileExW(aside, to, 0) && GetLastError() == ERROR_ALREADY_EXISTS)
            DeleteFileW(aside); /* another writer has put a newer one there */
        SetLastError(problem);
        return false;
    }
    if (!remove_at_once(aside))
        DeleteFileW(aside);
    return true;
}

static bool is_folder(const wchar_t *path)
{
    const DWORD attributes = GetFileAttributesW(path);
    return attributes != INVALID_FILE_ATTRIBUTES && (attributes & FILE_ATTRIBUTE_DIRECTORY);
}

static bool is_used(DWORD problem)
{
    return problem == ERROR_ACCESS_DENIED || problem == ERROR_SHARING_VIOLATION ||
           problem == ERROR_USER_MAPPED_FILE;
}

/* Another writer has taken the old file aside, or put its own there, between two steps. */
static bool is_raced(DWORD problem)
{
    return problem == ERROR_FILE_NOT_FOUND || problem == ERROR_ALREADY_EXISTS;
}

static int replace(const wchar_t *from, const wchar_t *to)
{
    if (is_folder(from) && is_folder(to) && !RemoveDirectoryW(to))
        return by_win_fail();
    for (int left = WRITERS_MAX; left > 0; left--) {
        if (replace_at_once(from, to) || MoveFileExW(from, to, MOVEFILE_REPLACE_EXISTING))
            return 0;
        if (!is_used(GetLastError()))
            break;
        if (replace_in_steps(from, to))
            return 0;
        if (!is_raced(GetLastError()))
            break;
    }
    return by_win_fail();
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    wchar_t wide_from[BY_WIDE_MAX], wide_to[BY_WIDE_MAX];
    if (!by_win_wide(wide_from, from_folder, from) || !by_win_wide(wide_to, to_folder, to))
        return -1;
    if (flags & RENAME_NOREPLACE)
        return MoveFileExW(wide_from, wide_to, 0) ? 0 : by_win_fail();
    return replace(wide_from, wide_to);
}

int renameat(int from_folder, const char *from, int to_folder, const char *to)
{
    return renameat2(from_folder, from, to_folder, to, 0);
}

int by_win_rename(const char *from, const char *to)
{
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    wchar_t wide_from[BY_WIDE_MAX], wide_to[BY_WIDE_MAX];
    (void)flags;
    if (!by_win_wide(wide_from, from_folder, from) || !by_win_wide(wide_to, to_folder, to))
        return -1;
    return CreateHardLinkW(wide_to, wide_from, NULL) ? 0 : by_win_fail();
}
