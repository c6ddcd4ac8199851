/* Turns paths in UTF-8 into long paths of Windows and back. */
#include "port/windows/inside.h"

#include <wchar.h>
#include <winternl.h>

#define BY_OBJECT_NAME ((OBJECT_INFORMATION_CLASS)1)
#define BY_PART_MAX    255
#define LONG_PREFIX    L"\\\\?\\"

HANDLE by_win_handle(int fd)
{
    return (HANDLE)_get_osfhandle(fd);
}

/* Wine 8 tells it in no other way when it is longer than 260 characters; it begins with \??\. */
static bool ask_for_name(wchar_t out[BY_WIDE_MAX], HANDLE handle)
{
    struct {
        UNICODE_STRING name;
        wchar_t text[BY_WIDE_MAX];
    } answer;
    if (NtQueryObject(handle, BY_OBJECT_NAME, &answer, sizeof answer, NULL) ||
        answer.name.Length >= (BY_WIDE_MAX - 1) * sizeof *out)
        return false;
    const size_t length = answer.name.Length / sizeof *out;
    wmemcpy(out, answer.name.Buffer, length);
    out[length] = L'\0';
    if (wcsncmp(out, L"\\??\\", 4))
        return false;
    out[1] = L'\\';
    return true;
}

bool by_win_path_of(wchar_t out[BY_WIDE_MAX], HANDLE handle)
{
    const DWORD length = GetFinalPathNameByHandleW(handle, out, BY_WIDE_MAX - 1, VOLUME_NAME_DOS);
    if (length ? length < BY_WIDE_MAX - 1 : ask_for_name(out, handle))
        return true;
    errno = length ? ENAMETOOLONG : EBADF;
    return false;
}

/* The folder's own path and a separator; 0 with errno when there is none. */
static size_t put_open_folder(wchar_t out[BY_WIDE_MAX], int folder)
{
    if (!by_win_path_of(out, by_win_handle(folder)))
        return 0;
    const size_t size = wcslen(out);
    out[size] = L'\\';
    return size + 1;
}

static bool is_separator(wchar_t letter)
{
    return letter == L'/' || letter == L'\\';
}

static bool is_absolute(const char *path)
{
    return path[0] == '/' || path[0] == '\\' || (path[0] && path[1] == ':');
}

/* Where Windows sees a device, however the path was written: its name is kept, nothing else. */
static bool refuse_device(wchar_t out[BY_WIDE_MAX], const wchar_t *full)
{
    wcsncpy(out, full, BY_WIDE_MAX - 1);
    out[BY_WIDE_MAX - 1] = L'\0';
    errno = EINVAL;
    return false;
}

/* Between two separators no system of files has more; said here, it is said before any work. */
static bool parts_fit(const wchar_t *path)
{
    size_t size = 0;
    for (; *path && size <= BY_PART_MAX; path++)
        size = *path == L'\\' ? 0 : size + 1;
    return size <= BY_PART_MAX;
}

static bool make_long(wchar_t out[BY_WIDE_MAX], const wchar_t *path)
{
    wchar_t full[BY_WIDE_MAX];
    const DWORD length = GetFullPathNameW(path, BY_WIDE_MAX, full, NULL);
    if (!length || length + 8 >= BY_WIDE_MAX || !parts_fit(full)) {
        errno = ENAMETOOLONG;
        return false;
    }
    if (!wcsncmp(full, L"\\\\.\\", 4))
        return refuse_device(out, full);
    const bool is_long = !wcsncmp(full, LONG_PREFIX, 4), is_share = !wcsncmp(full, L"\\\\", 2);
    if (is_long)
        wcscpy(out, full);
    else if (is_share)
        swprintf(out, BY_WIDE_MAX, LONG_PREFIX L"UNC\\%ls", full + 2);
    else
        swprintf(out, BY_WIDE_MAX, LONG_PREFIX L"%ls", full);
    return true;
}

bool by_win_wide(wchar_t out[BY_WIDE_MAX], int folder, const char *path)
{
    wchar_t wide[BY_WIDE_MAX];
    size_t used = 0;
    if (!*path) {
        errno = ENOENT;
        return false;
    }
    if (!strcmp(path, "/dev/null"))
        path = "NUL";
    if (folder != AT_FDCWD && !is_absolute(path) && !(used = put_open_folder(wide, folder)))
        return false;
    if (!MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide + used,
                             (int)(BY_WIDE_MAX - used))) {
        errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EILSEQ;
        return false;
    }
    for (wchar_t *at = wide + used; *at; at++)
        if (is_separator(*at))
            *at = L'\\';
    return make_long(out, wide);
}

bool by_win_narrow(char *out, size_t size, const wchar_t *path)
{
    const bool is_share = !wcsncmp(path, LONG_PREFIX L"UNC\\", 8);
    path += is_share ? 6 : !wcsncmp(path, LONG_PREFIX, 4) ? 4 : 0;
    if (!WideCharToMultiByte(CP_UTF8, 0, path, -1, out, (int)size, NULL, NULL))
        return false;
    if (is_share)
        out[0] = '/';
    for (char *at = out; *at; at++)
        if (*at == '\\')
            *at = '/';
    return true;
}

wchar_t *by_win_wide_text(const char *text)
{
    const int length = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
    wchar_t *wide = malloc((size_t)length * sizeof *wide);
    if (wide)
        MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, length);
    return wide;
}

char *realpath(const char *path, char *buf)
{
    wchar_t wide[BY_WIDE_MAX];
    if (!by_win_wide(wide, AT_FDCWD, path))
        return NULL;
    HANDLE handle = by_win_look(wide, true);
    if (handle == INVALID_HANDLE_VALUE)
        return by_win_fail(), NULL;
    const bool known = by_win_path_of(wide, handle);
    CloseHandle(handle);
    if (!known)
        return NULL;
    char *own = buf ? NULL : malloc(PATH_MAX);
    char *out = buf ? buf : own;
    if (out && by_win_narrow(out, PATH_MAX, wide))
        return out;
    free(own);
    errno = ENAMETOOLONG;
    return NULL;
}
