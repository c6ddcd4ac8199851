/* Collects standard output, escapes text from files, and writes it all at the end. */
#include "cli/out.h"

#include "base/err.h"
#include "cli/term.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const escapes[] = {
    [BY_PLAIN] = "",        [BY_BOLD] = "\033[1m",   [BY_DIM] = "\033[2m",
    [BY_RED] = "\033[31m",  [BY_GREEN] = "\033[32m", [BY_YELLOW] = "\033[33m",
    [BY_CYAN] = "\033[36m",
};

void by_out_init(struct by_out *out)
{
    by_str_init(&out->text);
    out->color = by_term_color(STDOUT_FILENO);
    out->utf8 = by_term_utf8();
    out->columns = by_term_is_tty(STDOUT_FILENO) ? by_term_columns(STDOUT_FILENO) : 0;
}

void by_out_release(struct by_out *out)
{
    by_str_release(&out->text);
}

void by_out_printf(struct by_out *out, enum by_style style, const char *format, ...)
{
    bool styled = out->color && style != BY_PLAIN;
    if (styled)
        by_str_puts(&out->text, escapes[style]);
    va_list args;
    va_start(args, format);
    by_str_vprintf(&out->text, format, args);
    va_end(args);
    if (styled)
        by_str_puts(&out->text, "\033[0m");
}

int by_write_all(int fd, const char *bytes, size_t size, struct baryon_error *err)
{
    while (size) {
        ssize_t written = write(fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0 && errno == EPIPE)
            by_term_broken_pipe();
        if (written < 0)
            return by_fail_errno(err, BARYON_ERR_IO, "writing the result failed");
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

int by_out_flush(struct by_out *out, struct baryon_error *err)
{
    if (by_str_error(&out->text, err) < 0)
        return -1;
    int status = by_write_all(STDOUT_FILENO, by_str_text(&out->text), out->text.size, err);
    by_str_clear(&out->text);
    return status;
}

void by_clean_bytes(struct by_str *str, const void *text, size_t size)
{
    const char *at = text;
    while (size) {
        char clean[256];
        size_t taken;
        by_str_add(str, clean, by_escape(clean, sizeof clean, at, size, &taken));
        at += taken;
        size -= taken;
    }
}

void by_clean(struct by_str *str, const char *text)
{
    by_clean_bytes(str, text, strlen(text));
}

size_t by_text_width(const char *text, size_t size)
{
    size_t width = 0;
    for (size_t i = 0; i < size; i++)
        width += ((unsigned char)text[i] & 0xc0) != 0x80;
    return width;
}

const char *by_bytes_text(uint64_t bytes, char *buf, size_t size)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    if (bytes < 1024) {
        snprintf(buf, size, "%" PRIu64 " B", bytes);
        return buf;
    }
    double value = (double)bytes / 1024;
    size_t unit = 0;
    while (value >= 1023.95 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024;
        unit++;
    }
    snprintf(buf, size, "%.1f %s", value, units[unit]);
    return buf;
}
