/* Printing a list of registry.h; for 'list' and 'check --rules'. */
#ifndef BY_LISTS_H
#define BY_LISTS_H

#include "cli/cmd.h"
#include "registry.h"

int by_list_show(struct by_cli *cli, const struct by_registry *registry, struct baryon_error *err);

#endif
