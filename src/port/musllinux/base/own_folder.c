/* Finds paths: of the library or program that this code is linked into, of an open folder. */
#include "base/file.h"
#include "base/file_kind.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#define PAGE 4096u

/* The loader calls a program what it was called by, which need not be its path. */
static bool is_program(const void *begin)
{
    return (uintptr_t)getauxval(AT_PHDR) - (uintptr_t)begin < PAGE;
}

bool by_own_folder(char *buf, size_t size)
{
    static const char here;
    char path[PATH_MAX];
    Dl_info info;
    return dladdr(&here, &info) &&
           realpath(is_program(info.dli_fbase) ? "/proc/self/exe" : info.dli_fname, path) &&
           by_folder_of(path, buf, size);
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
