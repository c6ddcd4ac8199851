/*
 * What separates the folders of a path, and what may stand before the first: by system.
 */
#ifndef BY_SEPARATOR_H
#define BY_SEPARATOR_H

#include <stdbool.h>
#include <stddef.h>

bool by_is_separator(char letter);
/* Of "C:" at the beginning; 0 where there are no drives. */
size_t by_drive_length(const char *path);

#endif
