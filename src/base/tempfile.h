/*
 * The temporary file behind an atomic writer: a name that a later run finds
 * again, a lock that says whether its owner lives, and a list of the open ones for
 * signal handlers.
 *
 * A temporary file belongs to who holds its lock (flock), not to a process number:
 * numbers are reused, and containers that share a folder have the same ones.
 */
#ifndef BY_TEMPFILE_H
#define BY_TEMPFILE_H

#include "base/err.h"

#define BY_TEMP_NAME_MAX 40

struct by_temp {
    int fd;                      /* open for writing, locked */
    int folder;                  /* not owned */
    int slot;                    /* in the list, -1: in none */
    char name[BY_TEMP_NAME_MAX]; /* in the folder */
};

/* Makes one for the target `base` in the folder, and removes those left by killed processes. */
int by_temp_open(struct by_temp *temp, int folder, const char *base, struct baryon_error *err);
/* Gives it its final name and forgets it; exclusive: EEXIST when there is such a file. */
int by_temp_rename(struct by_temp *temp, const char *base, bool exclusive);
/* Removes the file if it has not been renamed, and closes. */
void by_temp_close(struct by_temp *temp);

#endif
