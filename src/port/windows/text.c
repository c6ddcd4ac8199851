/* Functions of texts and locales that the C library of Windows lacks. */
#include "port/windows/posix.h"

#include <ctype.h>

/* A process may have a locale with a decimal comma; ours is set for the thread meanwhile. */
locale_t newlocale(int mask, const char *name, locale_t base)
{
    (void)mask, (void)name, (void)base;
    return 1;
}

/* 1: the C locale is wanted; 2: it was in force before; 3: another was. */
enum { WANT_C = 1, WAS_C, WAS_OTHER };

static _Thread_local char other_locale[100];

locale_t uselocale(locale_t locale)
{
    if (locale == WANT_C) {
        if (!strcmp(localeconv()->decimal_point, "."))
            return WAS_C;
        _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
        snprintf(other_locale, sizeof other_locale, "%s", setlocale(LC_NUMERIC, NULL));
        setlocale(LC_NUMERIC, "C");
        return WAS_OTHER;
    }
    if (locale == WAS_OTHER) {
        setlocale(LC_NUMERIC, other_locale);
        _configthreadlocale(_DISABLE_PER_THREAD_LOCALE);
    }
    return WANT_C;
}

double strtod_l(const char *text, char **end, locale_t locale)
{
    const locale_t before = uselocale(locale);
    const double value = strtod(text, end);
    uselocale(before);
    return value;
}

char *strcasestr(const char *text, const char *part)
{
    const size_t size = strlen(part);
    for (; *text; text++)
        if (!_strnicmp(text, part, size))
            return (char *)(uintptr_t)text;
    return size ? NULL : (char *)(uintptr_t)text;
}

char *strsep(char **rest, const char *between)
{
    char *begin = *rest;
    if (!begin)
        return NULL;
    char *end = begin + strcspn(begin, between);
    *rest = *end ? end + 1 : NULL;
    *end = '\0';
    return begin;
}

void *memmem(const void *bytes, size_t size, const void *part, size_t part_size)
{
    const char *at = bytes, *end = at + size;
    if (!part_size)
        return (void *)(uintptr_t)at;
    while ((size_t)(end - at) >= part_size) {
        const char *next = memchr(at, *(const char *)part, (size_t)(end - at) - part_size + 1);
        if (!next || !memcmp(next, part, part_size))
            return (void *)(uintptr_t)next;
        at = next + 1;
    }
    return NULL;
}
