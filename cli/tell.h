/* Declares log lines and errors of the program on standard error. */
#ifndef BY_TELL_H
#define BY_TELL_H

#include "base/err.h"
#include "base/str.h"

/* Adds the end of the line. */
void by_tell_line(struct by_str *line);
/* Says it, with json on standard output too; returns the exit status. An error without a message
 * was told already. */
int by_tell_error(const struct baryon_error *err, bool json);

#endif
