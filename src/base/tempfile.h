/*
 * The temporary file after an atomic writer: a name that a later run finds
 * again, a lock that says whether its owner lives, and a list of the open ones for
 * signal handlers.
 *
 * A temporary file belongs to who holds its lock (flock), not to a process number:
 * numbers are reused, and containers that share a folder have the same ones.
 */
#ifndef BY_TEMPFILE_H
#define BY_TEMPFILE_H

#include "base/err.h"

#include <signal.h>

#define BY_TEMP_NAME_MAX 40

/* So many writers may have the same target at the same time; only one of them wins. */
#define BY_TEMP_NAMES 8
/* The numbers after theirs: a lock on putting things in place, and a record of what goes where. */
#define BY_TEMP_LOCK   BY_TEMP_NAMES
#define BY_TEMP_RECORD (BY_TEMP_LOCK + 1)

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

/* One of several files that get their names together. */
struct by_temp_part {
    struct by_temp *temp;
    const char *base;
    char aside[BY_TEMP_NAME_MAX]; /* name of the old file until all is done */
    bool is_aside;                /* the old file has that name now */
};

/*
 * Renames all of them, or none. The last one names the others: while they change,
 * there is no file under its name, so that nobody reads an old one with new data or
 * the other way round, and a kill leaves none that does not fit. keep_last says that
 * the old one names none of them; then it is replaced in one step. Signals wait.
 * A record beside the last file says what goes where until all is done, so that the next
 * run restores what a killed one set aside. Returns count, or the number of the one that
 * failed, with errno.
 */
size_t by_temp_rename_all(struct by_temp_part *parts, size_t count, bool exclusive, bool keep_last);

/*
 * Finishes what a killed process began with `base` as the last file of a group: removes the old
 * files when all new ones are in place, else restores the old ones. Does nothing when there is no
 * record, or when its process lives.
 */
void by_temp_recover(int folder, const char *base);

/* --- Records of groups (temprecord.c); by who holds the group's lock --- */

/* The temporary name of an old file `base` of the group that ends with `last`. */
void by_temp_aside_name(char name[BY_TEMP_NAME_MAX], const char *base, const char *last);
/* Written and synced before the first file moves. 0, or -1 with errno. */
int by_temp_record_write(const struct by_temp_part *parts, size_t count);
void by_temp_record_remove(int folder, const char *base);
/* What by_temp_recover() does, with the lock held. 0, or -1 with errno: the record stays. */
int by_temp_record_settle(int folder, const char *base);

/* --- For tempgroup.c and temprecord.c --- */

/* Signals wait from hold to release: a handler that ends the process
 * must not come between two steps that belong together. */
void by_temp_hold_signals(sigset_t *before);
void by_temp_release_signals(const sigset_t *before);
void by_temp_name(char name[BY_TEMP_NAME_MAX], const char *base, int number);
/* True when the name still leads to the descriptor's file. */
bool by_temp_is_named(int folder, const char *name, int fd);
/* Renames within a folder and replaces nothing: EEXIST. */
int by_temp_move(int folder, const char *from, const char *to);

#endif
