/* Takes paths apart and joins them; what differs between systems is in base/separator.c. */
#include "base/file.h"
#include "base/separator.h"

#include <stdio.h>
#include <string.h>

const char *by_basename(const char *path)
{
    const char *base = path + by_drive_length(path);
    for (const char *at = base; *at; at++)
        if (by_is_separator(*at))
            base = at + 1;
    return base;
}

bool by_folder_of(const char *path, char *buf, size_t size)
{
    const size_t root = by_drive_length(path);
    size_t length = (size_t)(by_basename(path) - path);
    const char *folder = length ? path : ".";
    if (!length)
        length = 1;
    while (length > root + 1 && by_is_separator(folder[length - 1]))
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
    const bool joined =
        length && (by_is_separator(folder[length - 1]) || by_drive_length(folder) == length);
    const int wanted = strcmp(folder, ".") == 0
                           ? snprintf(buf, size, "%s", name)
                           : snprintf(buf, size, "%s%s%s", folder, joined ? "" : "/", name);
    return wanted >= 0 && (size_t)wanted < size;
}
