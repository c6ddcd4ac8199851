/* Runs a session once: passes the inputs, reads the outputs, handles cancellation. */
#include "engine/session_internal.h"
#include "engine/spare.h"

#include <string.h>

struct by_run {
    const OrtApi *api;
    struct by_arena arena;
    struct by_array *arrays;
    OrtValue **values;
    size_t count;
};

/* The inputs of a run, for as long as it takes. */
struct feed {
    struct by_arena scratch;
    const char **names;
    OrtValue **values;
    size_t count;
};

static int fill_feed(struct feed *feed, const struct by_session *session,
                     const struct by_array *inputs, size_t count, struct baryon_error *err)
{
    feed->names = by_arena_alloc(&feed->scratch, count + 1, sizeof *feed->names, err);
    feed->values =
        feed->names ? by_arena_alloc(&feed->scratch, count + 1, sizeof(OrtValue *), err) : NULL;
    if (!feed->values)
        return -1;
    for (size_t i = 0; i < count; i++) {
        feed->names[i] = inputs[i].name;
        feed->count = i + 1;
        if (by_value_wrap(session, &inputs[i], &feed->scratch, &feed->values[i], err))
            return -1;
    }
    return 0;
}

static void release_feed(struct feed *feed, const struct by_session *session)
{
    for (size_t i = 0; feed->values && i < feed->count; i++)
        if (feed->values[i])
            session->ort->api->ReleaseValue(feed->values[i]);
    by_arena_release(&feed->scratch);
}

static struct by_run *new_run(const struct by_session *session, const char *const *outputs,
                              size_t count, struct baryon_error *err)
{
    struct by_run *run = by_alloc_zero(1, sizeof *run, err);
    if (!run)
        return NULL;
    run->api = session->ort->api;
    by_arena_init(&run->arena, 0);
    run->arrays = by_arena_alloc(&run->arena, count + 1, sizeof *run->arrays, err);
    run->values =
        run->arrays ? by_arena_alloc(&run->arena, count + 1, sizeof(OrtValue *), err) : NULL;
    if (!run->values) {
        by_run_free(run);
        return NULL;
    }
    for (run->count = 0; run->count < count; run->count++) {
        const char *name = outputs ? outputs[run->count] : session->outputs.at[run->count].name;
        const struct by_port *port = by_run_find_output(session, name, err);
        if (!port) {
            by_run_free(run);
            return NULL;
        }
        run->arrays[run->count].name = port->name;
    }
    return run;
}

static int refuse_cancelled(struct baryon_error *err)
{
    return by_fail(err, BARYON_ERR_CANCELLED, "the run was cancelled");
}

static int start_run(struct by_session *session, const struct feed *feed, struct by_run *run,
                     struct baryon_error *err)
{
    const char **names = by_arena_alloc(&run->arena, run->count + 1, sizeof *names, err);
    if (!names)
        return -1;
    for (size_t i = 0; i < run->count; i++)
        names[i] = run->arrays[i].name;
    if (atomic_load(&session->cancelled))
        return refuse_cancelled(err);
    OrtStatus *status = session->ort->api->Run(session->handle, session->run_options, feed->names,
                                               (const OrtValue *const *)feed->values, feed->count,
                                               names, run->count, run->values);
    if (!by_ort_status(session->ort, status, "run the model", err))
        return 0;
    return atomic_load(&session->cancelled) ? refuse_cancelled(err) : -1;
}

static int read_outputs(const struct by_session *session, struct by_run *run,
                        struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < run->count; i++)
        if (by_value_unwrap(session->ort, run->values[i], &run->arena, &run->arrays[i], err))
            return by_err_in(err, "output %s", by_quote(quoted, run->arrays[i].name));
    return 0;
}

int by_session_run(struct by_session *session, const struct by_array *inputs, size_t input_count,
                   const char *const *outputs, size_t output_count, struct by_run **out,
                   struct baryon_error *err)
{
    struct feed feed = {.count = 0};
    *out = NULL;
    if (by_run_check_inputs(session, inputs, input_count, err) || by_spare_take(err))
        return -1;
    struct by_run *run =
        new_run(session, outputs, outputs ? output_count : session->outputs.count, err);
    if (!run)
        return -1;
    by_arena_init(&feed.scratch, 0);
    int failed = fill_feed(&feed, session, inputs, input_count, err) ||
                 start_run(session, &feed, run, err) || read_outputs(session, run, err);
    release_feed(&feed, session);
    if (failed) {
        by_run_free(run);
        return -1;
    }
    *out = run;
    return 0;
}

const struct by_array *by_run_outputs(const struct by_run *run, size_t *count)
{
    *count = run->count;
    return run->arrays;
}

void by_run_free(struct by_run *run)
{
    if (!run)
        return;
    for (size_t i = 0; run->values && i < run->count; i++)
        if (run->values[i])
            run->api->ReleaseValue(run->values[i]);
    by_arena_release(&run->arena);
    by_free(run);
}

void by_session_cancel(struct by_session *session)
{
    atomic_store(&session->cancelled, true);
    OrtStatus *status = session->ort->api->RunOptionsSetTerminate(session->run_options);
    if (status)
        session->ort->api->ReleaseStatus(status);
}

void by_session_resume(struct by_session *session)
{
    OrtStatus *status = session->ort->api->RunOptionsUnsetTerminate(session->run_options);
    if (status)
        session->ort->api->ReleaseStatus(status);
    atomic_store(&session->cancelled, false);
}
