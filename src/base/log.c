/* Formats a log line and passes it to the caller's function. */
#include "base/log.h"

#include "base/format.h"

#include <string.h>

void by_log(const struct by_log *log, enum by_log_level level, const char *format, ...)
{
    if (!log || !log->write || level < log->level)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    by_vformat(text, sizeof text, format, args);
    va_end(args);
    log->write(log->context, level, text);
}

void by_log_lines(const struct by_log *log, enum by_log_level level, const char *text)
{
    while (*text) {
        const size_t size = strcspn(text, "\n");
        by_log(log, level, "%.*s", (int)size, text);
        text += size + (text[size] == '\n');
    }
}
