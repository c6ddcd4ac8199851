/* Lists folders. */
#include "port/windows/inside.h"

struct by_win_dir {
    HANDLE search;
    int fd;
    bool has_next;
    WIN32_FIND_DATAW next;
    struct by_win_dirent entry;
};

static int begin_search(struct by_win_dir *dir, const char *path)
{
    wchar_t wide[BY_WIDE_MAX];
    if (!by_win_wide(wide, AT_FDCWD, path))
        return -1;
    wcsncat(wide, L"\\*", BY_WIDE_MAX - wcslen(wide) - 1);
    dir->search = FindFirstFileW(wide, &dir->next);
    dir->has_next = dir->search != INVALID_HANDLE_VALUE;
    return dir->has_next || GetLastError() == ERROR_FILE_NOT_FOUND ? 0 : by_win_fail();
}

struct by_win_dir *by_win_opendir(const char *path)
{
    struct by_win_dir *dir = calloc(1, sizeof *dir);
    if (!dir)
        return NULL;
    dir->search = INVALID_HANDLE_VALUE;
    dir->fd = by_win_open(path, O_RDONLY | O_DIRECTORY);
    if (dir->fd >= 0 && begin_search(dir, path) == 0)
        return dir;
    const int saved = errno;
    by_win_closedir(dir);
    errno = saved;
    return NULL;
}

struct by_win_dirent *by_win_readdir(struct by_win_dir *dir)
{
    struct by_win_dirent *entry = &dir->entry;
    while (dir->has_next) {
        const bool fits = WideCharToMultiByte(CP_UTF8, 0, dir->next.cFileName, -1, entry->d_name,
                                              (int)sizeof entry->d_name, NULL, NULL);
        const DWORD attributes = dir->next.dwFileAttributes;
        entry->d_type = attributes & FILE_ATTRIBUTE_REPARSE_POINT ? DT_LNK
                        : attributes & FILE_ATTRIBUTE_DIRECTORY   ? DT_DIR
                                                                  : DT_REG;
        dir->has_next = FindNextFileW(dir->search, &dir->next);
        if (fits)
            return entry;
    }
    return NULL;
}

int by_win_closedir(struct by_win_dir *dir)
{
    if (dir->search != INVALID_HANDLE_VALUE)
        FindClose(dir->search);
    if (dir->fd >= 0)
        close(dir->fd);
    free(dir);
    return 0;
}

int dirfd(struct by_win_dir *dir)
{
    return dir->fd;
}
