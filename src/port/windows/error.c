/* Turns errors of Windows into those of C, and these into words. */
#include "port/windows/inside.h"

static const struct {
    DWORD code;
    int number;
} rows[] = {
    {ERROR_FILE_NOT_FOUND, ENOENT},
    {ERROR_PATH_NOT_FOUND, ENOENT},
    {ERROR_INVALID_NAME, ENOENT},
    {ERROR_BAD_NETPATH, ENOENT},
    {ERROR_BAD_NET_NAME, ENOENT},
    {ERROR_INVALID_DRIVE, ENOENT},
    {ERROR_BAD_PATHNAME, ENOENT},
    {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
    {ERROR_ACCESS_DENIED, EACCES},
    {ERROR_SHARING_VIOLATION, EBUSY},
    {ERROR_LOCK_VIOLATION, EWOULDBLOCK},
    {ERROR_IO_PENDING, EWOULDBLOCK},
    {ERROR_USER_MAPPED_FILE, EBUSY},
    {ERROR_FILE_EXISTS, EEXIST},
    {ERROR_ALREADY_EXISTS, EEXIST},
    {ERROR_DIR_NOT_EMPTY, ENOTEMPTY},
    {ERROR_DISK_FULL, ENOSPC},
    {ERROR_HANDLE_DISK_FULL, ENOSPC},
    {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
    {ERROR_OUTOFMEMORY, ENOMEM},
    {ERROR_COMMITMENT_LIMIT, ENOMEM},
    {ERROR_INVALID_HANDLE, EBADF},
    {ERROR_BROKEN_PIPE, EPIPE},
    {ERROR_NO_DATA, EPIPE},
    {ERROR_DIRECTORY, ENOTDIR},
    {ERROR_NOT_SAME_DEVICE, EXDEV},
    {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
    {ERROR_NO_UNICODE_TRANSLATION, EILSEQ},
    {ERROR_WRITE_PROTECT, EROFS},
    {ERROR_CANT_RESOLVE_FILENAME, ELOOP},
    {ERROR_DELETE_PENDING, ENOENT},
    {ERROR_FILE_TOO_LARGE, EFBIG},
};

int by_win_errno(DWORD code)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code)
            return rows[i].number;
    return EIO;
}

int by_win_fail(void)
{
    errno = by_win_errno(GetLastError());
    return -1;
}

/* As glibc says it, where the library of Windows has no or other words. */
char *strerror_l(int code, locale_t locale)
{
    static const struct {
        int number;
        const char *text;
    } words[] = {
        {EBUSY, "it is open in another program"},
        {EILSEQ, "Invalid or incomplete multibyte or wide character"},
        {EIO, "Input/output error"},
        {ENAMETOOLONG, "File name too long"},
        {ENOMEM, "Cannot allocate memory"},
        {ELOOP, "Too many levels of symbolic links"},
        {EXDEV, "Invalid cross-device link"},
        {EFBIG, "File too large"},
        {EMFILE, "Too many open files"},
        {ENOTEMPTY, "Directory not empty"},
        {EAGAIN, "Resource temporarily unavailable"},
        {EOPNOTSUPP, "Operation not supported"},
    };
    (void)locale;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].number == code)
            return (char *)(uintptr_t)words[i].text;
    return strerror(code);
}
