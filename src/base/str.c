/* Implements a text that grows and remembers its first failure. */
#include "base/str.h"

#include "base/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void by_str_init(struct by_str *str)
{
    *str = (struct by_str){0};
}

void by_str_release(struct by_str *str)
{
    by_free(str->text);
    *str = (struct by_str){0};
}

void by_str_clear(struct by_str *str)
{
    str->size = 0;
    str->failed = false;
    if (str->text)
        str->text[0] = '\0';
}

void by_str_cut(struct by_str *str, size_t size)
{
    if (size >= str->size)
        return;
    str->size = size;
    str->text[size] = '\0';
}

/* Room for `more` bytes and the NUL after them. */
static bool reserve(struct by_str *str, size_t more)
{
    size_t need;
    if (str->failed)
        return false;
    if (by_add_overflow(str->size, more, &need) || by_add_overflow(need, 1, &need)) {
        str->failed = true;
        return false;
    }
    if (need <= str->cap)
        return true;
    size_t cap = str->cap < 32 ? 64 : str->cap > SIZE_MAX / 2 ? need : str->cap * 2;
    if (cap < need)
        cap = need;
    char *grown = by_realloc(str->text, cap, 1, NULL);
    if (!grown) {
        str->failed = true;
        return false;
    }
    str->text = grown;
    str->cap = cap;
    return true;
}

void by_str_reserve(struct by_str *str, size_t more)
{
    (void)reserve(str, more);
}

void by_str_add(struct by_str *str, const void *bytes, size_t size)
{
    if (!reserve(str, size))
        return;
    if (size)
        memcpy(str->text + str->size, bytes, size);
    str->size += size;
    str->text[str->size] = '\0';
}

void by_str_puts(struct by_str *str, const char *text)
{
    by_str_add(str, text, strlen(text));
}

void by_str_vprintf(struct by_str *str, const char *format, va_list args)
{
    char first[256];
    va_list again;
    va_copy(again, args);
    int wanted = by_vformat(first, sizeof first, format, args);
    if (wanted < 0) {
        str->failed = true;
    } else if ((size_t)wanted < sizeof first) {
        by_str_add(str, first, (size_t)wanted);
    } else if (reserve(str, (size_t)wanted)) {
        by_vformat(str->text + str->size, (size_t)wanted + 1, format, again);
        str->size += (size_t)wanted;
    }
    va_end(again);
}

void by_str_printf(struct by_str *str, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    by_str_vprintf(str, format, args);
    va_end(args);
}

const char *by_count_text(uint64_t count, char *buf, size_t size)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t used = 0;
    for (int i = 0; i < length && used + 2 < size; i++) {
        if (i && (length - i) % 3 == 0)
            buf[used++] = ',';
        buf[used++] = digits[i];
    }
    buf[used] = '\0';
    return buf;
}

void by_plural(struct by_str *str, uint64_t count, const char *what)
{
    char text[32];
    by_str_printf(str, "%s %s%s", by_count_text(count, text, sizeof text), what,
                  count == 1 ? "" : "s");
}

const char *by_str_text(const struct by_str *str)
{
    return str->text ? str->text : "";
}

int by_str_error(const struct by_str *str, struct baryon_error *err)
{
    return str->failed ? by_err_nomem(err, str->cap ? str->cap : 1) : 0;
}
