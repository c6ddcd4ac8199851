/*
 * Arguments that a public function cannot do without.
 *
 * Getters need no error: what they are asked of nothing is nothing. Functions that can fail say
 * which argument is missing.
 */
#ifndef BY_NEED_H
#define BY_NEED_H

#include "base/err.h"

/* -1 for a NULL. */
int by_need(const void *argument, const char *name, struct baryon_error *err);
/* -1 for a NULL with elements. */
int by_need_list(const void *list, size_t count, const char *name, struct baryon_error *err);
/* -1 for a NULL among the elements, or for a NULL with elements. */
int by_need_each(const void *list, size_t count, const char *name, struct baryon_error *err);
/* -1 for a rank that no tensor has, and for dims that are NULL though it is above 0. */
int by_need_dims(const int64_t *dims, int64_t rank, struct baryon_error *err);

#define BY_NEED(argument, err)         by_need(argument, #argument, err)
#define BY_NEED_LIST(list, count, err) by_need_list(list, count, #list, err)
#define BY_NEED_EACH(list, count, err) by_need_each(list, count, #list, err)

#endif
