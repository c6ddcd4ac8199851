/* Takes paths apart and joins them. */
#include "base/file.h"

#include <stdio.h>
#include <string.h>

const char *by_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool by_folder_of(const char *path, char *buf, size_t size)
{
    size_t length = (size_t)(by_basename(path) - path);
    const char *folder = length ? path : ".";
    if (!length)
        length = 1;
    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (length >= size)
        return false;
    memcpy(buf, folder, length);
    buf[length] = '\0';
    return true;
}

bool by_join_path(char *buf, size_t size, const char *folder, const char *name)
{
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    int wanted = strcmp(folder, ".") == 0 ? snprintf(buf, size, "%s", name)
                                          : snprintf(buf, size, "%s%s%s", folder, slash, name);
    return wanted >= 0 && (size_t)wanted < size;
}
