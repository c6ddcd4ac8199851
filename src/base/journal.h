/*
 * A file of records that are added one at a time and outlive the process: after a kill, or the loss
 * of power, those that are whole are there again. A record is told from what is left of one by a
 * hash, which takes in its number and the key; what is after the last whole one is cut off.
 */
#ifndef BY_JOURNAL_H
#define BY_JOURNAL_H

#include "base/hash.h"

struct by_journal;

enum by_journal_found {
    BY_JOURNAL_NEW,   /* there was none */
    BY_JOURNAL_SAME,  /* of the same key: its records come first */
    BY_JOURNAL_OTHER, /* of another key, or damaged where the key stands: it begins anew */
    BY_JOURNAL_BUSY,  /* another process has it: *journal is NULL */
};

/* key: what the records are of. A file that is no journal is refused. */
int by_journal_open(struct by_journal **journal, const char *path, struct by_hash128 key,
                    enum by_journal_found *found, struct baryon_error *err);
/* The same in a folder that is made where it is not there. */
int by_journal_open_in(struct by_journal **journal, const char *folder, const char *name,
                       struct by_hash128 key, enum by_journal_found *found,
                       struct baryon_error *err);
/* The next record that was there, good until the next call; *bytes NULL: there are no more. */
int by_journal_next(struct by_journal *journal, const uint8_t **bytes, size_t *size,
                    struct baryon_error *err);
/* What is there further on is of no use. */
void by_journal_stop(struct by_journal *journal);
/* After the last record that was read. */
int by_journal_add(struct by_journal *journal, const void *bytes, size_t size,
                   struct baryon_error *err);
/* The file stays; NULL is fine. */
void by_journal_close(struct by_journal *journal);
/* Closed in any case, but only after its name is gone: no other process begins with the file. */
int by_journal_remove(struct by_journal *journal, struct baryon_error *err);

#endif
