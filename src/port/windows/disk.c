/* Free space of disks, and locks of files. */
#include "port/windows/inside.h"

static int free_space(const wchar_t *path, struct statvfs *out)
{
    ULARGE_INTEGER there;
    if (!GetDiskFreeSpaceExW(path, &there, NULL, NULL))
        return by_win_fail();
    *out = (struct statvfs){.f_frsize = 1, .f_bavail = there.QuadPart};
    return 0;
}

int statvfs(const char *path, struct statvfs *out)
{
    wchar_t wide[BY_WIDE_MAX];
    return by_win_wide(wide, AT_FDCWD, path) ? free_space(wide, out) : -1;
}

int fstatvfs(int fd, struct statvfs *out)
{
    wchar_t wide[BY_WIDE_MAX];
    if (!by_win_path_of(wide, by_win_handle(fd)))
        return -1;
    wcsrchr(wide, L'\\')[1] = L'\0';
    return free_space(wide, out);
}

int fallocate(int fd, int mode, int64_t at, int64_t size)
{
    (void)fd, (void)mode, (void)at, (void)size;
    errno = EOPNOTSUPP;
    return -1;
}

/* What a mapping made the file long for gets its place on the disk when it is written. */
int posix_fallocate(int fd, int64_t at, int64_t size)
{
    struct statvfs fs;
    (void)at;
    return fstatvfs(fd, &fs) == 0 && (uint64_t)size > fs.f_bavail ? ENOSPC : 0;
}

int flock(int fd, int what)
{
    OVERLAPPED behind = {.OffsetHigh = 0x40000000};
    HANDLE handle = by_win_handle(fd);
    const DWORD flags = LOCKFILE_EXCLUSIVE_LOCK | (what & LOCK_NB ? LOCKFILE_FAIL_IMMEDIATELY : 0);
    const bool done = what & LOCK_UN ? UnlockFileEx(handle, 0, 1, 0, &behind)
                                     : LockFileEx(handle, flags, 0, 1, 0, &behind);
    return done || ((what & LOCK_UN) && GetLastError() == ERROR_NOT_LOCKED) ? 0 : by_win_fail();
}
