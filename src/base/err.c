/* Fills and formats struct baryon_error. */
#include "base/err.h"

#undef by_fail
#undef by_fail_errno
#undef by_err_hint
#undef by_err_in
#undef by_err_file
#undef by_err_offset
#undef by_err_nomem

#include "base/format.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct code_row {
    enum baryon_code code;
    const char *name;
    int exit_status;
};

static const struct code_row codes[] = {
    {BARYON_OK, "ok", 0},
    {BARYON_ERR_INTERNAL, "internal", 1},
    {BARYON_ERR_USAGE, "usage", 2},
    {BARYON_ERR_INPUT, "input", 3},
    {BARYON_ERR_CHANGED, "changed", 3},
    {BARYON_ERR_UNSUPPORTED, "unsupported", 4},
    {BARYON_ERR_NOMEM, "memory", 5},
    {BARYON_ERR_IO, "io", 5},
    {BARYON_ERR_DEPENDENCY, "dependency", 6},
    {BARYON_ERR_ENGINE, "engine", 6},
    {BARYON_ERR_GOAL, "goal", 7},
    {BARYON_ERR_CANCELLED, "cancelled", 130},
};

static const struct code_row *find_code(enum baryon_code code)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i].code == code)
            return &codes[i];
    return &codes[1];
}

const char *baryon_code_name(enum baryon_code code)
{
    return find_code(code)->name;
}

int baryon_code_exit(enum baryon_code code)
{
    return find_code(code)->exit_status;
}

int baryon_error_format(const struct baryon_error *err, char *buf, size_t size)
{
    char offset[32] = "", file[4 * sizeof err->file];
    size_t taken;
    if (!buf)
        size = 0;
    if (!err)
        return snprintf(buf, size, "%s", "");
    file[by_escape(file, sizeof file - 1, err->file, strlen(err->file), &taken)] = '\0';
    if (err->file[0] && err->offset >= 0)
        snprintf(offset, sizeof offset, "@%" PRId64, err->offset);
    return snprintf(buf, size, "%s%s%s%s%s%s%s%s", file, offset, file[0] ? ": " : "", err->place,
                    err->place[0] ? ": " : "", err->message, err->hint[0] ? "; " : "", err->hint);
}

void by_err_clear(struct baryon_error *err)
{
    if (!err)
        return;
    err->code = BARYON_OK;
    err->offset = -1;
    err->file[0] = err->place[0] = err->message[0] = err->hint[0] = '\0';
}

/* A text that was cut ends between two characters. */
static void drop_half_character(char *part)
{
    size_t end = strlen(part), start = end;
    while (start > 0 && end - start < 4 && ((uint8_t)part[start - 1] & 0xc0) == 0x80)
        start--;
    uint32_t code;
    if (start > 0 && !by_utf8_next((uint8_t *)part + start - 1, end - start + 1, &code))
        part[start - 1] = '\0';
}

/* Formats into a part of the error, at most as long as a message. */
static void fill_error_part(char *part, size_t size, const char *format, va_list args)
{
    char raw[sizeof((struct baryon_error *)0)->message];
    size_t taken;
    int wanted = by_vformat(raw, size, format, args);
    if (wanted < 0)
        raw[0] = '\0';
    else if ((size_t)wanted >= size)
        drop_half_character(raw);
    part[by_escape(part, size - 1, raw, strlen(raw), &taken)] = '\0';
}

int by_fail(struct baryon_error *err, enum baryon_code code, const char *format, ...)
{
    if (!err)
        return -1;
    by_err_clear(err);
    err->code = code;
    va_list args;
    va_start(args, format);
    fill_error_part(err->message, sizeof err->message, format, args);
    va_end(args);
    return -1;
}

int by_fail_errno(struct baryon_error *err, enum baryon_code code, const char *format, ...)
{
    int saved = errno;
    if (!err)
        return -1;
    by_err_clear(err);
    err->code = saved == ENOMEM ? BARYON_ERR_NOMEM : code;
    va_list args;
    va_start(args, format);
    fill_error_part(err->message, sizeof err->message, format, args);
    va_end(args);
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s",
             strerror_l(saved, by_c_locale()));
    return -1;
}

int by_err_hint(struct baryon_error *err, const char *format, ...)
{
    if (!err)
        return -1;
    va_list args;
    va_start(args, format);
    fill_error_part(err->hint, sizeof err->hint, format, args);
    va_end(args);
    return -1;
}

#define GAP       " ... "
#define INNER_MAX 120u /* of a place that is too long: the end of it that is kept */

/* Where the kept end of a place begins: after its gap, or with a step. */
static const char *inner_part(const char *place)
{
    const char *gap = strstr(place, GAP);
    if (gap)
        return gap + sizeof GAP - 1;
    size_t length = strlen(place);
    const char *start = place + (length > INNER_MAX ? length - INNER_MAX : 0);
    const char *dot = strchr(start, '.');
    return dot && dot[1] ? dot + 1 : start;
}

/* The length of the longest run of whole steps that fits into `room`. */
static size_t whole_steps(const char *text, size_t length, size_t room)
{
    if (length <= room)
        return length;
    for (size_t i = room; i > 0; i--)
        if (text[i - 1] == '.')
            return i;
    return room;
}

/* The outermost steps, a gap, and the innermost ones. */
static void join_with_gap(char *place, size_t size, const char *step)
{
    char outer[2 * sizeof((struct baryon_error *)0)->place];
    const char *gap = strstr(place, GAP), *inner = inner_part(place);
    const size_t kept = strlen(inner), length = strlen(step);
    const size_t middle = (size_t)((gap ? gap : inner) - place);
    memcpy(outer, step, length);
    memcpy(outer + length, place, middle);
    const size_t room = size - 1 - kept - (sizeof GAP - 1);
    const size_t used = whole_steps(outer, length + middle, room);
    memmove(place + used + sizeof GAP - 1, inner, kept + 1);
    memcpy(place + used, GAP, sizeof GAP - 1);
    memcpy(place, outer, used);
}

int by_err_in(struct baryon_error *err, const char *format, ...)
{
    if (!err)
        return -1;
    char step[sizeof err->place];
    va_list args;
    va_start(args, format);
    fill_error_part(step, sizeof step, format, args);
    va_end(args);
    size_t length = strlen(step), kept = strlen(err->place);
    if (length && length + 1 < sizeof step && step[length - 1] != '.' && err->place[0] &&
        err->place[0] != '[')
        step[length++] = '.';
    step[length] = '\0';
    if (length + kept < sizeof err->place) {
        memmove(err->place + length, err->place, kept + 1);
        memcpy(err->place, step, length);
    } else {
        join_with_gap(err->place, sizeof err->place, step);
    }
    return -1;
}

int by_err_file(struct baryon_error *err, const char *path)
{
    if (err && !err->file[0])
        snprintf(err->file, sizeof err->file, "%s", path);
    return -1;
}

int by_err_offset(struct baryon_error *err, uint64_t offset)
{
    if (err && err->offset < 0 && offset <= INT64_MAX)
        err->offset = (int64_t)offset;
    return -1;
}

int by_err_nomem(struct baryon_error *err, size_t bytes)
{
    return by_fail(err, BARYON_ERR_NOMEM, "out of memory (%zu bytes requested)", bytes);
}
