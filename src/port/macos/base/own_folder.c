/* Finds paths: of the library or program that this code is linked into, of an open folder. */
#include "base/file.h"
#include "base/file_kind.h"

#include <dlfcn.h>
#include <limits.h>

bool by_own_folder(char *buf, size_t size)
{
    static const char here;
    char path[PATH_MAX];
    Dl_info info;
    return dladdr(&here, &info) && info.dli_fname && realpath(info.dli_fname, path) &&
           by_folder_of(path, buf, size);
}

bool by_path_of_folder(int fd, char *buf, size_t size)
{
    char path[PATH_MAX];
    const size_t length = fcntl(fd, F_GETPATH, path) == -1 ? size : strlen(path);
    if (length >= size)
        return false;
    memcpy(buf, path, length + 1);
    return true;
}
