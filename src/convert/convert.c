/* Runs the steps of a conversion of a model, one after the other. */
#include "convert/convert.h"

#include "ir/tensor.h"
#include "quant/place.h"

#include <string.h>

/* --- Steps --- */

struct by_convert_step *by_convert_add(struct by_convert *convert, const char *name,
                                       struct baryon_error *err)
{
    size_t count;
    by_passes(&count);
    if (by_list_reserve(convert->arena, &convert->steps, 1, sizeof *convert->steps.at, err))
        return NULL;
    struct by_convert_step *step = &convert->steps.at[convert->steps.count];
    *step = (struct by_convert_step){.name = name,
                                     .equalize = {.mode = BY_CLE_KEEP, .threshold = 0.5},
                                     .bound = {.least = 1e-7, .ratio = 1e6}};
    if (!(step->on = by_arena_alloc(convert->arena, count, sizeof *step->on, err)))
        return NULL;
    convert->steps.count++;
    return step;
}

int by_convert_switch_on(struct by_convert_step *step, const char *name, struct baryon_error *err)
{
    return by_pass_switch(step->on, name, true, err);
}

int by_convert_to(struct by_convert_step *step, int64_t elem, struct baryon_error *err)
{
    static const struct {
        int64_t elem;
        const char *passes[3];
    } rows[] = {
        {BY_ELEM_FLOAT, {"fp16-to-fp32", "bf16-to-fp32"}},
        {BY_ELEM_FLOAT16, {"lift-constants", "fp32-to-fp16"}},
        {BY_ELEM_BFLOAT16, {"lift-constants", "fp32-to-bf16"}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; rows[i].elem == elem && k < 3 && rows[i].passes[k]; k++)
            if (by_convert_switch_on(step, rows[i].passes[k], err))
                return -1;
    return 0;
}

/* --- Nodes that stay, by the names that the user's model has --- */

struct stay {
    bool excluded;
    const char *why;
};

static void put_back(struct by_origins *origins, const struct stay *stays)
{
    size_t count;
    struct by_user_node *users = by_origins_user(origins, &count);
    for (size_t i = 0; i < count; i++) {
        users[i].excluded = stays && stays[i].excluded;
        users[i].why = stays ? stays[i].why : NULL;
    }
}

static bool has_exclusions(const struct by_convert_step *step)
{
    return step->exclude.count || step->exclude_op_types.count || step->exclude_spans.count ||
           step->nodes.count;
}

static int resolve(const struct by_convert_step *step, struct baryon_model *model,
                   struct by_origins *origins, struct by_arena *arena, const struct by_log *log,
                   struct stay **stays, struct baryon_error *err)
{
    const struct by_recipe recipe = {
        .nodes = step->nodes,
        .exclude = step->exclude,
        .exclude_op_types = step->exclude_op_types,
        .exclude_spans = {step->exclude_spans.at, step->exclude_spans.count, 0},
    };
    size_t count;
    *stays = NULL;
    if (!has_exclusions(step))
        return 0;
    put_back(origins, NULL);
    if (by_exclude_resolve(&recipe, model, origins, log, err))
        return -1;
    const struct by_user_node *users = by_origins_user(origins, &count);
    if (!(*stays = by_arena_alloc(arena, count + 1, sizeof **stays, err)))
        return -1;
    for (size_t i = 0; i < count; i++)
        (*stays)[i] = (struct stay){users[i].excluded, users[i].why};
    return 0;
}

/* --- All of it --- */

struct running {
    const struct by_convert *convert;
    struct by_pass_context context;
    struct by_retype_report *report;
    struct by_arena arena;
    struct stay **stays; /* one list a step */
};

static int resolve_all(struct running *running, struct baryon_error *err)
{
    const struct by_convert *convert = running->convert;
    const struct by_pass_context *context = &running->context;
    for (size_t i = 0; i < convert->steps.count; i++)
        if (resolve(&convert->steps.at[i], context->model, context->origins, &running->arena,
                    context->log, &running->stays[i], err))
            return convert->path ? by_err_file(err, convert->path) : -1;
    return 0;
}

static int do_work(const struct by_convert_step *step, struct by_pass_context *context,
                   struct baryon_error *err)
{
    if (step->work(step, context, err))
        return -1;
    context->total += context->changes;
    by_log(context->log, BY_LOG_INFO, "%s: %zu changes", step->name, context->changes);
    return 0;
}

static int run_step(struct running *running, size_t index, struct baryon_error *err)
{
    const struct by_convert_step *step = &running->convert->steps.at[index];
    struct by_retype_options retype = step->retype;
    struct by_pass_context context = step->with;
    context.model = running->context.model;
    context.origins = running->context.origins;
    context.log = running->context.log;
    context.session = running->context.session;
    context.retype = &retype;
    retype.report = running->report;
    retype.keep_excluded = has_exclusions(step);
    put_back(context.origins, running->stays[index]);
    const int failed =
        step->work ? do_work(step, &context, err) : by_passes_run(&context, step->on, NULL, err);
    running->context.total += context.total;
    return failed;
}

static int run_all(struct running *running, struct baryon_error *err)
{
    const struct by_convert *convert = running->convert;
    if (by_origins_open(&running->context.origins, running->context.model, err))
        return -1;
    running->stays =
        by_arena_alloc(&running->arena, convert->steps.count + 1, sizeof *running->stays, err);
    if (!running->stays || resolve_all(running, err))
        return -1;
    for (size_t i = 0; i < convert->steps.count; i++)
        if (run_step(running, i, err))
            return -1;
    return 0;
}

int by_convert_run(const struct by_convert *convert, struct baryon_model *model,
                   const struct by_session_options *session, const struct by_log *log,
                   struct by_retype_report *report, struct baryon_error *err)
{
    struct running running = {
        .convert = convert,
        .context = {.model = model, .log = log, .session = session},
        .report = report,
    };
    by_arena_init(&running.arena, 0);
    const int failed = run_all(&running, err);
    if (!failed && convert->steps.count && !running.context.total)
        by_log(log, BY_LOG_NOTICE, "the model is not changed: no pass found anything to change");
    by_origins_close(running.context.origins);
    by_arena_release(&running.arena);
    return failed;
}
