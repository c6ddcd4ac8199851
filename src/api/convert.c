/* The public interface: conversions by a file of passes. */
#include "convert/convert.h"
#include "api/api.h"
#include "onnx/check.h"

#include <string.h>

static int convert_checked_model(struct by_arena *arena, struct baryon_model *model,
                                 const char *passes, const struct by_session_options *session,
                                 struct baryon_error *err)
{
    struct by_convert steps = {.arena = arena};
    const struct by_check_options any = {.custom_ops = true};
    if (by_convert_read(&steps, passes, session->log, err) < 0 || by_model_settle(model, err) < 0)
        return -1;
    int status = by_model_check(model, &any, NULL, NULL, err);
    if (status == 0)
        status = by_convert_run(&steps, model, session, session->log, NULL, err);
    return by_model_judge_run(model, model->path, status, err);
}

int baryon_convert(struct baryon_model *model, const char *passes,
                   const struct baryon_convert_options *theirs, struct baryon_error *err)
{
    if (BY_NEED(model, err) || BY_NEED(passes, err))
        return -1;
    struct baryon_convert_options options = {.size = sizeof options};
    struct by_api_log log;
    struct by_arena arena;
    struct baryon_error own;
    err = err ? err : &own;
    if (by_api_options(&options, sizeof options, theirs, err) < 0)
        return -1;
    by_api_log_open(&log, options.log, options.log_context, BY_LOG_NOTICE);
    const struct by_session_options session = {
        .ort_path = options.onnxruntime, .threads = 1, .log = &log.log};
    by_arena_init(&arena, 0);
    const int status = convert_checked_model(&arena, model, passes, &session, err);
    by_arena_release(&arena);
    return status;
}

static int give_place(const char *path, char *to, size_t size, struct baryon_error *err)
{
    path = path ? path : "";
    if (strlen(path) >= size)
        return by_fail(err, BARYON_ERR_USAGE, "a path of %zu bytes, must be at most %zu",
                       strlen(path), size);
    memcpy(to, path, strlen(path) + 1);
    return 0;
}

int baryon_convert_places(const char *passes, char *in, char *out, size_t size,
                          struct baryon_error *err)
{
    if (BY_NEED(passes, err) || BY_NEED(in, err) || BY_NEED(out, err))
        return -1;
    struct by_arena arena;
    by_arena_init(&arena, 0);
    struct by_convert steps = {.arena = &arena};
    int status = by_convert_read(&steps, passes, NULL, err);
    if (status == 0)
        status = give_place(steps.in, in, size, err);
    if (status == 0)
        status = give_place(steps.out, out, size, err);
    by_arena_release(&arena);
    return status;
}
