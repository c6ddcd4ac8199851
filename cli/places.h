/* Where a command writes to. */
#ifndef BY_PLACES_H
#define BY_PLACES_H

#include "base/err.h"

/* Refuses a file that exists; for commands that have --force. what: "OUT", "--out". */
int by_place_check_free(const char *what, const char *path, struct baryon_error *err);

#endif
