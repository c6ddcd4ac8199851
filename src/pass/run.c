/* Running passes one after the other. */
#include "onnx/save.h"
#include "pass/origins.h"

#include <stdio.h>

struct running {
    struct by_pass_context *context;
    const char *folder; /* to dump to; NULL: none */
    size_t ran;
    bool stale;     /* types and shapes are those of a former graph */
    bool simulated; /* a pass that simulates ran */
};

static int infer(struct running *running, struct baryon_error *err)
{
    if (running->stale && by_model_infer(running->context->model, NULL, err))
        return -1;
    running->stale = false;
    return 0;
}

/* ONNX Runtime forgives them where it finds the right ones by itself, which it cannot after
 * operators that a pass or a quantization adds. */
static int drop_wrong_infos(struct running *running, struct baryon_error *err)
{
    if (by_model_settle(running->context->model, err) || infer(running, err))
        return -1;
    by_model_drop_wrong_infos(running->context->model);
    return by_model_settle(running->context->model, err);
}

static int dump(const struct running *running, const struct by_pass *pass, struct baryon_error *err)
{
    char name[128], path[4096];
    const struct by_save_options options = {.writer_flags = BY_WRITER_NO_SYNC};
    snprintf(name, sizeof name, "%02zu-%s.onnx", running->ran, pass->name);
    if (!by_join_path(path, sizeof path, running->folder, name))
        return by_fail(err, BARYON_ERR_USAGE, "the path of the folder for dumps is too long");
    return by_model_save(running->context->model, path, &options, err);
}

static int edit(struct running *running, const struct by_pass *pass, struct baryon_error *err)
{
    struct by_pass_context *context = running->context;
    context->changes = 0;
    if (context->origins && by_origins_before(context->origins, err))
        return -1;
    if (pass->run(context, err) ||
        (context->changes && by_graph_prune(context->model->graph, NULL, err)))
        return by_err_in(err, "pass %s", pass->name);
    if (context->changes && context->origins)
        return by_origins_after(context->origins, err);
    return by_model_settle(context->model, err);
}

static int tell_exact(struct running *running, struct baryon_error *err)
{
    const struct by_pass_context *context = running->context;
    if (running->simulated)
        return 0;
    running->simulated = true;
    return context->exact ? context->exact(context->exact_context, err) : 0;
}

static int run_one(struct running *running, const struct by_pass *pass, struct baryon_error *err)
{
    struct by_pass_context *context = running->context;
    running->ran++;
    if ((pass->simulates && tell_exact(running, err)) || (pass->shapes && infer(running, err)) ||
        edit(running, pass, err))
        return -1;
    context->total += context->changes;
    if (!context->changes)
        return 0;
    running->stale = true;
    by_log(context->log, BY_LOG_INFO, "pass %s: %zu change%s", pass->name, context->changes,
           context->changes == 1 ? "" : "s");
    return running->folder ? dump(running, pass, err) : 0;
}

#define ROUNDS_MAX 8

/* Rows [first, end) once; how many changes they made is added up. */
static int run_rows(struct running *running, const bool *on, size_t first, size_t end,
                    size_t *changes, struct baryon_error *err)
{
    size_t count;
    const struct by_pass *const *passes = by_passes(&count);
    for (size_t i = first; i < end; i++) {
        if (!on[i])
            continue;
        if (run_one(running, passes[i], err))
            return -1;
        *changes += running->context->changes;
    }
    return 0;
}

static int run_all(struct running *running, const bool *on, struct baryon_error *err)
{
    size_t count, end;
    const struct by_pass *const *passes = by_passes(&count);
    for (size_t first = 0; first < count; first = end) {
        size_t changes = 1;
        for (end = first + 1; passes[first]->again && end < count && passes[end]->again; end++)
            ;
        for (int round = 0; changes && round < (passes[first]->again ? ROUNDS_MAX : 1); round++) {
            changes = 0;
            if (run_rows(running, on, first, end, &changes, err))
                return -1;
        }
    }
    return 0;
}

int by_passes_run(struct by_pass_context *context, const bool *on, const char *dump_folder,
                  struct baryon_error *err)
{
    struct running running = {.context = context, .folder = dump_folder, .stale = true};
    if (by_model_link(context->model, err) || drop_wrong_infos(&running, err) ||
        (dump_folder && by_make_folders(dump_folder, err)))
        return -1;
    return run_all(&running, on, err) || infer(&running, err) ? -1 : 0;
}
