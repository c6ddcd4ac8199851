/*
 * What the files of base/ share among themselves.
 */
#ifndef BY_FILE_KIND_H
#define BY_FILE_KIND_H

#include <stdbool.h>
#include <sys/types.h>

/* "a directory", "a FIFO", ...: for messages about files that are not regular. */
const char *by_file_kind(mode_t mode);

/*
 * Opens a path below the folder part by part, following no link: what
 * by_open_contained() does where the kernel has no openat2(). Returns the
 * descriptor, or -1 with errno (ELOOP: a part is a link).
 */
int by_open_walk(int folder, const char *location);

/* Of an open folder; false with errno. */
bool by_path_of_folder(int fd, char *buf, size_t size);

#endif
