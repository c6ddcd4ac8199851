/*
 * For unit tests on Windows: a temporary folder, and its end without a shell. Included first.
 */
#ifndef BY_TEST_WINDOWS_UNITS_H
#define BY_TEST_WINDOWS_UNITS_H

#include "port/windows/posix.h"

static inline char *mkdtemp(char *path)
{
    for (unsigned number; getrandom(&number, sizeof number, 0) > 0;) {
        snprintf(path + strlen(path) - 6, 7, "%06x", number & 0xffffff);
        if (mkdir(path, 0700) == 0)
            return path;
        if (errno != EEXIST)
            break;
    }
    return NULL;
}

/* Of all commands, the one that removes a folder is understood. */
static inline int remove_by_command(const char *command)
{
    char line[300];
    const char *folder = strstr(command, "rm -rf ");
    if (!folder)
        return -1;
    snprintf(line, sizeof line, "rmdir /s /q %s", folder + 7);
    for (char *at = line + 11; *at; at++)
        if (*at == '/')
            *at = '\\';
    return system(line);
}

#define system remove_by_command

#endif
