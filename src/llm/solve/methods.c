/* Lists the methods. */
#include "llm/solve/method.h"

#include "base/str.h"

#include <string.h>

static const struct by_llm_method rows[] = {
    {.name = "rtn", .help = "Each weight to the nearest level, without samples"},
    {.name = "gptq",
     .help = "Columns one after the other, later ones make up for the errors of earlier ones",
     .solves = true,
     .defaults = {.shrink = 0, .damping = 0.01, .start = BY_LLM_START_GPTQ}},
    {.name = "gptaq",
     .help = "GPTQ that aims at the outputs of the float model",
     .solves = true,
     .defaults = {.shrink = 0, .damping = 0.01, .cross = 1, .start = BY_LLM_START_GPTQ}},
    {.name = "qronos",
     .help = "The same, the first column rounded with all others as they are",
     .solves = true,
     .defaults = {.shrink = 0,
                  .damping = 0.01,
                  .cross = 1,
                  .start = BY_LLM_START_GPTQ,
                  .first_alone = true}},
    {.name = "descent",
     .help = "Coordinate descent from the levels of GPTQ, with a fit of the scales",
     .solves = true,
     .defaults = {.shrink = BY_LLM_CHOSEN,
                  .damping = BY_LLM_CHOSEN,
                  .cross = 0.5,
                  .start = BY_LLM_START_GPTQ,
                  .sweeps = 6,
                  .fits = 1}},
    {.name = "importance",
     .help = "Of GGUF: levels and scales of least error, weighted with the mean squares of inputs",
     .solves = true,
     .only_in_blocks = true},
};

enum { COUNT = sizeof rows / sizeof *rows };

const struct by_llm_method *by_llm_methods(size_t *count)
{
    *count = COUNT;
    return rows;
}

const struct by_llm_method *by_llm_method_find(const char *name, struct baryon_error *err)
{
    const char *names[COUNT];
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < COUNT; i++) {
        if (!strcmp(rows[i].name, name))
            return &rows[i];
        names[i] = rows[i].name;
    }
    by_fail(err, BARYON_ERR_USAGE, "%s is no method", by_quote(quoted, name));
    const char *near = by_nearest(name, names, COUNT);
    if (near)
        by_err_hint(err, "did you mean '%s'?", near);
    else
        by_err_hint(err, "'baryon list solvers' names them");
    return NULL;
}
