/* Takes paths apart and joins them, as Windows writes them: with / or \, and with drives. */
#include "base/file.h"

#include <stdio.h>
#include <string.h>

/* Behind "C:". */
static const char *behind_drive(const char *path)
{
    const char letter = (char)(path[0] | 0x20);
    return letter >= 'a' && letter <= 'z' && path[1] == ':' ? path + 2 : path;
}

const char *by_basename(const char *path)
{
    const char *base = behind_drive(path);
    for (const char *at = base; *at; at++)
        if (*at == '/' || *at == '\\')
            base = at + 1;
    return base;
}

bool by_folder_of(const char *path, char *buf, size_t size)
{
    const size_t root = (size_t)(behind_drive(path) - path);
    size_t length = (size_t)(by_basename(path) - path);
    const char *folder = length ? path : ".";
    if (!length)
        length = 1;
    while (length > root + 1 && (folder[length - 1] == '/' || folder[length - 1] == '\\'))
        length--;
    if (length >= size)
        return false;
    memcpy(buf, folder, length);
    buf[length] = '\0';
    return true;
}

bool by_join_path(char *buf, size_t size, const char *folder, const char *name)
{
    const size_t length = strlen(folder);
    const char last = length ? folder[length - 1] : '\0';
    const char *slash = last == '/' || last == '\\' || last == ':' ? "" : "/";
    const int wanted = strcmp(folder, ".") == 0
                           ? snprintf(buf, size, "%s", name)
                           : snprintf(buf, size, "%s%s%s", folder, slash, name);
    return wanted >= 0 && (size_t)wanted < size;
}
