/*
 * How much memory and disk space there is: work that cannot fit is refused before it begins.
 */
#ifndef BY_CAPACITY_H
#define BY_CAPACITY_H

#include "base/err.h"

#define BY_SIZE_TEXT 32

/* "17.0 GiB" */
const char *by_size_text(uint64_t bytes, char text[BY_SIZE_TEXT]);

/* What this process can have at most: memory of the machine that nobody uses, of its control group,
 * and what ulimit -v allows. */
uint64_t by_memory_there(void);

/* Refuses when the folder's disk has clearly less space than that for `what`; an estimate that is
 * a third too high refuses nothing. */
int by_check_disk(const char *folder, uint64_t bytes, const char *what, struct baryon_error *err);

#endif
