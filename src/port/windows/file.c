/* Opens, reads, writes and looks at files, by handles of Windows below descriptors. */
#include "port/windows/inside.h"

#define SHARED (FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE)

/* --- Looking --- */

HANDLE by_win_look(const wchar_t *path, bool follow)
{
    const DWORD flags = FILE_FLAG_BACKUP_SEMANTICS | (follow ? 0 : FILE_FLAG_OPEN_REPARSE_POINT);
    return CreateFileW(path, FILE_READ_ATTRIBUTES, SHARED, NULL, OPEN_EXISTING, flags, NULL);
}

static struct timespec time_of(FILETIME time)
{
    const int64_t ticks = (int64_t)((uint64_t)time.dwHighDateTime << 32 | time.dwLowDateTime) -
                          INT64_C(116444736000000000);
    return (struct timespec){.tv_sec = (time_t)(ticks / 10000000),
                             .tv_nsec = (long)(ticks % 10000000 * 100)};
}

static bool is_link(HANDLE handle)
{
    FILE_ATTRIBUTE_TAG_INFO info;
    return GetFileInformationByHandleEx(handle, FileAttributeTagInfo, &info, sizeof info) &&
           (info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) &&
           (info.ReparseTag == IO_REPARSE_TAG_SYMLINK ||
            info.ReparseTag == IO_REPARSE_TAG_MOUNT_POINT);
}

