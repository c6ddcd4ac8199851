/* Appending to a text of fixed size: what does not fit is cut, the locale has no say. */
#ifndef BY_TEXT_H
#define BY_TEXT_H

#include "baryon.h"

struct by_text {
    char *buf;
    size_t size, used; /* used: what all would have taken, without NUL */
};

/* buf ends with NUL from here on, unless size is 0. */
void by_text_init(struct by_text *text, char *buf, size_t size);
void by_text_add(struct by_text *text, const char *format, ...) BARYON_PRINTF(2, 3);

#endif
