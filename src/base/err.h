/*
 * Filling a struct baryon_error.
 *
 * by_fail() sets code and message and returns -1, so that a function can end
 * with `return by_fail(...)`. Callers on the way up add what they know:
 * by_err_file() and by_err_offset() fill in a file and byte when none is known
 * yet, by_err_in() puts a step before the place ("graph" before "node[3]" gives
 * "graph.node[3]").
 * All of them accept err == NULL, return -1 and never allocate.
 *
 * Messages are short and lower case; they name the object, the value and the
 * rule. Text that comes from a file goes through by_quote(); what acts on a terminal
 * is made visible (\xNN) wherever it comes from.
 */
#ifndef BY_ERR_H
#define BY_ERR_H

#include "baryon.h"

int by_fail(struct baryon_error *err, enum baryon_code code, const char *format, ...)
    BARYON_PRINTF(3, 4);
/* The same with ": " and the text of errno at the end. */
int by_fail_errno(struct baryon_error *err, enum baryon_code code, const char *format, ...)
    BARYON_PRINTF(3, 4);
int by_err_hint(struct baryon_error *err, const char *format, ...) BARYON_PRINTF(2, 3);
int by_err_in(struct baryon_error *err, const char *format, ...) BARYON_PRINTF(2, 3);
int by_err_file(struct baryon_error *err, const char *path);
int by_err_offset(struct baryon_error *err, uint64_t offset);
int by_err_nomem(struct baryon_error *err, size_t bytes);
void by_err_clear(struct baryon_error *err);

/* All of these give -1, and compilers and analysers that see only a call see that too. */
static inline int by_failed(void)
{
    return -1;
}
#define by_fail(...)       (by_fail(__VA_ARGS__), by_failed())
#define by_fail_errno(...) (by_fail_errno(__VA_ARGS__), by_failed())
#define by_err_hint(...)   (by_err_hint(__VA_ARGS__), by_failed())
#define by_err_in(...)     (by_err_in(__VA_ARGS__), by_failed())
#define by_err_file(...)   (by_err_file(__VA_ARGS__), by_failed())
#define by_err_offset(...) (by_err_offset(__VA_ARGS__), by_failed())
#define by_err_nomem(...)  (by_err_nomem(__VA_ARGS__), by_failed())

/* Room for a quoted name: at most 128 bytes between the quotes, "..." when more was there. */
#define BY_QUOTE_MAX 136

/* Writes 'text' in quotes, cut when it is long, control and non-UTF-8 bytes as \xNN. Returns out.
 */
const char *by_quote_bytes(char out[BY_QUOTE_MAX], const void *text, size_t size);
const char *by_quote(char out[BY_QUOTE_MAX], const char *text);
/* The same without quotes and without a NUL, as much as there is room for; returns the bytes
 * written. */
size_t by_escape(char *out, size_t room, const void *text, size_t size, size_t *taken);

#endif