static int stat_handle(HANDLE handle, struct by_win_stat *out)
{
    BY_HANDLE_FILE_INFORMATION info;
    *out = (struct by_win_stat){.st_nlink = 1};
    const DWORD type = GetFileType(handle);
    if (type == FILE_TYPE_CHAR || type == FILE_TYPE_PIPE) {
        out->st_mode = (type == FILE_TYPE_CHAR ? S_IFCHR : S_IFIFO) | 0666;
        return 0;
    }
    if (!GetFileInformationByHandle(handle, &info))
        return by_win_fail();
    const bool is_folder = info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY;
    out->st_dev = info.dwVolumeSerialNumber;
    out->st_ino = (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow;
    out->st_mode = is_link(handle) ? S_IFLNK | 0777 : is_folder ? S_IFDIR | 0777 : S_IFREG | 0666;
    out->st_nlink = info.nNumberOfLinks;
    out->st_size = (int64_t)((uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow);
    out->st_mtim = time_of(info.ftLastWriteTime);
    return 0;
}

int fstatat(int folder, const char *path, struct by_win_stat *out, int flags)
{
    wchar_t wide[BY_WIDE_MAX] = L"";
    if (!by_win_wide(wide, folder, path)) {
        if (errno != EINVAL || wcsncmp(wide, L"\\\\.\\", 4))
            return -1;
        *out = (struct by_win_stat){.st_mode = S_IFCHR | 0666, .st_nlink = 1};
        return 0;
    }
    HANDLE handle = by_win_look(wide, !(flags & AT_SYMLINK_NOFOLLOW));
    if (handle == INVALID_HANDLE_VALUE)
        return by_win_fail();
    const int status = stat_handle(handle, out);
    CloseHandle(handle);
    return status;
}

int by_win_stat(const char *path, struct by_win_stat *out)
{
    return fstatat(AT_FDCWD, path, out, 0);
}

int by_win_lstat(const char *path, struct by_win_stat *out)
{
    return fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int by_win_fstat(int fd, struct by_win_stat *out)
{
    HANDLE handle = by_win_handle(fd);
    if (handle != INVALID_HANDLE_VALUE)
        return stat_handle(handle, out);
    errno = EBADF;
    return -1;
}

int faccessat(int folder, const char *path, int mode, int flags)
{
    struct by_win_stat st;
    (void)mode;
    return fstatat(folder, path, &st, flags);
}

int by_win_access(const char *path, int mode)
{
    return faccessat(AT_FDCWD, path, mode, 0);
}

/* --- Opening --- */

static DWORD how_to_create(int flags)
{
    if (!(flags & O_CREAT))
        return flags & O_TRUNC ? TRUNCATE_EXISTING : OPEN_EXISTING;
    return flags & O_EXCL ? CREATE_NEW : flags & O_TRUNC ? CREATE_ALWAYS : OPEN_ALWAYS;
}

static int check_opened(HANDLE handle, int flags)
{
    struct by_win_stat st;
    if (stat_handle(handle, &st))
        return errno;
    if ((flags & O_NOFOLLOW) && S_ISLNK(st.st_mode))
        return ELOOP;
    if ((flags & O_DIRECTORY) && !S_ISDIR(st.st_mode))
        return ENOTDIR;
    return (flags & (O_WRONLY | O_RDWR)) && S_ISDIR(st.st_mode) ? EISDIR : 0;
}

static int descriptor_of(HANDLE handle, int flags)
{
    const int problem = handle == INVALID_HANDLE_VALUE ? 0 : check_opened(handle, flags);
    if (handle == INVALID_HANDLE_VALUE)
        return by_win_fail();
    const int fd = problem ? -1 : _open_osfhandle((intptr_t)handle, O_BINARY | O_NOINHERIT);
    if (fd < 0) {
        const int saved = problem ? problem : errno;
        CloseHandle(handle);
        errno = saved;
    }
    return fd;
}

static int open_wide(const wchar_t *wide, int flags, DWORD also)
{
    const DWORD access = flags & O_RDWR     ? GENERIC_READ | GENERIC_WRITE
                         : flags & O_WRONLY ? GENERIC_WRITE | FILE_READ_ATTRIBUTES
                                            : GENERIC_READ;
    also |= flags & (O_WRONLY | O_RDWR) ? 0 : FILE_FLAG_BACKUP_SEMANTICS;
    also |= flags & O_NOFOLLOW ? FILE_FLAG_OPEN_REPARSE_POINT : 0;
    return descriptor_of(CreateFileW(wide, access, SHARED, NULL, how_to_create(flags), also, NULL),
                         flags);
}

/* Its name is made up, and goes when it is closed. */
static int open_without_name(int folder, const char *path)
{
    static volatile LONG count;
    char name[PATH_MAX];
    wchar_t wide[BY_WIDE_MAX];
    snprintf(name, sizeof name, "%s/.baryon-spill-%lu-%ld", path, GetCurrentProcessId(),
             InterlockedIncrement(&count));
    if (!by_win_wide(wide, folder, name))
        return -1;
    return open_wide(wide, O_RDWR | O_CREAT | O_EXCL,
                     FILE_FLAG_DELETE_ON_CLOSE | FILE_ATTRIBUTE_TEMPORARY);
}

int openat(int folder, const char *path, int flags, ...)
{
    wchar_t wide[BY_WIDE_MAX] = L"";
    if (flags & O_TMPFILE)
        return open_without_name(folder, path);
    const bool is_file = by_win_wide(wide, folder, path);
    if (!is_file && (errno != EINVAL || wcsncmp(wide, L"\\\\.\\NUL", 8)))
        return -1;
    return open_wide(wide, is_file ? flags : flags & (O_WRONLY | O_RDWR), 0);
}

int by_win_open(const char *path, int flags, ...)
{
    return openat(AT_FDCWD, path, flags);
}

FILE *by_win_fopen(const char *path, const char *mode)
{
    const bool reads = *mode == 'r', appends = *mode == 'a';
    const int fd =
        by_win_open(path, reads ? O_RDONLY : O_WRONLY | O_CREAT | (appends ? 0 : O_TRUNC));
    if (appends && fd >= 0)
        _lseeki64(fd, 0, SEEK_END);
    FILE *file = fd < 0 ? NULL : _fdopen(fd, reads ? "rb" : appends ? "ab" : "wb");
    if (!file && fd >= 0)
        close(fd);
    return file;
}

int mkostemp(char *path, int flags)
{
    char *end = path + strlen(path) - 6;
    for (int tries = 0; tries < 100; tries++) {
        unsigned number;
        getrandom(&number, sizeof number, 0);
        snprintf(end, 7, "%06x", number & 0xffffff);
        const int fd = by_win_open(path, flags | O_RDWR | O_CREAT | O_EXCL, 0600);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

int by_win_open_last(const char *path)
{
    wchar_t wide[BY_WIDE_MAX];
    if (!by_win_wide(wide, AT_FDCWD, path))
        return -1;
    return descriptor_of(CreateFileW(wide, GENERIC_READ | DELETE, SHARED, NULL, OPEN_ALWAYS,
                                     FILE_FLAG_DELETE_ON_CLOSE, NULL),
                         O_RDONLY);
}

/* --- Reading and writing --- */

static DWORD at_most(size_t size)
{
    return size < 1u << 30 ? (DWORD)size : 1u << 30;
}

static ssize_t moved_or_end(bool done, DWORD size)
{
    const DWORD problem = done ? 0 : GetLastError();
    if (done || problem == ERROR_HANDLE_EOF || problem == ERROR_BROKEN_PIPE)
        return done ? (ssize_t)size : 0;
    return by_win_fail();
}

ssize_t by_win_read(int fd, void *to, size_t size)
{
    DWORD done = 0;
    const bool read_it = ReadFile(by_win_handle(fd), to, at_most(size), &done, NULL);
    return moved_or_end(read_it, done);
}

ssize_t by_win_write(int fd, const void *from, size_t size)
{
    DWORD done = 0;
    if (!WriteFile(by_win_handle(fd), from, at_most(size), &done, NULL))
        return by_win_fail();
    return (ssize_t)done;
}

static OVERLAPPED place(int64_t at)
{
    return (OVERLAPPED){.Offset = (DWORD)((uint64_t)at & 0xffffffff),
                        .OffsetHigh = (DWORD)((uint64_t)at >> 32)};
}

ssize_t pread(int fd, void *to, size_t size, int64_t at)
{
    DWORD done = 0;
    OVERLAPPED from = place(at);
    const bool read_it = ReadFile(by_win_handle(fd), to, at_most(size), &done, &from);
    return moved_or_end(read_it, done);
}

ssize_t pwrite(int fd, const void *from, size_t size, int64_t at)
{
    DWORD done = 0;
    OVERLAPPED to = place(at);
    if (!WriteFile(by_win_handle(fd), from, at_most(size), &done, &to))
        return by_win_fail();
    return (ssize_t)done;
}

int by_win_ftruncate(int fd, int64_t size)
{
    FILE_END_OF_FILE_INFO info = {.EndOfFile.QuadPart = size};
    return SetFileInformationByHandle(by_win_handle(fd), FileEndOfFileInfo, &info, sizeof info)
               ? 0
               : by_win_fail();
}

/* A folder has nothing to be written back. */
int fsync(int fd)
{
    struct by_win_stat st;
    if (by_win_fstat(fd, &st))
        return -1;
    return S_ISDIR(st.st_mode) || FlushFileBuffers(by_win_handle(fd)) ? 0 : by_win_fail();
}

/* Rights are lists here, and come from the folder. */
int fchmod(int fd, unsigned mode)
{
    (void)fd, (void)mode;
    return 0;
}

int sync_file_range(int fd, int64_t at, int64_t size, unsigned flags)
{
    (void)fd, (void)at, (void)size, (void)flags;
    return 0;
}

ssize_t copy_file_range(int in, int64_t *from, int out, int64_t *to, size_t size, unsigned flags)
{
    (void)in, (void)from, (void)out, (void)to, (void)size, (void)flags;
    errno = ENOSYS;
    return -1;
}

ssize_t sendfile(int out, int in, int64_t *from, size_t size)
{
    (void)out, (void)in, (void)from, (void)size;
    errno = ENOSYS;
    return -1;
}
