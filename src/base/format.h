/*
 * Formatting that does not depend on the locale of the process: a decimal point
 * stays a point and system messages stay English, wherever the library is loaded.
 */
#ifndef BY_FORMAT_H
#define BY_FORMAT_H

#include "baryon.h"

#include <locale.h>
#include <stdarg.h>

/* The "C" locale; asking for it never allocates, and it needs no freeing. */
locale_t by_c_locale(void);
/* vsnprintf and snprintf in it. */
int by_vformat(char *buf, size_t size, const char *format, va_list args);
int by_format(char *buf, size_t size, const char *format, ...) BARYON_PRINTF(3, 4);

/* Room for any double as text. */
#define BY_DOUBLE_MAX 32

/* The shortest text that reads back as the same double: "0.1", "1e+300", "nan", "-inf". */
const char *by_format_double(char out[BY_DOUBLE_MAX], double value);

#endif
