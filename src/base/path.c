/* Joins a folder and a name to a path. */
#include "base/file.h"

#include <stdio.h>
#include <string.h>

bool by_join_path(char *buf, size_t size, const char *folder, const char *name)
{
    size_t length = strlen(folder);
    const char *slash = length && folder[length - 1] == '/' ? "" : "/";
    int wanted = strcmp(folder, ".") == 0 ? snprintf(buf, size, "%s", name)
                                          : snprintf(buf, size, "%s%s%s", folder, slash, name);
    return wanted >= 0 && (size_t)wanted < size;
}
