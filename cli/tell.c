/* Writes log lines and errors to standard error, as text or JSON. */
#include "cli/tell.h"

#include "base/file.h"
#include "base/json.h"
#include "cli/out.h"
#include "cli/term.h"

#include <string.h>
#include <unistd.h>

void by_tell_line(struct by_str *line)
{
    by_str_puts(line, "\n");
    (void)by_write_all(STDERR_FILENO, by_str_text(line), line->size, NULL);
}

static void write_error_json(const struct baryon_error *err, int status)
{
    struct by_str text;
    struct by_json json;
    by_str_init(&text);
    by_json_init(&json, &text, false);
    by_json_open(&json, NULL, '{');
    by_json_open(&json, "error", '{');
    by_json_text(&json, "code", baryon_code_name(err->code));
    by_json_int(&json, "exit", status);
    if (err->file[0])
        by_json_text(&json, "file", err->file);
    if (err->offset >= 0)
        by_json_int(&json, "offset", err->offset);
    if (err->place[0])
        by_json_text(&json, "place", err->place);
    by_json_text(&json, "message", err->message);
    if (err->hint[0])
        by_json_text(&json, "hint", err->hint);
    by_json_close(&json, '}');
    by_json_close(&json, '}');
    by_str_puts(&text, "\n");
    (void)by_write_all(STDOUT_FILENO, by_str_text(&text), text.size, NULL);
    by_str_release(&text);
}

/* Allocates nothing: that may be what failed. */
static void write_error(const struct baryon_error *err)
{
    static const char start[] = "baryon: ";
    char text[sizeof *err + 3 * sizeof err->file], line[4 * sizeof text];
    size_t taken, used = sizeof start - 1;
    memcpy(line, start, used);
    baryon_error_format(err, text, sizeof text);
    used += by_escape(line + used, sizeof line - used - 1, text, strlen(text), &taken);
    line[used++] = '\n';
    (void)by_write_all(STDERR_FILENO, line, used, NULL);
}

int by_tell_error(const struct baryon_error *err, bool json)
{
    int signal = by_term_stopping();
    int status =
        err->code == BARYON_ERR_CANCELLED && signal ? 128 + signal : baryon_code_exit(err->code);
    if (!err->message[0])
        return status;
    write_error(err);
    if (json)
        write_error_json(err, status);
    return status;
}
