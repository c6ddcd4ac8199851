/*
 * The library with Quark's operators (src/ops), for models that import their domains.
 *
 * $BARYON_OPS names it; else it is looked for beside the library or program that this code is in,
 * in ../lib beside that, and where `make install` puts it.
 */
#ifndef BY_OPS_FIND_H
#define BY_OPS_FIND_H

#include "ir/model.h"

bool by_ops_wanted(const struct baryon_model *model);
/* False where there is none. */
bool by_ops_find(char *path, size_t size);
/* For err: where it was looked for. */
int by_ops_missing(struct baryon_error *err);

#endif
