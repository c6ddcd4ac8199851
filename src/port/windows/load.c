/* Loads libraries, none of them from the current folder. */
#include "port/windows/inside.h"

static _Thread_local char problem[300];
static _Thread_local bool has_problem;

/* --- Errors --- */

static void note_load_problem(DWORD code)
{
    wchar_t words[200];
    char narrow[260];
    const DWORD length =
        FormatMessageW(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, code,
                       MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), words, 200, NULL);
    if (!length || !WideCharToMultiByte(CP_UTF8, 0, words, -1, narrow, sizeof narrow, NULL, NULL))
        snprintf(narrow, sizeof narrow, "error %lu of Windows", code);
    narrow[strcspn(narrow, "\r\n")] = '\0';
    snprintf(problem, sizeof problem, "%s", narrow);
    has_problem = true;
}

char *dlerror(void)
{
    char *text = has_problem ? problem : NULL;
    has_problem = false;
    return text;
}

/* --- Loading --- */

static bool has_folder(const char *path)
{
    return strpbrk(path, "/\\") || (path[0] && path[1] == ':');
}

/* The module that this code is part of. */
static HMODULE own_module(void)
{
    static const char here;
    HMODULE module = NULL;
    GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS |
                           GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT,
                       (const wchar_t *)(uintptr_t)&here, &module);
    return module;
}

static HMODULE load_full(const wchar_t *path)
{
    return LoadLibraryExW(path, NULL,
                          LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
}

static HMODULE load_beside_us(const wchar_t *name)
{
    wchar_t path[BY_WIDE_MAX];
    const DWORD length = GetModuleFileNameW(own_module(), path, BY_WIDE_MAX);
    wchar_t *last = length && length < BY_WIDE_MAX ? wcsrchr(path, L'\\') : NULL;
    if (!last || (size_t)(last - path) + wcslen(name) + 2 > BY_WIDE_MAX)
        return NULL;
    wcscpy(last + 1, name);
    return GetFileAttributesW(path) == INVALID_FILE_ATTRIBUTES ? NULL : load_full(path);
}

/* \\?\ is no form that every loader takes. */
static HMODULE load_path(const wchar_t *wide)
{
    const bool is_short = wcslen(wide) < MAX_PATH && wcsncmp(wide, L"\\\\?\\UNC", 7) != 0;
    return load_full(is_short ? wide + 4 : wide);
}

static HMODULE find_loaded(const wchar_t *name)
{
    HMODULE module = NULL;
    return GetModuleHandleExW(0, name, &module) ? module : NULL;
}

void *dlopen(const char *path, int flags)
{
    wchar_t wide[BY_WIDE_MAX];
    HMODULE module, pinned;
    const bool is_path = has_folder(path);
    if (is_path ? !by_win_wide(wide, AT_FDCWD, path)
                : !MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, BY_WIDE_MAX)) {
        note_load_problem(ERROR_INVALID_NAME);
        return NULL;
    }
    if (flags & RTLD_NOLOAD)
        return find_loaded(is_path && wcslen(wide) < MAX_PATH ? wide + 4 : wide);
    module = is_path ? load_path(wide) : load_beside_us(wide);
    if (!module && !is_path)
        module = LoadLibraryExW(wide, NULL, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
    if (!module)
        note_load_problem(GetLastError());
    else if (flags & RTLD_NODELETE)
        GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_PIN,
                           (const wchar_t *)(void *)module, &pinned);
    return module;
}

void *dlsym(void *handle, const char *name)
{
    FARPROC found = GetProcAddress(handle, name);
    void *symbol;
    memcpy(&symbol, &found, sizeof symbol);
    return symbol;
}

int dlclose(void *handle)
{
    return FreeLibrary(handle) ? 0 : -1;
}

/* --- Where they are --- */

static _Thread_local char last_path[PATH_MAX];
static _Thread_local struct link_map last_map = {.l_name = NULL};

/* The answer holds until the thread asks again. */
int dlinfo(void *handle, int what, void *out)
{
    wchar_t wide[BY_WIDE_MAX];
    const DWORD length =
        GetModuleFileNameW(handle ? handle : (void *)own_module(), wide, BY_WIDE_MAX);
    (void)what;
    if (!length || length >= BY_WIDE_MAX || !by_win_narrow(last_path, sizeof last_path, wide))
        return -1;
    last_map.l_name = last_path;
    *(struct link_map **)out = &last_map;
    return 0;
}
