/* Lists the targets of a search. To add one: a file with its rows, the row here. */
#include "search/ladders.h"

#include "base/str.h"

#include <string.h>

static const struct by_ladder *const ladders[] = {
    &by_ladder_xint8,
    &by_ladder_vitis_ai,
    &by_ladder_cpu,
    &by_ladder_any,
};

#define COUNT (sizeof ladders / sizeof *ladders)

const struct by_ladder *const *by_ladders(size_t *count)
{
    *count = COUNT;
    return ladders;
}

const struct by_ladder *by_ladder_find(const char *name, struct baryon_error *err)
{
    const char *names[COUNT];
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(ladders[i]->name, name))
            return ladders[i];
        names[i] = ladders[i]->name;
    }
    by_fail(err, BARYON_ERR_USAGE, "unknown target %s", by_quote(quoted, name));
    const char *near = by_nearest(name, names, COUNT);
    if (near)
        by_err_hint(err, "did you mean '%s'?", near);
    else
        by_err_hint(err, "'baryon list ladders' shows them");
    return NULL;
}
