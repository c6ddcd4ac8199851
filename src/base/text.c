/* Appends formatted text to a buffer of fixed size. */
#include "base/text.h"

#include "base/format.h"

void by_text_init(struct by_text *text, char *buf, size_t size)
{
    *text = (struct by_text){buf, size, 0};
    if (size)
        buf[0] = '\0';
}

void by_text_add(struct by_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const size_t room = text->used < text->size ? text->size - text->used : 0;
    const int wanted = by_vformat(room ? text->buf + text->used : NULL, room, format, args);
    va_end(args);
    text->used += wanted > 0 ? (size_t)wanted : 0;
}
