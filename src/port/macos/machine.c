/* Processors, chance, variables, and words for errors. */
#include "port/macos/posix.h"

#include <errno.h>

int sched_getaffinity(int pid, size_t size, cpu_set_t *set)
{
    (void)pid, (void)size, (void)set;
    errno = ENOSYS;
    return -1;
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    (void)flags;
    arc4random_buf(to, size);
    return (ssize_t)size;
}

char *secure_getenv(const char *name)
{
    return issetugid() ? NULL : getenv(name);
}

char *strerror_l(int code, locale_t locale)
{
    static _Thread_local char text[128];
    (void)locale;
    return strerror_r(code, text, sizeof text) && !*text ? "unknown error" : text;
}
