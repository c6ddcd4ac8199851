/* Printing a list of api/registry.h; for 'list' and 'check --rules'. */
#ifndef BY_LISTS_H
#define BY_LISTS_H

#include "api/registry.h"
#include "cli/cmd.h"

int by_list_show(struct by_cli *cli, const struct by_registry *registry, struct baryon_error *err);

#endif
