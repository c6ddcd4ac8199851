/* Formats text and numbers in the C locale, whatever the process has set. */
#include "base/format.h"

#include <stdio.h>
#include <stdlib.h>

locale_t by_c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

int by_vformat(char *buf, size_t size, const char *format, va_list args)
{
    locale_t ours = by_c_locale();
    locale_t theirs = ours ? uselocale(ours) : (locale_t)0;
    int wanted = vsnprintf(buf, size, format, args);
    if (theirs)
        uselocale(theirs);
    return wanted;
}

int by_format(char *buf, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int wanted = by_vformat(buf, size, format, args);
    va_end(args);
    return wanted;
}

const char *by_format_double(char out[BY_DOUBLE_MAX], double value)
{
    for (int digits = 15; digits <= 17; digits++) {
        by_format(out, BY_DOUBLE_MAX, "%.*g", digits, value);
        if (strtod_l(out, NULL, by_c_locale()) == value)
            break;
    }
    return out;
}
