/* Lists the targets of a search. To add one: a file with its rows, the row here. */
#include "search/ladders.h"

#include "base/str.h"
#include "ir/model.h"

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

int by_ladder_fit(struct by_ladder *copy, const struct baryon_model *model, struct by_arena *arena,
                  struct baryon_error *err)
{
    struct by_rung *rungs = by_arena_alloc(arena, copy->rung_count + 1, sizeof *rungs, err);
    size_t count = 0;
    if (!rungs)
        return -1;
    for (size_t i = 0; i < copy->rung_count; i++)
        if (!copy->rungs[i].only_with ||
            by_graph_has_operator(model->graph, copy->rungs[i].only_with))
            rungs[count++] = copy->rungs[i];
    copy->rungs = rungs;
    copy->rung_count = count;
    return 0;
}

const struct by_rung *by_ladder_sparing(const struct by_ladder *ladder, const struct by_rung *rung)
{
    for (size_t i = 0; i < ladder->rung_count; i++) {
        const struct by_rung *other = &ladder->rungs[i];
        if (other->only_with && other->when == rung->when && other->choices_of &&
            !strcmp(other->choices_of, rung->name))
            return other;
    }
    return NULL;
}
