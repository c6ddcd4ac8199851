/* Finds paths: of the library or program that this code is linked into, of an open folder. */
#include "base/file.h"
#include "base/file_kind.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool by_own_folder(char *buf, size_t size)
{
    static const char here;
    char path[PATH_MAX];
    Dl_info info;
    void *map = NULL;
    if (!dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) || !map)
        return false;
    const char *name = ((struct link_map *)map)->l_name;
    if (name && *name)
        return realpath(name, path) && by_folder_of(path, buf, size);
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return false;
    path[length] = '\0';
    return by_folder_of(path, buf, size);
}

bool by_path_of_folder(int fd, char *buf, size_t size)
{
    char link[40];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, buf, size - 1);
    if (length < 0)
        return false;
    buf[length] = '\0';
    return true;
}
