/*
 * A text that grows. The first failure sticks: append as often as you like and
 * ask by_str_error() once at the end.
 */
#ifndef BY_STR_H
#define BY_STR_H

#include "base/mem.h"

#include <stdarg.h>

struct by_str {
    char *text; /* NULL until the first append, then always ended with NUL */
    size_t size, cap;
    bool failed;
};

void by_str_init(struct by_str *str);
void by_str_release(struct by_str *str);
void by_str_clear(struct by_str *str);
/* Takes away what is after the first `size` bytes. */
void by_str_cut(struct by_str *str, size_t size);
/* Room for so many more bytes at once; else it doubles as it grows. */
void by_str_reserve(struct by_str *str, size_t more);
void by_str_add(struct by_str *str, const void *bytes, size_t size);
void by_str_puts(struct by_str *str, const char *text);
void by_str_printf(struct by_str *str, const char *format, ...) BARYON_PRINTF(2, 3);
void by_str_vprintf(struct by_str *str, const char *format, va_list args);
/* The text, "" when nothing was added. */
const char *by_str_text(const struct by_str *str);
/* "3,504,872"; returns buf. */
const char *by_count_text(uint64_t count, char *buf, size_t size);
/* Appends "1 node", "1,234 nodes". */
void by_plural(struct by_str *str, uint64_t count, const char *what);
/* 0, or -1 with BARYON_ERR_NOMEM when an append failed. */
int by_str_error(const struct by_str *str, struct baryon_error *err);

/* True when the bytes are valid UTF-8 (no overlong forms, no surrogates). */
bool by_utf8_valid(const void *bytes, size_t size);

/* Numbers as text, whole string or nothing, independent of the locale. */
bool by_parse_i64(const char *text, int64_t *value);
bool by_parse_double(const char *text, double *value);
/* Accepts k M G T (powers of 1000) and KiB MiB GiB TiB after the number. */
bool by_parse_bytes(const char *text, uint64_t *value);

/* One of the words of a list, "Conv Gemm". */
bool by_has_word(const char *list, const char *word);

/* Edit distance for "did you mean"; rows longer than 64 count as far away. */
unsigned by_edit_distance(const char *a, const char *b);
/* The nearest of count names, NULL when none is near enough to be meant. */
const char *by_nearest(const char *name, const char *const *names, size_t count);

/* Shell pattern: * ? [..], over the whole name; '/' and '.' are ordinary. */
bool by_glob(const char *pattern, const char *name);

#endif
